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
mod need;
mod phrases;
mod prose;
mod todo;
mod tool;

pub(crate) use asks::spoken;
pub(crate) use exits::exit_code;
pub use tool::{Act, Arguments, Call, understand};

use crate::handoff::{self, Section};
use crate::redact::Known;
use crate::reduce;
use crate::transcript::{PartKind, Role, Transcript};
use lines::Lines;
use names::Names;
use need::Need;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::borrow::Cow;

/// Only this much of the newest folded text is searched for lines worth quoting: recency rules what
/// is needed next, and the work stays bounded however long a conversation gets.
const QUOTABLE_BYTES: usize = 3 << 19;

/// Of older messages only those of this size are told: what people say and short commands. Large ones are outputs, of
/// which nothing is quoted.
const TALK_BYTES: usize = 2 << 10;

/// Something that may stand in a handoff. What it says and which names it keeps is held by the
/// [`Ledger`]: there are tens of thousands of entries, and few of them are ever shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Where it belongs.
    pub section: Section,
    /// The group under whose heading it stands; entries without one stand by themselves.
    pub group: Option<u32>,
    /// The message it comes from: entries are shown in this order.
    pub message: u32,
    /// Value beside its names: facts that stand for more than the names in them.
    pub worth: f32,
    /// Who says it.
    pub by: Author,
    text: Stretch,
    names: Stretch,
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

/// A stretch of one of the ledger's stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stretch {
    start: u32,
    end: u32,
}

impl Stretch {
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
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
    /// The names in its heading.
    names: Stretch,
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
    /// Names that stay alive in messages beside the handoff.
    pub alive: Vec<u32>,
    /// The highest number that an action has.
    pub actions: u32,
    /// Secrets of the messages: a line taken out of its surroundings may not look like one any more.
    pub secrets: Known,
    /// The texts of all entries, one after another.
    words: String,
    /// The names of all entries, one after another.
    kept: Vec<u32>,
}

impl Ledger {
    /// What an entry says. Whole lines, never cut inside a fact.
    pub fn text(&self, entry: &Entry) -> &str {
        self.words.get(entry.text.range()).unwrap_or_default()
    }

    /// The names that an entry keeps.
    pub fn names(&self, entry: &Entry) -> &[u32] {
        self.kept.get(entry.names.range()).unwrap_or_default()
    }

    /// The names that the heading of a group keeps.
    pub fn names_of_heading(&self, group: &Group) -> &[u32] {
        self.kept.get(group.names.range()).unwrap_or_default()
    }

    /// Adds an entry that keeps no names: what a model says about the work.
    pub fn say(&mut self, section: Section, message: u32, text: &str, worth: f32) {
        let text = self.store(text);
        self.entries.push(Entry {
            section,
            group: None,
            message,
            worth,
            by: Author::Model,
            text,
            names: Stretch::default(),
        });
    }

    fn store(&mut self, text: &str) -> Stretch {
        let start = self.words.len() as u32;
        self.words.push_str(text);
        Stretch { start, end: self.words.len() as u32 }
    }
}

/// Gathers the ledger of the messages `folded` (in order).
pub fn gather(transcript: &Transcript<'_>, folded: &[usize], live: &[usize], focus: Option<&str>) -> Ledger {
    let mut gathering = Gathering::new(transcript);
    let quotable = quotable_from(transcript, folded);
    gathering.previous_handoffs(folded);
    for &index in folded {
        gathering.message(index, index >= quotable);
        if let Some(message) = transcript.messages.get(index)
            && (index >= quotable || message.span.len() <= TALK_BYTES)
        {
            gathering.ledger.secrets.learn(transcript.raw(message.span));
        }
    }
    gathering.note_alive(live);
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
    /// The last message that has it; [`NOWHERE`] before the first.
    last: u32,
    /// In how many messages it is.
    messages: u32,
    /// In how many messages the assistant wrote it: in a call, an edit or its own words.
    written: u32,
    /// Whether a person wrote it.
    asked: bool,
}

const NOWHERE: u32 = u32::MAX;

