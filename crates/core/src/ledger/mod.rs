//! The ledger: what can be known about folded messages without a model.
//!
//! Everything is an [`Entry`]: one line, or one short block, that belongs to a section and carries
//! the names it keeps alive. Which entries make it into a handoff is decided elsewhere, by value
//! per token; the ledger only gathers and values.

mod actions;
mod asks;
mod exits;
mod lines;
mod merge;
pub mod names;
mod prose;
mod todo;
mod tool;

pub(crate) use exits::exit_code;
pub use tool::{Act, Arguments, Call, understand};

use crate::handoff::{self, Section};
use crate::redact::Known;
use crate::transcript::{PartKind, Role, Transcript};
use lines::Lines;
use names::{NameKind, Names};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Only this much of the newest folded text is searched for lines worth quoting: recency rules what
/// is needed next, and the work stays bounded however long a conversation gets.
const QUOTABLE_BYTES: usize = 2 << 20;

/// Something that may stand in a handoff.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where it belongs.
    pub section: Section,
    /// The group under whose heading it stands; entries without one stand by themselves.
    pub group: Option<u32>,
    /// The message it comes from: entries are shown in this order.
    pub message: u32,
    /// What it says. Whole lines, never cut inside a fact.
    pub text: String,
    /// Names that it keeps.
    pub names: Vec<u32>,
    /// Value beside its names: facts that stand for more than the names in them.
    pub worth: f32,
    /// Who says it.
    pub by: Author,
}

/// Who wrote something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The ledger alone.
    Ledger,
    /// A model, with the ledger's facts merged in.
    Model,
}

/// A heading that lines share: a file, or a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Where it belongs.
    pub section: Section,
    /// What its heading says.
    pub title: String,
    /// The latest message that concerns it.
    pub message: u32,
}

/// Everything that was gathered.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What may be shown.
    pub entries: Vec<Entry>,
    /// The headings of grouped entries.
    pub groups: Vec<Group>,
    /// The value of each name, by its number.
    pub weights: Vec<f32>,
    /// The highest number that an action has.
    pub actions: u32,
    /// Secrets of the messages: a line taken out of its surroundings may not look like one any more.
    pub secrets: Known,
}

/// Gathers the ledger of the messages `folded` (in order).
pub fn gather(transcript: &Transcript<'_>, folded: &[usize], focus: Option<&str>) -> Ledger {
    let mut gathering = Gathering::new(transcript);
    let quotable = quotable_from(transcript, folded);
    gathering.previous_handoffs(folded);
    for &index in folded {
        gathering.message(index, index >= quotable);
        if let Some(message) = transcript.messages.get(index) {
            gathering.ledger.secrets.learn(transcript.raw(message.span));
        }
    }
    gathering.finish(folded, focus)
}

/// The first folded message whose lines are searched.
fn quotable_from(transcript: &Transcript<'_>, folded: &[usize]) -> usize {
    let mut bytes = 0;
    for &index in folded.iter().rev() {
        bytes += transcript.messages.get(index).map_or(0, |message| message.span.len());
        if bytes > QUOTABLE_BYTES {
            return index + 1;
        }
    }
    0
}

/// What is known about a name.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// The last message that has it.
    last: u32,
    /// In how many messages it is.
    messages: u32,
    /// Whether the assistant wrote it: in a call, an edit or its own words.
    written: bool,
    /// Whether a person wrote it.
    asked: bool,
}

/// Who a text comes from; it decides what its names are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    User,
    Assistant,
    Tool,
}

/// A ledger in the making.
struct Gathering<'t, 'a> {
    transcript: &'t Transcript<'a>,
    ledger: Ledger,
    names: Names,
    usage: Vec<Usage>,
    lines: Lines,
    files: FxHashMap<String, u32>,
    record: actions::Record,
}

impl<'t, 'a> Gathering<'t, 'a> {
    fn new(transcript: &'t Transcript<'a>) -> Gathering<'t, 'a> {
        Gathering {
            transcript,
            ledger: Ledger::default(),
            names: Names::default(),
            usage: Vec::new(),
            lines: Lines::default(),
            files: FxHashMap::default(),
            record: actions::Record::default(),
        }
    }

