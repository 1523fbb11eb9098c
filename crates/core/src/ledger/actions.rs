//! What was done: each call as an action with its outcome, each file with its last operation.

use super::asks::Ask;
use super::tool::{Act, Arguments, understand_with};
use super::{CALLS, Gathering, Group, Ledger, Voice, exits, todo};
use crate::handoff::Section;
use crate::reduce;
use crate::transcript::{Content, PartKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// A target longer than this is cut on its first line.
const LONGEST_TARGET: usize = 160;
/// Actions that change something are worth keeping beyond their names.
const CHANGE_WORTH: f32 = 6.0;
const RUN_WORTH: f32 = 3.0;
/// State and blockers come right after what the user said.
const STATE_WORTH: f32 = 80.0;
const BLOCKER_WORTH: f32 = 50.0;
/// Older actions are numbered but not told: no handoff has room for more.
const MOST_ACTIONS: usize = 2_000;
/// Only this many of the latest unsolved errors block anything.
const MOST_BLOCKERS: usize = 6;

/// What happened, before it is told.
#[derive(Default)]
pub(super) struct Record {
    pub(super) asks: Vec<Ask>,
    pub(super) last_words: Option<String>,
    actions: Vec<Action>,
    by_result: FxHashMap<usize, usize>,
    files: FxHashMap<u32, FileRecord>,
    todo: Option<(usize, Vec<String>)>,
    tasks: todo::Tasks,
    tests: Vec<(usize, String)>,
    directory: Option<String>,
    branch: Option<String>,
    pub(super) numbered: u32,
}

struct Action {
    message: usize,
    act: Act,
    tool: String,
    target: String,
    times: u32,
    outcome: String,
    exit: Option<i32>,
    failed: bool,
    trouble: Vec<String>,
}

/// How a call ended, by its output and by its client.
struct Ending {
    code: Option<i32>,
    failed: bool,
}

/// What was done to a file.
#[derive(Default)]
struct FileRecord {
    reads: u32,
    edits: u32,
    writes: u32,
    last: Option<(Act, usize)>,
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
        if call.act == Act::Todo {
            let items = todo::items(&arguments);
            match items.is_empty() {
                true => self.record.tasks.note(index, &arguments),
                false => self.record.todo = Some((index, items)),
            }
            return;
        }
        let mut group = None;
        if let Some(path) = call.path.as_deref().filter(|path| path.len() < LONGEST_TARGET) {
            let file = self.file_group(index, path);
            group = Some(file);
            let record = self.record.files.entry(file).or_default();
            match call.act {
                Act::Read => record.reads += 1,
                Act::Edit => record.edits += 1,
                Act::Write => record.writes += 1,
                _ => {}
            }
            record.last = Some((call.act, index));
        }
        if call.act == Act::Run {
            self.note_directory(&call.target);
        }
        let target = one_line(&call.target);
        let same = self.record.actions.last().is_some_and(|last| {
            last.act == call.act && last.target == target && matches!(call.act, Act::Edit | Act::Read | Act::Write)
        });
        if same {
            if let Some(last) = self.record.actions.last_mut() {
                last.times += 1;
                last.message = index;
            }
        } else {
            self.record.actions.push(Action {
                message: index,
                act: call.act,
                tool: call.tool.to_owned(),
                target,
                times: 1,
                outcome: String::new(),
                exit: None,
                failed: false,
                trouble: Vec::new(),
            });
        }
        if let Some(result) = transcript.exchanges.result_of(part_index) {
            self.record.by_result.insert(result, self.record.actions.len() - 1);
        }
        // What the agent wrote itself is the likeliest to be needed again.
        if quotable && matches!(call.act, Act::Write | Act::Edit | Act::Run | Act::Delegate | Act::Use) {
            let group = group.or_else(|| Some(self.shared_group(index, CALLS)));
            match call.act {
                // What else a command comes with says how to run it, or repeats it in words.
                Act::Run => self.quote(index, &call.target, Voice::Assistant, group),
                _ => arguments.strings().for_each(|text| self.quote(index, &text, Voice::Assistant, group)),
            }
        }
    }

    /// A tool result.
    pub(super) fn result(&mut self, index: usize, part_index: usize, quotable: bool) {
        let transcript = self.transcript;
        let Some(part) = transcript.parts.get(part_index) else {
            return;
        };
        let place = self.record.by_result.remove(&part_index);
        let act = place.and_then(|at| self.record.actions.get(at)).map_or(Act::Use, |action| action.act);
        // Old outputs are not read again unless they can tell how something ended.
        if !quotable && !part.failed && act != Act::Run {
            return;
        }
        let words = if quotable { transcript.words(part) } else { edges(transcript.raw(part.content.span()), part) };
        let ending = Ending { code: exits::exit_code(&words), failed: part.failed };
        let printed = reduce::printed(&words);
        let printed = exits::unframed(&printed);
        let group = place.and_then(|at| self.group_of_action(index, at));
        self.note_outcome(index, place, printed, ending);
        // What a change says that failed stands in no file.
        let is_refused = part.failed && matches!(act, Act::Edit | Act::Write);
        if quotable && act != Act::Todo && !is_refused {
            self.quote(index, printed, Voice::Tool, group);
        }
    }

    /// The heading under which the output of an action is quoted.
    fn group_of_action(&mut self, index: usize, at: usize) -> Option<u32> {
        let action = self.record.actions.get(at)?;
        match action.act {
            Act::Read | Act::Write | Act::Edit => {
                let path = action.target.clone();
                Some(self.file_group(index, &path))
            }
            _ => {
                let title = match action.act {
                    Act::Run => format!("`{}`", action.target),
                    _ => format!("{} {}", action.tool, action.target),
                };
                Some(self.command_group(index, Section::CriticalContext, title))
            }
        }
    }

    /// A group of its own for the output of one call, whose heading repeats the call.
    pub(super) fn command_group(&mut self, index: usize, section: Section, title: String) -> u32 {
        let names = self.note_names(index, &title, Voice::Assistant);
        self.ledger.groups.push(Group { section, title, message: index as u32, names });
        self.ledger.groups.len() as u32 - 1
    }

    fn note_outcome(&mut self, index: usize, place: Option<usize>, output: &str, ending: Ending) {
        let Some(action) = place.and_then(|at| self.record.actions.get_mut(at)) else {
            return;
        };
        let Ending { code, failed } = ending;
        action.exit = code;
        action.failed = failed || code.is_some_and(|code| code != 0);
        action.outcome = match (code, action.failed) {
            (Some(code), _) => format!("exit {code}"),
            (None, true) => "failed".to_owned(),
            (None, false) => String::new(),
        };
        if action.failed || action.act == Act::Run {
            action.trouble = exits::trouble(output, 3).into_iter().map(str::to_owned).collect();
        }
        if action.failed && action.trouble.is_empty() && code.is_none() {
            action.trouble.extend(exits::complaint(output, action.act).map(short));
        }
        if action.act == Act::Run
            && let Some(summary) = exits::test_summary(output)
        {
            action.outcome =
                format!("{}{}{summary}", action.outcome, if action.outcome.is_empty() { "" } else { ", " });
            self.record.tests.push((index, format!("`{}` → {summary}", action.target)));
        }
        if action.act == Act::Run
            && let Some(branch) = output.lines().take(5).find_map(|line| line.strip_prefix("On branch "))
        {
            self.record.branch = Some(branch.trim().to_owned());
        }
    }

    fn note_directory(&mut self, command: &str) {
        if let Some(rest) = command.trim_start().strip_prefix("cd ") {
            let end = rest.find(['&', ';', '\n', '|']).unwrap_or(rest.len());
            let directory = rest.get(..end).unwrap_or_default().trim().trim_matches('"');
            if directory.starts_with('/') {
                self.record.directory = Some(directory.to_owned());
            }
        }
        if memchr::memmem::find(command.as_bytes(), b"git ").is_none() {
            return;
        }
        for mark in ["git checkout -b ", "git switch -c ", "git checkout ", "git switch "] {
            if let Some((_, rest)) = command.split_once(mark) {
                let branch = rest.split_whitespace().next().unwrap_or_default();
                if !branch.is_empty() && !branch.starts_with('-') {
                    self.record.branch = Some(branch.to_owned());
                }
                break;
            }
        }
    }

    /// Tells what was done, how things stand, and what stands in the way.
    pub(super) fn close_actions(&mut self, folded: &[usize]) {
        let actions = std::mem::take(&mut self.record.actions);
        self.tell_blockers(&actions);
        self.tell_state(folded);
        if let Some(action) = actions.last() {
            let text = format!("- Last action before the fold: {} {}", action.act.verb(), action.target);
            self.entry(action.message, Section::InProgress, text, STATE_WORTH, Voice::Assistant);
        }
        if let Some(words) = self.record.last_words.take() {
            let index = folded.last().copied().unwrap_or_default();
            self.entry(
                index,
                Section::InProgress,
                format!("- The assistant said last: {words}"),
                STATE_WORTH,
                Voice::Assistant,
            );
        }
        let mut number = self.record.numbered;
        let old = actions.len().saturating_sub(MOST_ACTIONS);
        for (place, action) in actions.iter().enumerate() {
            // Reads and searches are told by what they found, under their files.
            if matches!(action.act, Act::Read | Act::Search | Act::List) && !action.failed {
                continue;
            }
            number += 1;
            if place < old {
                continue;
            }
            let times = if action.times > 1 { format!(" ×{}", action.times) } else { String::new() };
            // The last line of trouble that says more: often that is the count of tests, which is told already.
            let news = action.trouble.iter().rfind(|trouble| !action.outcome.contains(trouble.trim()));
            let outcome = match (action.outcome.as_str(), news) {
                ("", _) => "done".to_owned(),
                (outcome, Some(trouble)) if action.failed => format!("{outcome}: {}", short(trouble)),
                (outcome, _) => outcome.to_owned(),
            };
            let text =
                format!("{number}. {} {}{times} — {outcome} [{}]", action.act.verb(), action.target, action.tool);
            let worth = match action.act {
                Act::Edit | Act::Write => CHANGE_WORTH,
                _ => RUN_WORTH,
            };
            self.entry(action.message, Section::CompletedActions, text, worth, Voice::Assistant);
        }
        self.ledger.actions = number;
    }

    /// Errors of commands that did not succeed later.
    fn tell_blockers(&mut self, actions: &[Action]) {
        self.drop_solved(actions);
        let mut solved: FxHashSet<&str> = FxHashSet::default();
        let mut blockers = Vec::new();
        for action in actions.iter().rev() {
            let program = action.target.split_whitespace().take(2).last().unwrap_or_default();
            if !action.failed {
                solved.insert(&action.target);
                if action.act == Act::Run {
                    solved.insert(program);
                }
                continue;
            }
            let is_solved = solved.contains(action.target.as_str()) || solved.contains(program);
            if !is_solved && blockers.len() < MOST_BLOCKERS {
                solved.insert(&action.target);
                let said = match action.trouble.as_slice() {
                    // That something failed says nothing of what stands in the way.
                    [] if action.exit.is_none() => continue,
                    [] => action.outcome.clone(),
                    trouble => trouble.join("\n  "),
                };
                blockers.push((action.message, format!("- {} {}: {said}", action.act.verb(), action.target)));
            }
        }
        for (message, text) in blockers.into_iter().rev() {
            self.entry(message, Section::Blocked, text, BLOCKER_WORTH, Voice::Tool);
        }
    }

    /// Blockers of an earlier handoff leave when the same action has worked since.
    fn drop_solved(&mut self, actions: &[Action]) {
        if !self.ledger.entries.iter().any(|entry| entry.section == Section::Blocked) {
            return;
        }
        let worked: Vec<String> = actions
            .iter()
            .filter(|action| !action.failed)
            .map(|action| format!("- {} {}: ", action.act.verb(), action.target))
            .collect();
        let Ledger { entries, words, .. } = &mut self.ledger;
        entries.retain(|entry| {
            let text = words.get(entry.text.range()).unwrap_or_default();
            entry.section != Section::Blocked || !worked.iter().any(|solved| text.starts_with(solved.as_str()))
        });
    }

    fn tell_state(&mut self, folded: &[usize]) {
        let last = folded.last().copied().unwrap_or_default();
        let place = match (self.record.directory.take(), self.record.branch.take()) {
            (Some(directory), Some(branch)) => Some(format!("- Working directory {directory}, branch {branch}")),
            (Some(directory), None) => Some(format!("- Working directory {directory}")),
            (None, Some(branch)) => Some(format!("- Branch {branch}")),
            (None, None) => None,
        };
        if let Some(place) = place {
            self.entry(last, Section::ActiveState, place, STATE_WORTH, Voice::Assistant);
        }
        let tests = std::mem::take(&mut self.record.tests);
        let from = tests.len().saturating_sub(2);
        for (message, text) in tests.into_iter().skip(from) {
            self.entry(message, Section::ActiveState, format!("- Tests: {text}"), STATE_WORTH, Voice::Tool);
        }
        let tasks = std::mem::take(&mut self.record.tasks).list();
        if let Some((message, items)) = self.record.todo.take().or(tasks) {
            self.entry(message, Section::RemainingWork, items.join("\n"), STATE_WORTH * 2.0, Voice::Assistant);
        }
    }

    /// Gives each file a heading that says what was done to it.
    pub(super) fn title_files(&mut self) {
        let mut files: Vec<(u32, FileRecord)> = self.record.files.drain().collect();
        files.sort_by_key(|(group, _)| *group);
        for (group, record) in files {
            let mut done = Vec::new();
            for (count, word) in [(record.writes, "written"), (record.edits, "edited"), (record.reads, "read")] {
                match count {
                    0 => {}
                    1 => done.push(word.to_owned()),
                    _ => done.push(format!("{word} {count}×")),
                }
            }
            // A heading from an earlier handoff already says what was done before.
            let Some(path) = self.ledger.groups.get(group as usize).map(|group| path_of(&group.title).to_owned())
            else {
                continue;
            };
            let last = record.last.map_or(0, |(_, message)| message);
            let what = if done.is_empty() { "searched".to_owned() } else { done.join(", ") };
            let title = format!("{path} — {what}");
            let names = self.note_names(last, &path, Voice::Assistant);
            if let Some(slot) = self.ledger.groups.get_mut(group as usize) {
                slot.title = title;
            }
            let worth = if record.edits + record.writes > 0 { CHANGE_WORTH } else { 1.0 };
            // The heading itself is a fact, also when no line of the file is quoted.
            self.ledger.entries.push(super::Entry {
                section: Section::RelevantFiles,
                group: Some(group),
                message: last as u32,
                worth,
                text: super::Stretch::default(),
                names,
                by: super::Author::Ledger,
            });
        }
    }
}

