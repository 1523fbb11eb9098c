//! The work between a request and its answer: each call as a step with what it changed or found.

use super::terms::Voice;
use super::tool::{Act, Arguments, Call, understand_with};
use super::{Gathering, GroupKind, Source, code, diff, edges, exits, paragraphs, shell, speech, todo};
use crate::inserted::{self, Section};
use foldline_reduce as reduce;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::Value;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// A command longer than this is cut in its heading; the rest can be told as passages.
const LONGEST_COMMAND: usize = 200;
/// A longer line of an output is cut.
const LONGEST_LINE: usize = 240;
/// Lines of an output that are told together.
const OUTPUT_LINES: usize = 3;
/// An output up to this size is told whole or not at all.
const SHORT_OUTPUT: usize = 400;
/// JSON up to this size is told by its fields.
const MOST_JSON: usize = 64 << 10;
/// Values in JSON that are longer say too much.
const LONGEST_VALUE: usize = 300;
/// A shorter result of a search says that nothing was found.
const SHORTEST_FINDING: usize = 40;
/// Letters and digits of a line that says something.
const FEWEST_LETTERS: usize = 3;
/// That a command ran.
const COMMAND_WORTH: f32 = 2.0;

/// The calls so far.
#[derive(Default)]
pub(super) struct Work {
    pub(super) steps: Vec<Step>,
    /// The step of each result that is still to come.
    by_result: FxHashMap<usize, usize>,
    /// Which piece of a change a line came with, by file and line: a later change that takes it away outdates the piece.
    came_with: FxHashMap<u64, Vec<Shown>>,
    /// The newest value of each constant of a file, and the passages that show it.
    values: FxHashMap<u64, (u64, Vec<usize>)>,
}

/// A passage that shows a line of a file.
struct Shown {
    entry: usize,
    beside: diff::Neighbours,
}

/// One call.
pub(super) struct Step {
    pub(super) message: usize,
    pub(super) group: Option<u32>,
    pub(super) act: Act,
    pub(super) tool: String,
    pub(super) target: String,
    pub(super) failed: bool,
    pub(super) exit: Option<i32>,
    pub(super) trouble: Vec<String>,
    pub(super) summary: Option<String>,
    /// The entries of what it changed: none of it holds when the call did not go through.
    changes: std::ops::Range<usize>,
    /// Whether the call asked the user something.
    asks: bool,
    pub(super) episode: u32,
}

impl Gathering<'_, '_> {
    /// A tool call.
    pub(super) fn call(&mut self, index: usize, part_index: usize, quotable: bool) {
        let transcript = self.transcript;
        let Some(part) = transcript.parts.get(part_index) else {
            return;
        };
        let arguments = Arguments::of(transcript, part);
        let call = understand_with(transcript.raw(part.name), &arguments);
        let is_read = call.act == Act::Run && shell::only_read(&call.target).is_some();
        self.terms.begin();
        self.worked(index);
        if self.pinned_by_tool(call.tool, &arguments) {
            return;
        }
        if call.act == Act::Todo {
            let items = todo::items(&arguments);
            match items.is_empty() {
                true => self.record.tasks.note(index, &arguments),
                false => self.record.todo = Some((index, items)),
            }
            return;
        }
        let group = self.step_group(index, &call);
        if call.act == Act::Run {
            self.touch_files(index, &call.target);
        }
        if let Some(patch) = &call.patch {
            shell::patched(patch).for_each(|path| self.note_file(index, path, Act::Edit));
        }
        let start = self.ledger.entries.len();
        if let Some(group) = group {
            self.tell_call(index, group, &call, &arguments, quotable);
        }
        let step = Step {
            message: index,
            group,
            act: if is_read { Act::Read } else { call.act },
            tool: call.tool.to_owned(),
            target: call.target.trim().to_owned(),
            failed: false,
            exit: None,
            trouble: Vec::new(),
            summary: None,
            changes: start..self.ledger.entries.len(),
            asks: arguments.raw("questions").is_some() || arguments.raw("question").is_some(),
            episode: self.current_episode(),
        };
        self.work.steps.push(step);
        if let Some(result) = transcript.exchanges.result_of(part_index) {
            self.work.by_result.insert(result, self.work.steps.len() - 1);
        }
    }