impl Usage {
    fn note(&mut self, index: usize, voice: Voice) {
        let index = index as u32;
        let by_agent = voice == Voice::Assistant;
        // Entries that sum up a stretch are noted at its end, with the message that they are about.
        let is_later = self.last == NOWHERE || index > self.last;
        if is_later {
            self.messages += 1;
            self.last = index;
        }
        self.written += u32::from(by_agent && (is_later || self.written == 0));
        self.asked |= voice == Voice::User;
    }
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
    /// Groups that more than one message adds to.
    titled: FxHashMap<(Section, String), u32>,
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
            titled: FxHashMap::default(),
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
                        self.quote_words(index, &words);
                    }
                }
                (PartKind::Sealed | PartKind::Reasoning, _) if quotable => {
                    if let crate::transcript::Content::Text(_) = part.content {
                        self.quote_words(index, &transcript.words(part));
                    }
                }
                (PartKind::ToolCall, _) => self.call(index, part_index, quotable),
                (PartKind::ToolResult, _) => self.result(index, part_index, quotable),
                _ => {}
            }
        }
    }

    fn quote_words(&mut self, index: usize, words: &str) {
        let group = self.shared_group(index, WORDS);
        self.quote(index, words, Voice::Assistant, Some(group));
    }

    /// Notes the names of a text; each is in the result once.
    fn note_names(&mut self, index: usize, text: &str, voice: Voice) -> Stretch {
        let Gathering { names, usage, ledger: Ledger { kept, .. }, .. } = self;
        let start = kept.len();
        names::scan(text, |name, kind| {
            let id = names.intern(name, kind);
            if usage.len() <= id as usize {
                usage.resize(id as usize + 1, Usage { last: NOWHERE, ..Usage::default() });
            }
            if let Some(usage) = usage.get_mut(id as usize) {
                usage.note(index, voice);
            }
            if !kept.get(start..).unwrap_or_default().contains(&id) {
                kept.push(id);
            }
        });
        Stretch { start: start as u32, end: kept.len() as u32 }
    }

    /// Notes names that a text has had before.
    fn note_again(&mut self, index: usize, names: Stretch, voice: Voice) {
        for &id in self.ledger.kept.get(names.range()).unwrap_or_default() {
            if let Some(usage) = self.usage.get_mut(id as usize) {
                usage.note(index, voice);
            }
        }
    }

    /// Adds an entry whose names are those of its text.
    fn entry(&mut self, index: usize, section: Section, text: impl AsRef<str>, worth: f32, voice: Voice) {
        let text = text.as_ref();
        let names = self.note_names(index, text, voice);
        let text = self.ledger.store(text);
        self.ledger.entries.push(Entry {
            section,
            group: None,
            message: index as u32,
            worth,
            by: Author::Ledger,
            text,
            names,
        });
    }

    /// The group of a file; every mention moves it forward.
    fn file_group(&mut self, index: usize, path: &str) -> u32 {
        self.group(index, Section::RelevantFiles, path)
    }

    /// A group of lines that belong to no file and no command of their own.
    fn shared_group(&mut self, index: usize, title: &str) -> u32 {
        self.group(index, Section::CriticalContext, title)
    }

    fn group(&mut self, index: usize, section: Section, title: &str) -> u32 {
        let groups = &mut self.ledger.groups;
        let group = *self.titled.entry((section, title.to_owned())).or_insert_with(|| {
            groups.push(Group { section, title: title.to_owned(), message: 0, names: Stretch::default() });
            groups.len() as u32 - 1
        });
        if let Some(group) = groups.get_mut(group as usize) {
            group.message = index as u32;
        }
        group
    }

    /// Names in messages that stay need no second place.
    fn note_alive(&mut self, live: &[usize]) {
        for &index in live {
            for part in self.transcript.parts_at(index) {
                let words = self.transcript.words(part);
                // Arguments are no envelope: a path beside a long content counts.
                let said =
                    if part.kind == PartKind::ToolResult { reduce::printed(&words) } else { Cow::Borrowed(&*words) };
                names::scan(&said, |name, _| self.ledger.alive.extend(self.names.get(name)));
            }
        }
        self.ledger.alive.sort_unstable();
        self.ledger.alive.dedup();
    }

    fn finish(mut self, folded: &[usize], focus: Option<&str>) -> Ledger {
        self.close_asks();
        self.close_actions(folded);
        self.title_files();
        self.close_lines();
        let need = Need::of(self.transcript, folded);
        let focused = focus.map(|focus| self.focused(focus)).unwrap_or_default();
        self.ledger.weights = self
            .usage
            .iter()
            .enumerate()
            .map(|(id, usage)| {
                let weight = need.weight(self.names.kind(id as u32), usage);
                if focused.binary_search(&(id as u32)).is_ok() { weight * FOCUS_GAIN } else { weight }
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
            .map(|entry| self.ledger.names(entry))
            .filter(|names| names.iter().any(|name| topic.contains(name)))
            .flat_map(|names| names.iter().copied())
            .chain(topic.iter().copied())
            .collect();
        near.sort_unstable();
        near.dedup();
        near
    }
}

/// The headings of lines that belong to no file and no command of their own.
const WORDS: &str = "from the assistant's words";
const CALLS: &str = "from its calls";

/// A focus topic gets about two thirds of a handoff when its names weigh this much more.
const FOCUS_GAIN: f32 = 6.0;
