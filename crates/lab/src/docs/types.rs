//! The reference of the report: its types as tables, read from the sources with their documentation.

use crate::Failure;
use regex::Regex;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(super) fn page(root: &Path) -> Result<String, Failure> {
    let sources = Sources::read(&root.join("crates/core/src"))?;
    let mut out = super::heading("Report");
    out.push_str("`foldline compress --report FILE` writes one JSON object of this shape. Fields with a `?` may be null or left out.\n");
    let mut known: Vec<(usize, String)> = Vec::new();
    let mut waiting = VecDeque::from([sources.find("Report", None).ok_or("there is no report")?]);
    while let Some(item) = waiting.pop_front() {
        if known.contains(&item) {
            continue;
        }
        known.push(item.clone());
        waiting.extend(sources.describe(&item, &mut out)?);
    }
    Ok(out)
}

struct Source {
    path: PathBuf,
    text: String,
}

/// All files of a crate.
struct Sources {
    files: Vec<Source>,
}

/// A type: its file and its name.
type Item = (usize, String);

impl Sources {
    fn read(folder: &Path) -> Result<Sources, Failure> {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    files.push(Source { text: std::fs::read_to_string(&path)?, path });
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Sources { files })
    }

    /// The type of this name as a file knows it: with a path, its own, one that it imports, or the only one there is.
    fn find(&self, name: &str, from: Option<usize>) -> Option<Item> {
        let last = name.rsplit("::").next().unwrap_or(name);
        let defines = |file: usize| self.files.get(file).is_some_and(|source| definition(&source.text, last).is_some());
        let within = |module: &str| {
            let inside = |path: &Path| {
                path.components().any(|part| Path::new(part.as_os_str()).file_stem() == Some(module.as_ref()))
            };
            (0..self.files.len()).find(|&file| self.files.get(file).is_some_and(|it| inside(&it.path)) && defines(file))
        };
        let qualified = name.strip_prefix("crate::").and_then(|path| path.split("::").next()).and_then(within);
        let imported = || {
            let text = &self.files.get(from?)?.text;
            let lines = text
                .lines()
                .filter(|line| line.trim_start().starts_with("use crate::") || line.starts_with("pub use crate::"));
            let line =
                lines.clone().find(|line| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == last))?;
            within(line.split("crate::").nth(1)?.split("::").next()?)
        };
        let file = qualified
            .or_else(|| from.filter(|&file| defines(file)))
            .or_else(imported)
            .or_else(|| (0..self.files.len()).find(|&file| defines(file)))?;
        Some((file, last.to_owned()))
    }

    /// Writes the table of a type; gives the types that it is made of.
    fn describe(&self, (file, name): &Item, out: &mut String) -> Result<Vec<Item>, Failure> {
        let source = self.files.get(*file).ok_or("no such file")?;
        let Definition { kind, body, about, tag } = definition(&source.text, name).ok_or("no such type")?;
        write!(out, "\n## {name}\n\n{about}\n\n")?;
        let mut used = Vec::new();
        match kind {
            Kind::Struct => out.push_str("| field | type | meaning |\n|---|---|---|\n"),
            Kind::Enum => {
                if let Some(tag) = tag {
                    write!(out, "The field `{tag}` names it.\n\n")?;
                }
                out.push_str("| value | meaning |\n|---|---|\n");
            }
        }
        let mut about = String::new();
        let mut fields: Vec<String> = Vec::new();
        let mut variant: Option<String> = None;
        for line in body.lines() {
            let line = line.trim();
            if let Some(doc) = line.strip_prefix("///") {
                about.push_str(doc);
            } else if let Some(rest) = line.strip_prefix("pub ").filter(|_| kind == Kind::Struct) {
                let (field, word) = rest.trim_end_matches(',').split_once(':').unwrap_or((rest, ""));
                used.extend(self.named_in(word, *file));
                writeln!(out, "| `{field}` | {} | {} |", shown(word.trim()), about.trim())?;
                about.clear();
            } else if kind == Kind::Enum && line.starts_with(|c: char| c.is_ascii_uppercase()) {
                let value = snake(line.trim_end_matches([',', '{', ' ']).split(['(', ' ']).next().unwrap_or_default());
                let meaning = std::mem::take(&mut about);
                match line.ends_with('{') {
                    true => variant = Some(format!("| `{value}` | {}", meaning.trim())),
                    false => writeln!(out, "| `{value}` | {} |", meaning.trim())?,
                }
            } else if let Some(row) = variant.take_if(|_| line.starts_with('}')) {
                writeln!(out, "{row} ({}) |", fields.join(", "))?;
                fields.clear();
            } else if variant.is_some()
                && let Some((field, _)) = line.split_once(':')
            {
                fields.push(format!("`{field}`: {}", about.trim().trim_end_matches('.')));
                about.clear();
            }
        }
        Ok(used)
    }

    /// The types of this crate in a type.
    fn named_in(&self, word: &str, file: usize) -> Vec<Item> {
        let names = word.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|name| {
            let last = name.rsplit("::").next().unwrap_or(name);
            last.starts_with(|c: char| c.is_ascii_uppercase())
                && !matches!(last, "Option" | "Vec" | "String" | "BTreeMap")
        });
        names.filter_map(|name| self.find(name, Some(file))).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Struct,
    Enum,
}

struct Definition<'a> {
    kind: Kind,
    body: &'a str,
    about: String,
    tag: Option<String>,
}

fn definition<'a>(text: &'a str, name: &str) -> Option<Definition<'a>> {
    let pattern = format!(r"(?sm)^pub (struct|enum) {name}\b[^;{{]*\{{\n(.*?)^\}}");
    let found = Regex::new(&pattern).ok()?.captures(text)?;
    let kind = if &found[1] == "struct" { Kind::Struct } else { Kind::Enum };
    let before = text.get(..found.get(0)?.start())?;
    let above: Vec<&str> =
        before.lines().rev().take_while(|line| line.starts_with("///") || line.starts_with("#[")).collect();
    let docs = above.iter().rev().filter_map(|line| line.strip_prefix("///")).map(str::trim);
    let tag = above.iter().find_map(|line| line.split("tag = \"").nth(1)?.split('"').next());
    Some(Definition {
        kind,
        body: found.get(2)?.as_str(),
        about: docs.collect::<Vec<_>>().join(" "),
        tag: tag.map(str::to_owned),
    })
}

/// A type in the words of JSON.
fn shown(word: &str) -> String {
    let inside = |of: &str| word.strip_prefix(of).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inside("Option<") {
        return format!("{}?", shown(inner));
    }
    if let Some(inner) = inside("Vec<") {
        return format!("list of {}", shown(inner));
    }
    let last = word.rsplit("::").next().unwrap_or(word);
    match word {
        "String" | "&'static str" | "Handle" => "string".to_owned(),
        "bool" => "boolean".to_owned(),
        "usize" | "u64" | "u32" | "u16" | "u8" | "i64" | "i32" => "integer".to_owned(),
        "f64" | "f32" => "number".to_owned(),
        _ if word.starts_with('(') => "list of two numbers".to_owned(),
        _ if word.contains("BTreeMap<") => "object".to_owned(),
        _ => format!("[{last}](#{})", last.to_lowercase()),
    }
}

/// `NeverPruned` as serde writes it.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