    fn message(&mut self, index: usize, quotable: bool) {
        let transcript = self.transcript;
        let Some(message) = transcript.messages.get(index) else {
            return;
        };
        for part_index in message.parts.start as usize..message.parts.end as usize {
            let Some(part) = transcript.parts.get(part_index) else {
                continue;
            };
            match (part.kind, message.role) {
                (PartKind::Text, Role::User) => self.ask(index, &handoff::own_words(transcript, part)),
                (PartKind::Text, Role::Assistant) => {
                    let words = handoff::own_words(transcript, part);
                    self.reply(index, &words);
                    if quotable {
                        self.quote(index, &words, Voice::Assistant, None);
                    }
                }
                (PartKind::Sealed | PartKind::Reasoning, _) if quotable => {
                    if let crate::transcript::Content::Text(_) = part.content {
                        self.quote(index, &transcript.words(part), Voice::Assistant, None);
                    }
                }
                (PartKind::ToolCall, _) => self.call(index, part_index, quotable),
                (PartKind::ToolResult, _) => self.result(index, part_index, quotable),
                _ => {}
            }
        }
    }

    /// Notes the names of a text and returns their numbers.
    fn note_names(&mut self, index: usize, text: &str, voice: Voice) -> Vec<u32> {
        let mut found = Vec::new();
        names::scan(text, |name, kind| {
            let id = self.names.intern(name, kind);
            if self.usage.len() <= id as usize {
                self.usage.resize(id as usize + 1, Usage { last: u32::MAX, ..Usage::default() });
            }
            if let Some(usage) = self.usage.get_mut(id as usize) {
                if usage.last != index as u32 {
                    usage.messages += 1;
                    usage.last = index as u32;
                }
                usage.written |= voice == Voice::Assistant;
                usage.asked |= voice == Voice::User;
            }
            if !found.contains(&id) {
                found.push(id);
            }
        });
        found
    }

    /// Adds an entry whose names are those of its text.
    fn entry(&mut self, index: usize, section: Section, text: impl Into<String>, worth: f32, voice: Voice) {
        let text = text.into();
        let names = self.note_names(index, &text, voice);
        self.ledger.entries.push(Entry {
            section,
            group: None,
            message: index as u32,
            text,
            names,
            worth,
            by: Author::Ledger,
        });
    }

    /// The group of a file; every mention moves it forward.
    fn file_group(&mut self, index: usize, path: &str) -> u32 {
        let groups = &mut self.ledger.groups;
        let group = *self.files.entry(path.to_owned()).or_insert_with(|| {
            groups.push(Group { section: Section::RelevantFiles, title: path.to_owned(), message: 0 });
            groups.len() as u32 - 1
        });
        if let Some(group) = groups.get_mut(group as usize) {
            group.message = index as u32;
        }
        group
    }

    fn finish(mut self, folded: &[usize], focus: Option<&str>) -> Ledger {
        self.close_asks();
        self.close_actions(folded);
        self.title_files();
        self.close_lines();
        let first = folded.first().copied().unwrap_or_default() as f32;
        let last = folded.last().copied().unwrap_or_default() as f32;
        let age = |message: u32| ((message as f32 - first) / (last - first).max(1.0)).clamp(0.0, 1.0);
        let focused = focus.map(|focus| self.focused(focus)).unwrap_or_default();
        self.ledger.weights = self
            .usage
            .iter()
            .enumerate()
            .map(|(id, usage)| {
                let weight = weight(self.names.kind(id as u32), usage, age(usage.last));
                if focused.contains(&(id as u32)) { weight * FOCUS_GAIN } else { weight }
            })
            .collect();
        self.ledger
    }

    /// Names that belong to a focus topic: those of the topic, and those that share a line with them.
    fn focused(&self, focus: &str) -> Vec<u32> {
        let mut topic = Vec::new();
        names::scan(focus, |name, _| topic.extend(self.names.get(name)));
        let mut near: Vec<u32> = self
            .ledger
            .entries
            .iter()
            .filter(|entry| entry.names.iter().any(|name| topic.contains(name)))
            .flat_map(|entry| entry.names.iter().copied())
            .chain(topic.iter().copied())
            .collect();
        near.sort_unstable();
        near.dedup();
        near
    }
}

/// A focus topic gets about two thirds of a handoff when its names weigh this much more.
const FOCUS_GAIN: f32 = 6.0;

/// What a name is worth: how likely the agent is to need it again.
fn weight(kind: NameKind, usage: &Usage, age: f32) -> f32 {
    let kind = match kind {
        NameKind::Path => 2.0,
        NameKind::Identifier => 1.6,
        NameKind::Hash => 1.2,
        NameKind::Word => 0.12,
    };
    let recency = 0.35 + 0.65 * age * age;
    let frequency = 1.0 + (usage.messages as f32).ln();
    let written = if usage.written { 1.8 } else { 1.0 };
    let asked = if usage.asked { 1.5 } else { 1.0 };
    kind * recency * frequency * written * asked
}
