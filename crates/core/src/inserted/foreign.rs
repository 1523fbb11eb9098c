//! Handoffs that other compactors and clients leave: how they begin and end, and their words as lines of ours. The
//! client's own summary is the state of its conversation, whatever its form.

use super::mark::{Maker, Record};
use super::previous::HandoffLine;
use super::section::Section;
use super::source::Source;
use std::borrow::Cow;

/// Marks in brackets that begin a handoff.
pub(crate) const MARKS: [&str; 3] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", PRIOR];
/// A mark that begins a message into which a handoff was merged, and the one that ends its own words.
const PRIOR: &str = "[PRIOR CONTEXT — for reference only";
const END_OF_PRIOR: &str = "[END OF PRIOR CONTEXT";
/// What ends a handoff that begins with a mark.
const CLOSING: &str = "--- END OF CONTEXT SUMMARY";

/// Sentences with which clients begin a handoff.
const SENTENCES: [&str; 4] = [
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem and produced a summary",
    "The conversation history before this point was compacted into the following summary",
    "The following is a summary of a branch that this conversation came back from",
];
/// The wrapper of a handoff behind such a sentence.
const WRAPPER: &str = "summary";
/// A wrapper that is a handoff by itself.
pub(super) const SNAPSHOT: &str = "<state_snapshot>";
/// What a client asks in the user's name; the answer is the handoff.
pub(super) const ASKED: &str = "What did we do so far?";

/// What clients say to the model behind their summary; it is no part of it.
const GO_ON: [&str; 3] = [
    "Please continue the conversation from where",
    "Continue the conversation from where",
    "Recent messages are preserved verbatim",
];

/// The framing of a summary ends within so many bytes.
const FRAMING: usize = 600;

/// The title of a step that tells what a client's summary said.
pub(crate) const RECAP: &str = "Recap:";
/// A goal is told by so many bytes of its section; the rest of it is part of the recap.
const LONGEST_GOAL: usize = 300;

/// Whether a text begins as clients begin their handoffs.
pub(super) fn begins_one(text: &str) -> bool {
    SENTENCES.iter().any(|sentence| text.starts_with(sentence))
}

/// The foreign handoff that a text begins with.
pub(super) fn record(text: &str) -> Option<Record<'_>> {
    let words = text.trim_start();
    if words.starts_with(SNAPSHOT) {
        let (inside, own) = inside(words, "state_snapshot")?;
        return Some(found(words, inside, own));
    }
    if begins_one(words) {
        if let Some((inside, own)) = inside(words, WRAPPER) {
            return Some(found(words, inside, own));
        }
        return Some(found(words, behind_framing(words), ""));
    }
    let mark = MARKS.iter().find(|mark| words.starts_with(**mark))?;
    let (before, inside) = match words.split_once(END_OF_PRIOR).filter(|_| *mark == PRIOR) {
        Some((before, after)) => {
            let own = before.split_once(']').map_or("", |(_, own)| own).trim();
            (own, after.split_once(']').map_or("", |(_, inside)| inside))
        }
        None => ("", words),
    };
    let (inside, after) = match inside.find(CLOSING) {
        Some(closing) => {
            let (inside, tail) = inside.split_at(closing);
            (inside, tail.find('\n').and_then(|end| tail.get(end..)).unwrap_or_default().trim_start())
        }
        None => (inside, ""),
    };
    // The framing is everything before the first heading; without headings it is the mark itself.
    let body = match inside.find("\n## ") {
        Some(at) => inside.get(at + 1..).unwrap_or_default(),
        None if inside.trim_start().starts_with('[') => {
            inside.split_once(']').map_or(inside, |(_, body)| body.trim_start_matches(':'))
        }
        None => inside,
    };
    let own = match (before, after) {
        ("", own) | (own, "") => Cow::Borrowed(own),
        (before, after) => Cow::Owned(format!("{before}\n\n{after}")),
    };
    Some(Record { own, ..found(words, body, "") })
}

/// A text that is a handoff from beginning to end.
pub(super) fn whole(text: &str) -> Record<'_> {
    found(text, text, "")
}

fn found<'t>(text: &'t str, body: &'t str, own: &'t str) -> Record<'t> {
    let (body, own) = (Cow::Borrowed(body.trim()), Cow::Borrowed(own.trim_start()));
    Record { before: "", text, body, own, maker: Maker::Other }
}

