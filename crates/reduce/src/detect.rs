//! Decides what kind of output a text is: the tool's name and argument first, then the look of a bounded sample.

use super::definitions::definition;
use super::lines::{lines, prefix, suffix, trim};
use super::{Kind, Source, alarm, build, json, listing, log, search, stack_trace, table, test_report, web};

/// Bytes of the start, the middle and the end that are looked at.
const SAMPLE: usize = 6 * 1024;

/// What kind of output this is.
#[must_use]
pub fn detect(source: &Source<'_>, text: &str) -> Kind {
    let printed = super::printed(text);
    let clean = super::clean::clean(&printed);
    kind_of(Origin::of(source), source, &super::code::without_numbers(&clean))
}

/// What kind of output a tool gives whatever its text says, as far as its name and argument tell.
pub(super) fn by_name(origin: Origin, source: &Source<'_>) -> Option<Kind> {
    match origin {
        Origin::Listing => Some(Kind::Listing),
        Origin::File if extension(source.argument).and_then(kind_of_extension).is_none() => Some(Kind::Code),
        _ => None,
    }
}

/// What kind of output a cleaned text without line numbers is.
pub(super) fn kind_of(origin: Origin, source: &Source<'_>, text: &str) -> Kind {
    if let Some(kind) = by_name(origin, source) {
        return kind;
    }
    let sample = Sample::of(text);
    match origin {
        Origin::Search => search_kind(&sample),
        Origin::Listing => Kind::Listing,
        Origin::File => file_kind(source.argument, text, &sample).unwrap_or(Kind::Code),
        // What an address answers is a page unless it is plainly data.
        Origin::Web if json::looks_like(text) || json::is_lines(&sample.lines) => Kind::Json,
        Origin::Web => Kind::Web,
        Origin::Report => report_kind(text, &sample),
        Origin::Shell => {
            let document = document(text, &sample);
            match document {
                Some(kind @ (Kind::Json | Kind::Diff | Kind::Web)) => kind,
                _ => file_of_command(source.argument)
                    .and_then(|path| file_kind(path, text, &sample))
                    .or(document)
                    .or_else(|| look(&sample))
                    .unwrap_or(Kind::Command),
            }
        }
    }
}

/// What the tool does, as far as its name tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Search,
    Listing,
    File,
    Web,
    Report,
    /// A command, which may say that it failed in any kind of output.
    Shell,
}

impl Origin {
    pub(super) fn of(source: &Source<'_>) -> Origin {
        let tool = prefix(source.tool, 64).to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| tool.contains(part));
        let url = source.argument.starts_with("http://") || source.argument.starts_with("https://");
        if has(&["websearch", "web_search", "webfetch", "web_fetch", "fetch", "browser", "url"]) || url {
            Origin::Web
        } else if has(&["grep", "search", "ripgrep"]) {
            Origin::Search
        } else if has(&["glob", "list_dir", "listdir", "list_files", "find_file"]) || tool == "ls" {
            Origin::Listing
        } else if has(&["read", "view", "open_file", "cat_file", "get_file"])
            || ["edit", "write", "multiedit"].contains(&tool.as_str())
        {
            Origin::File
        } else if has(&["task", "agent", "plan", "skill"]) {
            Origin::Report
        } else {
            Origin::Shell
        }
    }
}

/// Lines of the start, the middle and the end of a text.
struct Sample<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Sample<'a> {
    fn of(text: &'a str) -> Sample<'a> {
        let mut sampled: Vec<&str> = Vec::new();
        if text.len() <= 3 * SAMPLE {
            sampled.extend(lines(text));
        } else {
            let middle = text.get(text.floor_char_boundary(text.len() / 2)..).unwrap_or_default();
            sampled.extend(lines(prefix(text, SAMPLE)));
            sampled.extend(lines(prefix(middle, SAMPLE)).skip(1));
            sampled.extend(lines(suffix(text, SAMPLE)).skip(1));
        }
        sampled.retain(|line| !trim(line).is_empty());
        Sample { lines: sampled.into_iter().map(|line| prefix(line, 1_000)).collect() }
    }

    fn count(&self, is: impl Fn(&str) -> bool) -> usize {
        self.lines.iter().filter(|line| is(line)).count()
    }

    /// True when at least `percent` of the lines are such, and there are at least three.
    fn mostly(&self, percent: usize, is: impl Fn(&str) -> bool) -> bool {
        let needed = (self.lines.len() * percent).div_ceil(100).max(3);
        let Some(mut others) = self.lines.len().checked_sub(needed) else {
            return false;
        };
        // A sample of something else is given up where it cannot be such any more.
        for line in &self.lines {
            if !is(line) {
                let Some(left) = others.checked_sub(1) else {
                    return false;
                };
                others = left;
            }
        }
        true
    }
}

fn search_kind(sample: &Sample<'_>) -> Kind {
    let paths = sample.count(|line| search::is_path(line) && !line.contains(':'));
    let hits = sample.count(|line| search::hit(line, "").is_some());
    if paths > hits && paths * 2 > sample.lines.len() {
        Kind::Listing
    } else if hits * 3 > sample.lines.len() {
        Kind::Search
    } else {
        Kind::Command
    }
}

/// A report of another agent: text, unless it is clearly something else.
fn report_kind(text: &str, sample: &Sample<'_>) -> Kind {
    match document(text, sample) {
        Some(kind @ (Kind::Diff | Kind::Json)) => kind,
        _ => Kind::Prose,
    }
}