    /// What a step stands under; reads stand under their file.
    fn step_group(&mut self, index: usize, call: &Call<'_>) -> Option<u32> {
        if let Some(path) = shell::only_read(&call.target).filter(|_| call.act == Act::Run) {
            return Some(self.file(index, &path));
        }
        let title = match call.act {
            Act::Read | Act::List => {
                let path = call.path.as_deref().filter(|path| path.len() < LONGEST_COMMAND)?;
                return Some(self.file(index, path));
            }
            Act::Edit => format!("EDIT {}", first_line(&edited(call), LONGEST_COMMAND)),
            Act::Write => format!("WRITE {}", first_line(&call.target, LONGEST_COMMAND)),
            Act::Run => format!("$ {}", first_line(shell::untrimmed(&call.target), LONGEST_COMMAND)),
            Act::Search => format!("SEARCH {}", first_line(&call.target, LONGEST_COMMAND)),
            Act::Fetch => format!("FETCH {}", first_line(&call.target, LONGEST_COMMAND)),
            Act::Delegate => format!("AGENT {}", first_line(&call.target, LONGEST_COMMAND)),
            Act::Use | Act::Todo => format!("{} {}", call.tool, first_line(&call.target, LONGEST_COMMAND)),
        };
        Some(self.group(index, Section::CompletedActions, GroupKind::Step, title.trim_end().to_owned(), Voice::Call))
    }

    fn tell_call(&mut self, index: usize, group: u32, call: &Call<'_>, arguments: &Arguments<'_>, quotable: bool) {
        let path = call.path.as_deref().filter(|path| path.len() < LONGEST_COMMAND && call.patch.is_none());
        if let Some(path) = path {
            self.note_file(index, path, call.act);
        }
        match call.act {
            Act::Edit => {
                let pieces = if quotable { diff::pieces(call, arguments) } else { Vec::new() };
                for piece in pieces {
                    let source = if piece.is_inside { Source::Written } else { Source::Edit };
                    let place = self.passage(index, group, source, &piece.text, 0.0);
                    self.outdate(&call.target, &piece, place);
                }
            }
            Act::Write => {
                self.heading(index, group, Source::Written, self.weights.change);
                if let Some(content) =
                    arguments.first(&["content", "file_text", "text", "contents"]).filter(|_| quotable)
                {
                    self.tell_written(index, group, &call.target, &content);
                }
            }
            Act::Run => {
                self.note_place(&call.target);
                if quotable {
                    self.lines(index, group, Source::Command, behind_heading(&call.target), OUTPUT_LINES);
                }
            }
            Act::Delegate | Act::Use if quotable => {
                self.heading(index, group, Source::Arguments, COMMAND_WORTH);
                for text in arguments.strings() {
                    if text.trim() != call.target.trim() {
                        self.paragraphs(index, group, Source::Arguments, &text);
                    }
                }
            }
            _ => {}
        }
    }

    /// The text of a new file: documents by paragraphs, everything else by lines that stand together.
    fn tell_written(&mut self, index: usize, group: u32, path: &str, content: &str) {
        if is_document(path) {
            return self.paragraphs(index, group, Source::Document, content);
        }
        self.code(index, group, Source::Outline, code::outline(content));
        self.code(index, group, Source::Written, code::inside(content));
    }