/// What stands inside a wrapper that opens near the beginning of a text, and behind it.
fn inside<'t>(text: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let start = text.find(&open).filter(|start| *start < FRAMING)? + open.len();
    let end = text.rfind(&close).filter(|end| *end >= start);
    let inside = text.get(start..end.unwrap_or(text.len()))?;
    Some((inside, end.and_then(|end| text.get(end + close.len()..)).unwrap_or_default()))
}

/// A summary without the sentences around it.
fn behind_framing(text: &str) -> &str {
    let body = match text.split_once('\n') {
        Some((_, body)) => body,
        // All on one line: the framing announces the rest, or is a sentence of its own.
        None => {
            let start = text.get(..text.floor_char_boundary(FRAMING)).unwrap_or_default();
            let end = start.find(": ").or_else(|| start.find(". ")).map_or(0, |at| at + 2);
            text.get(end..).unwrap_or_default()
        }
    };
    let end = GO_ON.iter().filter_map(|words| body.find(&format!("\n{words}"))).min();
    body.get(..end.unwrap_or(body.len())).unwrap_or_default()
}

/// Reads a foreign handoff: what it says about goal, rules, decisions and what is left comes under our headings, the
/// user's words that it lists become requests, and all the rest is told as what was known.
pub fn recall_foreign(body: &str) -> Vec<HandoffLine> {
    let mut reader = ForeignReader {
        place: Destination::Recap,
        lines: Vec::new(),
        recap: Vec::new(),
        requests: Vec::new(),
        item: String::new(),
    };
    let mut in_code = false;
    for line in body.lines() {
        let line = line.trim_end();
        in_code ^= line.trim_start().starts_with("```");
        match (!in_code).then(|| heading(line)).flatten() {
            Some((title, rest)) => {
                reader.end_item();
                reader.place = place_of(title, reader.place);
                reader.add(rest);
            }
            None => reader.read(line, in_code),
        }
    }
    reader.finish()
}

/// Where what a foreign section says belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Section(Section),
    /// The user's own words, one by one.
    Requests,
    /// What was known.
    Recap,
}

struct ForeignReader {
    place: Destination,
    lines: Vec<HandoffLine>,
    recap: Vec<String>,
    requests: Vec<String>,
    /// The item or paragraph that is being read.
    item: String,
}

impl ForeignReader {
    fn read(&mut self, line: &str, in_code: bool) {
        let words = line.trim();
        if words.is_empty() && !in_code {
            return self.end_item();
        }
        let is_nested = line.starts_with([' ', '\t']) && !self.item.is_empty() && self.item.len() < LONGEST_ITEM;
        if begins_item(words) && !is_nested && !in_code {
            self.end_item();
        }
        self.add(line);
    }

    fn add(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        if !self.item.is_empty() {
            self.item.push('\n');
        }
        self.item.push_str(if self.item.is_empty() { line.trim() } else { line });
    }

    fn end_item(&mut self) {
        let item = std::mem::take(&mut self.item);
        let words = item.trim();
        if says_nothing(words) {
            return;
        }
        match self.place {
            Destination::Section(Section::Goal) if self.has_goal() => self.recap.push(item),
            Destination::Section(Section::Goal) if words.len() > LONGEST_GOAL => {
                let start = words.get(..words.floor_char_boundary(LONGEST_GOAL)).unwrap_or_default();
                let cut = start.rsplit_once(char::is_whitespace).map_or(start, |(start, _)| start);
                self.lines.push(HandoffLine::Fact { section: Section::Goal, text: as_item(&format!("{cut} …")) });
                self.recap.push(item);
            }
            Destination::Section(section) => self.lines.push(HandoffLine::Fact { section, text: as_item(words) }),
            Destination::Requests => self.requests.push(unquoted(words).to_owned()),
            Destination::Recap => self.recap.push(item),
        }
    }

    fn has_goal(&self) -> bool {
        self.lines.iter().any(|line| matches!(line, HandoffLine::Fact { section: Section::Goal, .. }))
    }

    fn finish(mut self) -> Vec<HandoffLine> {
        self.end_item();
        let episode = |number: u32, words: String| HandoffLine::Episode {
            section: Section::CompletedActions,
            number,
            turns: None,
            words,
        };
        let mut number = 0;
        if !self.recap.is_empty() {
            number += 1;
            self.lines.push(episode(number, String::new()));
            for (at, item) in self.recap.into_iter().enumerate() {
                let (source, text) = (Source::Answer, as_item(item.trim()));
                self.lines.push(match at {
                    0 => HandoffLine::Step { title: RECAP.to_owned(), source, text },
                    _ => HandoffLine::Passage { source, text },
                });
            }
        }
        for words in self.requests {
            number += 1;
            self.lines.push(episode(number, words));
        }
        self.lines
    }
}