/// The path in a file's heading.
fn path_of(title: &str) -> &str {
    title.split(" — ").next().unwrap_or(title)
}

/// Beginning and end of an output, enough to see how it ended.
fn edges<'a>(raw: &'a str, part: &crate::transcript::Part) -> Cow<'a, str> {
    const EDGE: usize = 600;
    if part.kind == PartKind::ToolResult && matches!(part.content, Content::Absent) {
        return Cow::Borrowed("");
    }
    let decoded = |text: &'a str| crate::wire::json::decode(text);
    if raw.len() <= 2 * EDGE {
        return decoded(raw);
    }
    let head = raw.get(..raw.floor_char_boundary(EDGE)).unwrap_or_default();
    let tail = raw.get(raw.ceil_char_boundary(raw.len() - EDGE)..).unwrap_or_default();
    Cow::Owned(format!("{}\n{}", decoded(head), decoded(tail)))
}

/// The first line of a target, cut.
fn one_line(target: &str) -> String {
    let line = target.trim().lines().next().unwrap_or_default().trim();
    if line.len() <= LONGEST_TARGET && !target.trim().contains('\n') {
        return line.to_owned();
    }
    format!("{} …", line.get(..line.floor_char_boundary(LONGEST_TARGET)).unwrap_or_default())
}

fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}…", text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default())
}