    /// Remembers which piece a line came with, and outdates the pieces whose lines go.
    fn outdate(&mut self, path: &str, piece: &diff::Piece, place: Option<usize>) {
        let key = |line: &str| FxBuildHasher.hash_one((path, line.trim()));
        let gone = piece.text.lines().filter_map(|line| line.strip_prefix("- "));
        for line in gone.chain(piece.also_gone.iter().map(String::as_str)) {
            if let Some(shown) = self.work.came_with.get_mut(&key(line)) {
                let gone = shown.extract_if(.., |shown| shown.beside.agree(&piece.beside));
                let gone: Vec<usize> = gone.map(|shown| shown.entry).collect();
                self.forget(&gone);
            }
        }
        let come = || piece.text.lines().filter_map(|line| line.strip_prefix("+ "));
        for (line, entry) in come().zip(place.into_iter().cycle()) {
            let shown = self.work.came_with.entry(key(line)).or_default();
            shown.retain(|shown| !shown.beside.agree(&piece.beside));
            shown.push(Shown { entry, beside: piece.beside.clone() });
        }
        self.note_values(path, come(), place);
    }

    /// Remembers which lines of a file a passage shows: a later change may take them away.
    fn note_shown(&mut self, path: &str, text: &str, place: usize) {
        let bare = |line: &str| {
            line.split_once(": ").filter(|(number, _)| is_number(number)).map_or(0, |(number, _)| number.len() + 2)
        };
        for line in text.lines() {
            let line = line.get(bare(line)..).unwrap_or_default().trim();
            let shown = self.work.came_with.entry(FxBuildHasher.hash_one((path, line))).or_default();
            shown.push(Shown { entry: place, beside: diff::Neighbours::default() });
        }
        self.note_values(path, text.lines().map(|line| line.get(bare(line)..).unwrap_or_default()), Some(place));
    }

