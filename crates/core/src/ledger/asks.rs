//! What people asked, and what they got: user messages verbatim, the reply that answered each.

use super::phrases::Phrases;
use super::{Gathering, Voice};
use crate::handoff::{self, Section};
use crate::reduce::lines;
use crate::transcript::PartKind;
use crate::zone::last_request;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A longer message of a user is cut in the middle: its beginning asks, its end insists.
const LONGEST_ASK: usize = 2_400;
/// How much of the reply is quoted beside the ask.
const LONGEST_ANSWER: usize = 240;
/// What it is all for is told before anything else.
const GOAL_WORTH: f32 = 800.0;
/// Older asks compete like other facts; the newest have a share of the handoff to themselves.
const ASK_WORTH: f32 = 12.0;
/// A sentence that sets a limit outlives the request that it came with.
const CONSTRAINT_WORTH: f32 = 60.0;

/// Words that set limits or wishes.
static LIMITS: Phrases = Phrases::new(|| {
    Phrases::finder(&[
        "never ",
        "always ",
        "must ",
        "don't ",
        "do not ",
        "should ",
        "only ",
        "prefer",
        "avoid ",
        "make sure",
        "ensure",
        "keep ",
        "without ",
        "instead of",
        "no more than",
        "at least",
        "at most",
        "required",
        "important",
        "not allowed",
        "please use",
        "stick to",
    ])
});

/// An ask that waits for its answer.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) message: usize,
    pub(super) text: String,
    pub(super) answer: Option<String>,
}

impl Gathering<'_, '_> {
    /// A user message.
    pub(super) fn ask(&mut self, index: usize, words: &str) {
        let words = spoken(words);
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        self.record.asks.push(Ask { message: index, text: middle_cut(words), answer: None });
        // A long text is pasted material: what it forbids is not what the user forbids.
        let own = words.get(..words.floor_char_boundary(LONGEST_ASK)).unwrap_or_default();
        // Few asks set limits; the others are not taken apart.
        if !LIMITS.are_in(own) {
            return;
        }
        for sentence in sentences(own) {
            if sentence.len() <= 400 && LIMITS.are_in(sentence) {
                self.entry(index, Section::Constraints, format!("- {sentence}"), CONSTRAINT_WORTH, Voice::User);
            }
        }
    }

    /// Words of the assistant: the answer to the latest ask, and decisions.
    pub(super) fn reply(&mut self, index: usize, words: &str) {
        if words.trim().is_empty() {
            return;
        }
        if let Some(ask) = self.record.asks.last_mut() {
            // The last words before the next ask are the answer; earlier ones announce work.
            ask.answer = first_line(words);
        }
        self.record.last_words = first_line(words);
        self.decisions(index, words);
    }

    /// Sorts the asks: answered ones, and those that still wait.
    pub(super) fn close_asks(&mut self) {
        let asks = std::mem::take(&mut self.record.asks);
        // A request that was carried is told by the handoff and by itself; once is enough.
        let asks = latest_of_each(asks);
        let first = self.first_request(&asks);
        let active = last_request(self.transcript);
        for ask in asks {
            let Ask { message, text, answer } = ask;
            if Some(message) == first {
                // The active task stands beside the handoff in full.
                if Some(message) == active {
                    let opening = first_line(&text).unwrap_or_default();
                    self.entry(message, Section::Goal, format!("User: {opening}"), GOAL_WORTH, Voice::User);
                    continue;
                }
                // A handoff that has no room for all of it still says what it is for.
                let (opening, rest) = match text.split_once('\n') {
                    Some((opening, rest)) if opening.trim().len() > 2 => (opening, rest.trim_end()),
                    _ => (text.as_str(), ""),
                };
                self.entry(message, Section::Goal, format!("User: {opening}"), GOAL_WORTH, Voice::User);
                if !rest.trim().is_empty() {
                    self.entry(message, Section::Goal, rest, GOAL_WORTH, Voice::User);
                }
                continue;
            }
            if Some(message) == active {
                continue;
            }
            match answer {
                Some(answer) => {
                    let text = format!("- User: {text}\n  → {answer}");
                    self.entry(message, Section::ResolvedQuestions, text, ASK_WORTH, Voice::User);
                }
                None => self.entry(message, Section::PendingAsks, format!("- User: {text}"), ASK_WORTH, Voice::User),
            }
        }
    }
}

/// Of asks with the same words the last one, with the last answer that any of them got.
fn latest_of_each(asks: Vec<Ask>) -> Vec<Ask> {
    let mut latest: FxHashMap<String, usize> = FxHashMap::default();
    let mut kept: Vec<Option<Ask>> = Vec::with_capacity(asks.len());
    for mut ask in asks {
        let older = latest.insert(ask.text.clone(), kept.len());
        if let Some(known) = older.and_then(|place| kept.get_mut(place)).and_then(Option::take) {
            ask.answer = ask.answer.or(known.answer);
        }
        kept.push(Some(ask));
    }
    kept.into_iter().flatten().collect()
}

