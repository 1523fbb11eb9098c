//! `foldline config`: settings in effect, problems in a file, JSON Schema, a file to start from.

mod template;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use comfy_table::{Table, presets};
use foldline_core::settings::Origin;
use serde_json::{Value, json};

use crate::args::Config;
use crate::failure::{Failure, Verdict};
use crate::output::{self, Paint};
use crate::settings::{
    LOCAL, Settings, SettingsArgs, SettingsError, Surroundings, check_file, load, sections, user_file,
};

/// Runs the command.
pub fn run(args: &Config) -> Result<Verdict, Failure> {
    let paint = Paint::of_stdout();
    match args {
        Config::Show { tuning, json } => {
            let settings = super::settings(tuning, Vec::new())?;
            output::print(&if *json { show_json(&settings) } else { show(&settings, paint) })?;
            Ok(Verdict::Fine)
        }
        Config::Check { file } => {
            let around = Surroundings::of_process();
            let (subject, problems) = match file {
                Some(path) => (path.display().to_string(), check_file(path, &around)),
                None => {
                    ("settings in effect".to_owned(), load(&SettingsArgs::default(), &around).err().unwrap_or_default())
                }
            };
            output::print(&check(&subject, &problems, paint))?;
            Ok(if problems.is_empty() { Verdict::Fine } else { Verdict::Found })
        }
        Config::Schema => {
            output::print(&schema())?;
            Ok(Verdict::Fine)
        }
        Config::Init { file: Some(path), .. } if path == Path::new("-") => {
            output::print(&template::file(&sections()))?;
            Ok(Verdict::Fine)
        }
        Config::Init { file: Some(path), .. } => init(path),
        Config::Init { file: None, user: false } => init(Path::new(LOCAL)),
        Config::Init { file: None, user: true } => {
            let path = user_file(&Surroundings::of_process());
            init(&path.ok_or_else(|| Failure::input("neither XDG_CONFIG_HOME nor HOME is set; name a file"))?)
        }
    }
}

/// `config init`: writes a file that is not there yet.
fn init(path: &Path) -> Result<Verdict, Failure> {
    let name = path.display();
    let fail = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::input(format!(
            "{name} exists and is left as it is; name another file, or compare with `foldline config init -`"
        )),
        _ => Failure::input(format!("cannot write {name}: {error}")),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut made = std::fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
    made.write_all(template::file(&sections()).as_bytes()).map_err(fail)?;
    output::print(&format!(
        "{name} is written; all keys are comments, so nothing changes yet\n\
         next: remove the # before a key to change it; `foldline config check {name}` finds mistakes\n"
    ))?;
    Ok(Verdict::Fine)
}

/// `config show`: key, value and origin of every setting.
pub fn show(settings: &Settings, paint: Paint) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["key", "value", "origin"]);
    let mut styles = vec![Style::new().bold()];
    for (key, value, origin) in settings.resolved.entries() {
        table.add_row([key.to_owned(), plain(&without_password(key, value)), said(key, value, &origin.to_string())]);
        styles.push(style(origin));
    }
    let mut out = String::new();
    for (line, style) in table.lines().zip(styles) {
        let line = line.trim();
        // One line is one row, because nothing wraps; so a style can be put around the line.
        let _ = match paint {
            Paint::Plain => writeln!(out, "{line}"),
            Paint::Colour => writeln!(out, "{style}{line}{style:#}"),
        };
    }
    out
}

/// `config show --json`.
pub fn show_json(settings: &Settings) -> String {
    let entries: Vec<Value> = settings
        .resolved
        .entries()
        .map(|(key, value, origin)| {
            json!({ "key": key, "value": without_password(key, value), "origin": origin_without_password(key, value, origin) })
        })
        .collect();
    let file = settings.file.as_ref().map(|path| path.display().to_string());
    pretty(&json!({ "file": file, "settings": entries }))
}

/// `config check`: one line per problem, or one that says that there is none.
pub fn check(subject: &str, problems: &[SettingsError], paint: Paint) -> String {
    let (mark, colour) = match problems.len() {
        0 => (format!("{subject}: no problems"), AnsiColor::Green),
        1 => (format!("{subject}: 1 problem"), AnsiColor::Red),
        n => (format!("{subject}: {n} problems"), AnsiColor::Red),
    };
    let mut out = String::new();
    for problem in problems {
        let _ = writeln!(out, "{problem}");
    }
    let style = Style::new().fg_color(Some(colour.into()));
    let _ = match paint {
        Paint::Plain => writeln!(out, "{mark}"),
        Paint::Colour => writeln!(out, "{style}{mark}{style:#}"),
    };
    out
}

/// `config schema`.
pub fn schema() -> String {
    pretty(&sections().json_schema())
}

/// What nobody chose steps back; what somebody chose stands out.
fn style(origin: &Origin) -> Style {
    match origin {
        Origin::Default => Style::new().dimmed(),
        Origin::Preset(_) => Style::new(),
        Origin::File { .. } | Origin::Env(_) | Origin::Flag(_) => Style::new().fg_color(Some(AnsiColor::Cyan.into())),
    }
}

/// The URL of a store holds a password, perhaps; a path is what it is.
fn without_password(key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if matches!(key, "store.path" | "store.originals") => {
            Value::String(foldline_store::shown(Path::new(text)).display().to_string())
        }
        other => other.clone(),
    }
}

/// An origin repeats what was typed.
fn said(key: &str, value: &Value, origin: &str) -> String {
    origin.replace(&plain(value), &plain(&without_password(key, value)))
}

fn origin_without_password(key: &str, value: &Value, origin: &Origin) -> Value {
    match origin {
        Origin::Flag(text) => json!({ "kind": "flag", "text": said(key, value, text) }),
        other => origin_json(other),
    }
}

/// A value as a person would type it.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// An origin for programs.
fn origin_json(origin: &Origin) -> Value {
    match origin {
        Origin::Default => json!({ "kind": "default" }),
        Origin::Preset(preset) => json!({ "kind": "preset", "name": preset.name() }),
        Origin::File { path, line } => json!({ "kind": "file", "path": path, "line": line }),
        Origin::Env(name) => json!({ "kind": "env", "name": name }),
        Origin::Flag(text) => json!({ "kind": "flag", "text": text }),
    }
}

/// Indented JSON with a final line break.
fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