    /// A constant has one value in a file: passages with an older one are outdated.
    fn note_values<'l>(&mut self, path: &str, lines: impl Iterator<Item = &'l str>, place: Option<usize>) {
        for (name, value) in lines.filter_map(constant) {
            let (key, value) = (FxBuildHasher.hash_one((path, name)), FxBuildHasher.hash_one(value));
            let known = self.work.values.entry(key).or_insert((value, Vec::new()));
            let older = if known.0 == value { Vec::new() } else { std::mem::take(&mut known.1) };
            known.0 = value;
            known.1.extend(place);
            self.forget(&older);
        }
    }

    fn forget(&mut self, places: &[usize]) {
        for &place in places {
            if let Some(entry) = self.ledger.entries.get_mut(place) {
                entry.terms = super::Stretch::default();
                entry.worth = 0.0;
            }
        }
    }

    /// The files that a command reads or changes count as with any other tool.
    fn touch_files(&mut self, index: usize, command: &str) {
        let is_read = shell::only_read(command).is_some();
        for shell::Touched { path, act } in shell::files(command) {
            self.note_file(index, &path, act);
            let file = self.file(index, &path);
            if act == Act::Read && !is_read {
                self.heading(index, file, Source::Read, COMMAND_WORTH);
            }
            if act == Act::Edit
                && let Some((old, new)) = shell::substituted(command)
            {
                self.outdate(&path, &diff::Piece::of(format!("- {old}\n+ {new}")), None);
            }
        }
    }

    /// A tool result.
    pub(super) fn result(&mut self, index: usize, part_index: usize, quotable: bool) {
        let transcript = self.transcript;
        let Some(part) = transcript.parts.get(part_index) else {
            return;
        };
        let place = self.work.by_result.remove(&part_index);
        let (act, asks) =
            place.and_then(|at| self.work.steps.get(at)).map_or((Act::Use, false), |step| (step.act, step.asks));
        // Old outputs are not read again unless they can tell how something ended.
        let tells_state = act == Act::Run && index + super::CALLS_READ >= self.quotable;
        if !quotable && !part.failed && !tells_state && !asks {
            return;
        }
        let words = if quotable { transcript.words(part) } else { edges(transcript.raw(part.content.span()), part) };
        let code = exits::exit_code(&words);
        let printed = reduce::printed(&words);
        let printed = inserted::without_reminders(exits::unframed(&printed));
        self.terms.begin();
        self.came_back(index);
        if speech::is_rejection(printed) {
            self.take_back(place, "not allowed by the user");
            let call = place
                .and_then(|at| self.work.steps.get(at)?.group)
                .and_then(|group| self.ledger.groups.get(group as usize));
            let call = call.map(|group| group.title.trim_end_matches(" — not allowed by the user").to_owned());
            if let Some(said) = speech::said_instead(printed) {
                let title = format!("User, instead of allowing {}:", call.as_deref().unwrap_or("a call"));
                self.said_aside(index, said, &title);
            }
            return;
        }
        if asks && !part.failed {
            self.said_aside(index, printed, "User, asked by the assistant:");
            return;
        }
        // What a file says of errors is no error of the call that reads it.
        let speaks_for_itself = matches!(act, Act::Use | Act::Edit | Act::Write | Act::Fetch | Act::Delegate);
        let failed = part.failed
            || code.is_some_and(|code| code != 0)
            || code.is_none() && speaks_for_itself && exits::reports_error(printed);
        let outcome = self.note_outcome(index, place, printed, code, failed);
        let Some(group) = place.and_then(|at| self.work.steps.get(at)).and_then(|step| step.group) else {
            return;
        };
        if failed && matches!(act, Act::Edit | Act::Write) {
            self.take_back(place, "failed");
        }
        if !outcome.is_empty() {
            let text = format!("→ {outcome}");
            let worth = if failed { self.weights.failure } else { self.weights.outcome };
            self.passage(index, group, Source::Output, &text, worth);
        }
        if act == Act::Run && printed.trim().is_empty() {
            self.passage(index, group, Source::Output, "→ no output", COMMAND_WORTH);
        }
        if quotable {
            let printed = exits::without_place(printed);
            self.tell_output(index, group, act, printed, failed);
        }
    }

    fn tell_output(&mut self, index: usize, group: u32, act: Act, printed: &str, failed: bool) {
        let failed_tests = if act == Act::Run { reduce::failed_tests(printed) } else { None };
        match act {
            // What a change says when it worked is known.
            Act::Edit | Act::Write if !failed => {}
            Act::Todo => {}
            Act::Read if self.ledger.groups.get(group as usize).is_some_and(|file| is_document(&file.title)) => {
                self.paragraphs(index, group, Source::Read, &code::unnumbered(printed));
            }
            Act::Read => {
                let outline = code::outline(printed);
                // What defines nothing is told by its lines.
                let pieces = if outline.is_empty() { code::inside(printed) } else { outline };
                self.code(index, group, Source::Read, pieces);
            }
            // Who looks for something that is not there learns a word from it.
            Act::Search | Act::List if printed.len() <= SHORTEST_FINDING => {}
            Act::Run if failed_tests.is_some() => {
                let (failed, others) = failed_tests.unwrap_or_default();
                self.lines_worth(index, group, &failed, self.weights.failure);
                self.lines(index, group, Source::Output, &others, OUTPUT_LINES);
            }
            Act::Delegate | Act::Fetch => self.paragraphs(index, group, Source::Report, printed),
            Act::Use if looks_like_json(printed) => {
                let lines = fields(printed);
                self.lines(index, group, Source::Output, &lines, OUTPUT_LINES);
            }
            Act::Use => self.paragraphs(index, group, Source::Output, printed),
            Act::Search | Act::List => self.lines(index, group, Source::Read, printed, OUTPUT_LINES),
            _ => self.lines(index, group, Source::Output, printed, OUTPUT_LINES),
        }
    }

    /// A call that did not go through changed nothing.
    fn take_back(&mut self, place: Option<usize>, why: &str) {
        let Some(step) = place.and_then(|at| self.work.steps.get_mut(at)) else {
            return;
        };
        let (changes, group, act, path) = (step.changes.clone(), step.group, step.act, step.target.clone());
        step.failed = true;
        step.changes = 0..0;
        for entry in self.ledger.entries.get_mut(changes).unwrap_or_default() {
            if !entry.text.range().is_empty() {
                entry.terms = super::Stretch::default();
            }
            entry.worth = 0.0;
        }
        if let Some(group) = group.and_then(|group| self.ledger.groups.get_mut(group as usize))
            && group.kind == GroupKind::Step
        {
            group.title.push_str(&format!(" — {why}"));
        }
        self.record.forget_place();
        if matches!(act, Act::Edit | Act::Write) {
            self.forget_change(&path);
        }
    }

    fn note_outcome(
        &mut self,
        index: usize,
        place: Option<usize>,
        output: &str,
        code: Option<i32>,
        failed: bool,
    ) -> String {
        let Some(step) = place.and_then(|at| self.work.steps.get_mut(at)) else {
            return String::new();
        };
        step.exit = code;
        step.failed = failed;
        let mut outcome = match (code, failed) {
            (Some(0), _) | (None, false) => String::new(),
            (Some(code), _) => format!("exit {code}"),
            (None, true) => "failed".to_owned(),
        };
        if failed || step.act == Act::Run {
            step.trouble = exits::trouble(output, 3).into_iter().map(|line| cut(line).to_owned()).collect();
        }
        if failed && step.trouble.is_empty() && code.is_none() {
            step.trouble.extend(exits::complaint(output, step.act).map(|line| cut(line).to_owned()));
        }
        if step.act == Act::Run
            && let Some(summary) = exits::test_summary(output)
        {
            let summary = exits::result(summary);
            step.summary = Some(cut(summary).to_owned());
            outcome = [outcome.as_str(), cut(summary)]
                .iter()
                .filter(|text| !text.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join(", ");
        }
        if failed && let Some(trouble) = step.trouble.iter().find(|trouble| !outcome.contains(trouble.trim())) {
            outcome = format!("{outcome}: {trouble}");
        }
        if step.act == Act::Run {
            let target = step.target.clone();
            self.note_run(index, &target, output, failed);
        }
        outcome
    }

    /// Tells a text by its paragraphs.
    pub(super) fn paragraphs(&mut self, index: usize, group: u32, source: Source, text: &str) {
        let mut places = Vec::new();
        paragraphs::each(text, |range| places.push(range));
        for range in places {
            let text = text.get(range).unwrap_or_default();
            match text.len() > LONGEST_PARAGRAPH {
                true => self.lines(index, group, source, text, OUTPUT_LINES),
                false => {
                    self.passage(index, group, source, text, 0.0);
                }
            }
        }
    }

    /// Tells a text by so many lines at a time; a short one whole.
    fn lines(&mut self, index: usize, group: u32, source: Source, text: &str, together: usize) {
        let together = if text.len() <= SHORT_OUTPUT { usize::MAX } else { together };
        let mut piece = String::new();
        let mut count = 0;
        let says_something =
            |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).take(FEWEST_LETTERS).count() == FEWEST_LETTERS;
        for line in text.lines().map(str::trim_end).filter(says_something) {
            push_line(&mut piece, cut(line));
            count += 1;
            if count == together {
                self.passage(index, group, source, &piece, 0.0);
                piece.clear();
                count = 0;
            }
        }
        self.passage(index, group, source, &piece, 0.0);
    }

    /// Tells lines of an output that matter more than the others, a few at a time.
    fn lines_worth(&mut self, index: usize, group: u32, text: &str, worth: f32) {
        let lines: Vec<&str> = text.lines().map(cut).collect();
        for piece in lines.chunks(OUTPUT_LINES) {
            self.passage(index, group, Source::Output, &piece.join("\n"), worth);
        }
    }

    /// Tells source code in pieces of a few lines.
    fn code(&mut self, index: usize, group: u32, source: Source, pieces: Vec<String>) {
        for piece in pieces {
            self.file_passage(index, group, source, &piece);
        }
    }

    /// A few lines of a file, as long as no later change takes them away.
    fn file_passage(&mut self, index: usize, group: u32, source: Source, piece: &str) {
        let path = self.ledger.groups.get(group as usize).filter(|group| group.kind == GroupKind::File);
        let path = path.map(|group| group.title.split(" — ").next().unwrap_or_default().to_owned());
        let place = self.passage(index, group, source, piece, 0.0);
        if let (Some(path), Some(place)) = (path, place) {
            self.note_shown(&path, piece, place);
        }
    }
}