impl Gathering<'_, '_> {
    /// The ask that all of it began with, if it is among these and no earlier handoff has told it.
    fn first_request(&mut self, asks: &[Ask]) -> Option<usize> {
        if self.ledger.entries.iter().any(|entry| entry.section == Section::Goal) {
            return None;
        }
        let first = asks.first().map(|ask| ask.message);
        let before = first.unwrap_or(self.transcript.messages.len());
        let live =
            (0..before).find(|&index| self.transcript.speaks(index) && !handoff::is_handoff(self.transcript, index));
        let Some(live) = live else {
            return first;
        };
        // It stands above as a message of its own; a line of it is enough here.
        let words: Vec<_> = self
            .transcript
            .parts_at(live)
            .iter()
            .filter(|part| part.kind == PartKind::Text)
            .map(|part| spoken(&self.transcript.words(part)))
            .collect();
        if let Some(line) = first_line(&words.join("\n")) {
            self.entry(live, Section::Goal, format!("User: {line}"), GOAL_WORTH, Voice::User);
        }
        None
    }
}

/// Blocks that clients write into the user's turn; what a user typed into one of them stays.
const CLIENT_BLOCKS: [&str; 10] = [
    "system-reminder",
    "command-message",
    "command-name",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "environment_details",
];
/// How clients begin texts of their own in the user's turn.
const CLIENT_OPENINGS: [&str; 3] =
    ["Base directory for this skill:", "[Request interrupted", "Caveat: The messages below"];

/// The words of a user without what clients slip in between.
pub(crate) fn spoken(words: &str) -> String {
    if let Some(opening) = CLIENT_OPENINGS.iter().find(|opening| words.trim_start().starts_with(**opening)) {
        let first = words.trim_start().lines().next().unwrap_or_default();
        return if *opening == "Base directory for this skill:" {
            format!("[skill text: {first}]")
        } else {
            String::new()
        };
    }
    if !words.contains('<') {
        return words.to_owned();
    }
    let mut kept = words.to_owned();
    for block in CLIENT_BLOCKS {
        kept = without_block(&kept, block);
    }
    kept.replace("<command-args>", "").replace("</command-args>", "")
}

fn without_block(words: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = words;
    let mut kept = String::with_capacity(words.len());
    while let Some((before, after)) = rest.split_once(&open) {
        kept.push_str(before);
        rest = after.split_once(&close).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// A long text without its middle, cut at line or word boundaries.
pub(crate) fn middle_cut(text: &str) -> String {
    if text.len() <= LONGEST_ASK {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(LONGEST_ASK * 2 / 3)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - LONGEST_ASK / 3)..).unwrap_or_default();
    let head = head.rsplit_once(char::is_whitespace).map_or(head, |(head, _)| head);
    let tail = tail.split_once(char::is_whitespace).map_or(tail, |(_, tail)| tail);
    let gone = text.len() - head.len() - tail.len();
    format!("{head}\n[… {gone} characters …]\n{tail}")
}

/// The first line that says something, with what it announces, cut to a quotable length.
fn first_line(words: &str) -> Option<String> {
    let mut all = words.lines().map(str::trim).filter(|line| line.len() > 2);
    let mut lines = all.clone().filter(|line| !is_markup(line));
    let first = lines.next().or_else(|| all.next())?;
    let line = match lines.next().filter(|_| first.trim_end_matches('*').ends_with(':')) {
        Some(announced) => Cow::Owned(format!("{first} {announced}")),
        None => Cow::Borrowed(first),
    };
    Some(match line.len() > LONGEST_ANSWER {
        true => format!("{}…", line.get(..line.floor_char_boundary(LONGEST_ANSWER)).unwrap_or_default()),
        false => line.into_owned(),
    })
}

/// Headings, rules and fences.
fn is_markup(line: &str) -> bool {
    line.starts_with('#')
        || line.starts_with("```")
        || line.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_'))
}

/// The sentences and list items of a text.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    lines(text)
        .flat_map(pieces)
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '•']).trim())
        .filter(|sentence| sentence.len() > 8)
}

/// A line in pieces, each with the marks that end it.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let end = bytes.iter().enumerate().find_map(|(at, byte)| match byte {
            b';' | b'!' | b'?' => Some(at + 1),
            b'.' if bytes.get(at + 1) == Some(&b' ') => Some(at + 2),
            _ => None,
        });
        let (piece, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