/// Extensions and the kind of what is in such files; others hold code.
const EXTENSIONS: &[(&[&str], Kind)] = &[
    (&["csv", "tsv"], Kind::Table),
    (&["md", "txt", "rst", "adoc", "mdx"], Kind::Prose),
    (&["yaml", "yml", "toml", "ini", "env", "properties", "conf", "cfg"], Kind::KeyValue),
    (&["log"], Kind::Log),
    (&["html", "htm"], Kind::Web),
    (&["diff", "patch"], Kind::Diff),
    (&["json", "jsonl", "ndjson", "ipynb"], Kind::Json),
];

/// What stands after the last dot of a file's name.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| prefix(extension, 16))
}

fn kind_of_extension(extension: &str) -> Option<Kind> {
    let is_in = |listed: &[&str]| listed.iter().any(|listed| listed.eq_ignore_ascii_case(extension));
    EXTENSIONS.iter().find(|(extensions, _)| is_in(extensions)).map(|(_, kind)| *kind)
}

fn file_kind(path: &str, text: &str, sample: &Sample<'_>) -> Option<Kind> {
    let extension = extension(path)?;
    match kind_of_extension(extension) {
        // A part of a document is unreadable for a parser; its keys are still read line by line.
        Some(Kind::Json) if !json::looks_like(text) => {
            Some(if json::is_lines(&sample.lines) { Kind::Json } else { Kind::KeyValue })
        }
        // Saved outputs of other tools end in `.txt`.
        Some(Kind::Prose) if extension.eq_ignore_ascii_case("txt") => {
            Some(structure(text, sample).unwrap_or(Kind::Prose))
        }
        Some(kind) => Some(kind),
        None if extension.len() <= 6 && extension.bytes().all(|b| b.is_ascii_alphanumeric()) => Some(Kind::Code),
        None => None,
    }
}

/// The file that a shell command prints, if that is all it does.
fn file_of_command(command: &str) -> Option<&str> {
    let first = command.rsplit("&&").next().unwrap_or(command).split(['|', '>']).next().unwrap_or(command);
    let mut words = first.split_ascii_whitespace();
    match words.next()? {
        "cat" | "head" | "tail" | "sed" | "nl" | "bat" | "less" => words.next_back(),
        "git" => {
            first.contains("git show ").then(|| words.next_back()?.split_once(':').map(|(_, path)| path)).flatten()
        }
        _ => None,
    }
}

/// The kind that the look of a text alone tells.
fn structure(text: &str, sample: &Sample<'_>) -> Option<Kind> {
    document(text, sample).or_else(|| look(sample))
}

/// The kind of a text in a notation of its own.
fn document(text: &str, sample: &Sample<'_>) -> Option<Kind> {
    let headers =
        sample.count(|line| line.starts_with("diff --git ") || line.starts_with("+++ ") || line.starts_with("@@ -"));
    if headers >= 2 {
        return Some(Kind::Diff);
    }
    if json::looks_like(text) || json::is_lines(&sample.lines) {
        return Some(if sample.mostly(60, log::is_json_event) { Kind::Log } else { Kind::Json });
    }
    web::looks_like(text).then_some(Kind::Web)
}

/// The kind that the lines of a text have in common.
fn look(sample: &Sample<'_>) -> Option<Kind> {
    let lines = &sample.lines;
    if sample.count(test_report::is_mark) >= 2 || sample.count(test_report::is_summary) >= 1 {
        return Some(Kind::TestReport);
    }
    let frames = sample.count(stack_trace::is_frame);
    if frames >= 3 && frames * 100 >= lines.len() * 30
        || (frames >= 1 && lines.iter().take(3).any(|line| stack_trace::is_header(line)))
    {
        return Some(Kind::StackTrace);
    }
    let diagnostics = sample.count(|line| build::diagnostic(line).is_some_and(|found| found.severity.is_some()));
    if diagnostics >= 2 && diagnostics * 100 >= lines.len() * 5 || sample.count(build::is_status) >= 1 {
        return Some(Kind::Build);
    }
    if sample.mostly(40, |line| log::level(line).is_some() || log::has_time(line)) {
        return Some(Kind::Log);
    }
    if sample.mostly(70, listing::is_entry) {
        return Some(Kind::Listing);
    }
    if sample.mostly(60, |line| search::hit(line, "").is_some()) {
        return Some(Kind::Search);
    }
    if table::looks_like(lines) {
        return Some(Kind::Table);
    }
    if sample.mostly(8, |line| definition(line).is_some())
        && sample.mostly(20, |line| line.trim_end().ends_with(['{', '}', ';', ':', ')']))
    {
        return Some(Kind::Code);
    }
    if sample.mostly(70, super::key_value::is_pair) {
        return Some(Kind::KeyValue);
    }
    let sentences = sample.count(|line| {
        line.len() > 40
            && line.contains(' ')
            && line.trim_end().ends_with(['.', ':', '!', '?'])
            && alarm::severity(line).is_none()
    });
    let headings = sample.count(|line| line.starts_with("# ") || line.starts_with("## ") || line.starts_with("### "));
    if sentences * 2 > lines.len() || headings >= 2 {
        return Some(Kind::Prose);
    }
    None
}