/// Name and value of a line that sets a constant: one in capitals, of which a file has one.
fn constant(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim().rsplit(' ').next()?.trim_end_matches(':');
    let is_constant = name.len() > 2
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && name.starts_with(|c: char| c.is_ascii_uppercase());
    (is_constant && !value.starts_with('=')).then(|| (name, value.trim()))
}

/// Whether a path is that of a text for people.
fn is_document(path: &str) -> bool {
    [".md", ".txt", ".rst", ".adoc", ".org"].iter().any(|ending| path.ends_with(ending))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A paragraph that is longer is told by its lines.
const LONGEST_PARAGRAPH: usize = 1_600;

pub(super) fn push_line(piece: &mut String, line: &str) {
    if !piece.is_empty() {
        piece.push('\n');
    }
    piece.push_str(line);
}

pub(super) fn cut(line: &str) -> &str {
    line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or(line)
}

/// The first line of a text, cut; what is missing is marked.
pub(super) fn first_line(text: &str, longest: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim();
    if line.len() <= longest && line.len() == text.len() {
        return line.to_owned();
    }
    format!("{} …", line.get(..line.floor_char_boundary(longest)).unwrap_or_default())
}

/// The files that an edit is about.
fn edited<'c>(call: &'c Call<'_>) -> Cow<'c, str> {
    let files: Vec<&str> = call.patch.as_deref().into_iter().flat_map(shell::patched).collect();
    if files.len() < 2 { Cow::Borrowed(&call.target) } else { Cow::Owned(files.join(", ")) }
}

/// What the heading of a command does not say of it.
fn behind_heading(command: &str) -> &str {
    let command = command.trim();
    let line = command.lines().next().unwrap_or_default();
    command.get(line.len()..).unwrap_or_default().trim_start()
}

fn looks_like_json(text: &str) -> bool {
    text.len() <= MOST_JSON && text.trim_start().starts_with(['{', '['])
}

/// A JSON document as lines of `name: value`; the text itself when it is none.
fn fields(text: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text.trim()) else {
        return text.to_owned();
    };
    let mut out = String::new();
    walk(&value, "", &mut out);
    out
}

fn walk(value: &Value, name: &str, out: &mut String) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| walk(value, key, out)),
        Value::Array(items) => items.iter().for_each(|item| walk(item, name, out)),
        Value::Null => {}
        Value::String(text) if text.len() > LONGEST_VALUE => {
            let short = text.get(..text.floor_char_boundary(LONGEST_VALUE)).unwrap_or_default();
            out.push_str(&format!("{name}: {} …\n", short.replace('\n', " ")));
        }
        Value::String(text) => out.push_str(&format!("{name}: {}\n", text.replace('\n', " "))),
        other => out.push_str(&format!("{name}: {other}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_by_its_fields() {
        let text =
            r#"{"issue":{"id":"ENT-241","labels":["bug","git"],"priority":{"value":3,"name":"Medium"}},"none":null}"#;
        assert_eq!(fields(text), "id: ENT-241\nlabels: bug\nlabels: git\nvalue: 3\nname: Medium\n");
        assert_eq!(fields("{broken"), "{broken");
    }
}