/// An item that grew longer is told in parts.
const LONGEST_ITEM: usize = 400;

/// A line that is a heading: its title, and what stands behind it on the same line.
fn heading(line: &str) -> Option<(&str, &str)> {
    let words = line.trim_start();
    if let Some(title) = words.strip_prefix('#') {
        return Some((title.trim_start_matches('#').trim(), ""));
    }
    // `<task_state>`, and what closes it.
    if let Some(tag) = words.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        let (name, rest) = tag;
        let is_name = !name.is_empty()
            && name
                .trim_start_matches('/')
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'));
        let rest = rest.strip_suffix(&format!("</{name}>")).unwrap_or(rest);
        return is_name.then_some((name, rest));
    }
    if line.starts_with([' ', '\t']) {
        return None;
    }
    // `1. Primary Request and Intent:`, `**Decisions**`, `Next steps:`
    let numbered = words.split_once(". ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let (is_numbered, title) = (numbered.is_some(), numbered.map_or(words, |(_, title)| title));
    let (is_bold, title) = (title.starts_with("**"), title.trim_start_matches("**"));
    let (title, rest) = title.split_once(':').unwrap_or((title, ""));
    let (title, rest) = (title.trim_end_matches("**").trim(), rest.trim_start_matches("**").trim());
    let ends = words.trim_end_matches("**").ends_with(':') || (is_bold && words.ends_with("**"));
    let is_short = title.len() <= LONGEST_TITLE && !title.is_empty() && !title.starts_with(['-', '*', '•']);
    (is_short && ends && (is_numbered || is_bold || rest.is_empty())).then_some((title, rest))
}

const LONGEST_TITLE: usize = 60;

/// Where a section belongs, by the words of its title. A heading below another that says nothing about its place stays
/// where it is.
fn place_of(title: &str, current: Destination) -> Destination {
    let title = title.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| title.contains(word));
    match () {
        () if has(&["user message", "user request", "user's message"]) => Destination::Requests,
        () if has(&["primary request", "goal", "objective"]) && !has(&["constraint"]) => {
            Destination::Section(Section::Goal)
        }
        () if has(&["constraint", "preference", "instruction", "user rule"]) => {
            Destination::Section(Section::Constraints)
        }
        () if has(&["decision"]) => Destination::Section(Section::KeyDecisions),
        () if has(&["pending", "next step", "next move", "remaining", "left to do", "to do", "task_state"]) => {
            Destination::Section(Section::RemainingWork)
        }
        // What closes a wrapper ends its section.
        () if title.starts_with('/') => Destination::Recap,
        () if has(&[
            "summary",
            "analysis",
            "progress",
            "done",
            "work",
            "file",
            "error",
            "problem",
            "concept",
            "knowledge",
            "state",
            "context",
            "action",
            "discover",
            "accomplish",
            "block",
            "detail",
            "question",
            "task",
        ]) =>
        {
            Destination::Recap
        }
        () => match current {
            Destination::Requests => Destination::Recap,
            current => current,
        },
    }
}

fn begins_item(words: &str) -> bool {
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    words.starts_with("- ")
        || words.starts_with("* ")
        || words.starts_with("• ")
        || (digits > 0 && words.get(digits..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") ")))
}

/// An item as our lists write it.
fn as_item(words: &str) -> String {
    format!("- {}", bare(words))
}

/// An item without its mark.
fn bare(words: &str) -> &str {
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = words.get(digits..).filter(|_| digits > 0);
    let rest = match numbered {
        Some(rest) => rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")),
        None => ["- ", "* ", "• "].iter().find_map(|mark| words.strip_prefix(mark)),
    };
    rest.unwrap_or(words)
}

/// The words of a user in a list, without what the list puts around them.
fn unquoted(words: &str) -> &str {
    let bare = bare(words);
    let inner = bare.strip_prefix('"').and_then(|bare| bare.strip_suffix('"'));
    inner.unwrap_or(bare).trim()
}

fn says_nothing(words: &str) -> bool {
    let bare = words.trim_start_matches(['-', '*', '•', ' ']).trim_end_matches('.');
    matches!(bare.to_lowercase().as_str(), "" | "none" | "(none)" | "n/a" | "nothing")
}
