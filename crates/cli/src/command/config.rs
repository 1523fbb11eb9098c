//! `foldline config`: settings in effect, problems in a file, JSON Schema.
//!
//! Everything here turns values into text; the caller prints it and picks the exit code.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use comfy_table::{Table, presets};
use foldline_core::settings::Origin;
use serde_json::{Value, json};

use crate::args::Config;
use crate::failure::{Failure, Verdict};
use crate::output::{self, Paint};
use crate::settings::{Settings, SettingsArgs, SettingsError, Surroundings, check_file, load, sections};

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
    }
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
        Value::String(text) if key == "store.path" => {
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
