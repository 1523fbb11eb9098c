//! The ledger: what can be known about folded messages without a model.
//!
//! Its backbone is the conversation itself, in [`Episode`]s: a request, the work that followed, the answer. All of it is
//! cut into [`Entry`]s, passages that can be told alone: a paragraph, a list item, a few lines of a change or of an
//! output. Each carries its terms, so that a handoff can choose the passages that together tell most; that choice is
//! made elsewhere. State, rules and what is left to do are entries of their own sections.

mod assistant;
mod code;
mod corrections;
mod diff;
mod episodes;
mod exits;
mod goal;
pub mod letters;
pub mod names;
mod paragraphs;
mod pins;
mod previous;
mod reply;
mod root;
mod rules;
mod sentences;
mod shell;
mod speech;
mod state;
pub mod statement;
mod terms;
mod todo;
mod tool;
mod weights;
mod work;

pub use crate::inserted::Source;
pub(crate) use episodes::REQUEST_BESIDE;
pub(crate) use exits::exit_code;
pub(crate) use goal::GOAL_BELOW;
pub(crate) use pins::PIN_WORTH;
pub use pins::{Held, HeldKind, LONGEST_PIN, PinOrder, held_in};
pub(crate) use reply::offered;
pub(crate) use speech::spoken;
pub use statement::Statement;
pub use tool::{Act, Arguments, Call, understand, understand_with};
pub use weights::{SourceWeight, Weights};

use crate::inserted::{self, Section};
use foldline_redact::Known;
use foldline_reduce as reduce;
use foldline_transcript::edit::Span;
use foldline_transcript::{Content, Message, Part, PartKind, Role, Transcript};
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::Serialize;
use std::borrow::Cow;
use std::hash::BuildHasher;
use terms::{Terms, Voice};

/// Only this much of the newest folded text is searched for passages of outputs: recency rules what is needed next, and
/// the work stays bounded however long a conversation gets.
const QUOTABLE_BYTES: usize = 3 << 18;
/// A sentence of a user that is longer is not said twice, but pasted twice.
const LONG_SENTENCE: usize = 80;
/// Calls of so many older messages are still told, and how commands ended: what older ones say of the state has been
/// replaced, and there is no room for them.
const CALLS_READ: usize = 1_000;
/// Of older messages only texts of this size are told: what people say and short commands.
const TALK_BYTES: usize = 2 << 10;

/// Something that may stand in a handoff. What it says and which terms it has is held by the [`Ledger`]: there are tens
/// of thousands of entries, and few of them are ever shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Where it belongs.
    pub section: Section,
    /// What it stands under; entries without a group stand by themselves.
    pub group: Option<u32>,
    /// The message it comes from.
    pub message: u32,
    /// Where it comes from, for passages; `None` for facts, which are worth what they are worth.
    pub source: Option<Source>,
    /// Value beside its terms.
    pub worth: f32,
    /// How much its terms count.
    pub counts: f32,
    /// Who says it.
    pub by: Author,
    /// Whether it goes on in the paragraph of the entry before it.
    pub joined: bool,
    /// For sentences of the user, which of [`Ledger::statements`] says how likely it lays something down.
    statement: Option<u32>,
    text: Stretch,
    terms: Stretch,
}

impl Entry {
    /// An entry of the ledger's own that says nothing yet.
    fn new(section: Section, index: usize, worth: f32) -> Entry {
        Entry {
            section,
            group: None,
            message: index as u32,
            source: None,
            worth,
            counts: 1.0,
            by: Author::Ledger,
            joined: false,
            statement: None,
            text: Stretch::default(),
            terms: Stretch::default(),
        }
    }
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

/// A request and what followed it, up to the next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Its number in the whole conversation, counted from 1.
    pub number: u32,
    /// Its first and last message, counted from 1 at the first that its fold takes away.
    pub turns: Option<(u32, u32)>,
    /// Whether this fold takes it away, and not an earlier one.
    pub is_new: bool,
}

/// What passages stand under: a request, an answer, a call, a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Where it belongs.
    pub section: Section,
    /// What it is.
    pub kind: GroupKind,
    /// What its heading says.
    pub title: String,
    /// The latest message that concerns it.
    pub message: u32,
    /// The episode, by its place in the ledger.
    pub episode: u32,
    /// The terms of its heading.
    terms: Stretch,
}

/// What a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// The request that an episode begins with.
    Request,
    /// Something that was said or done in an episode.
    Step,
    /// What a model says about an episode.
    InShort,
    /// A file.
    File,
}

/// Everything that was gathered.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What may be shown.
    pub entries: Vec<Entry>,
    /// What entries stand under.
    pub groups: Vec<Group>,
    /// The episodes in order.
    pub episodes: Vec<Episode>,
    /// The value of each term, by its number.
    pub values: Vec<f32>,
    /// Terms that stand in messages beside the handoff.
    pub alive: Vec<u32>,
    /// The folder that paths are relative to; empty when there is none.
    pub root: String,
    /// The handles of earlier folds with the episodes they hold, as they were written.
    pub earlier: Vec<String>,
    /// Secrets of the messages: a line taken out of its surroundings may not look like one any more.
    pub secrets: Known,
    /// The number of the newest message.
    pub newest: u32,
    /// Whether nothing was done but talking.
    pub is_chat: bool,
    /// The request that the goal quotes.
    pub(crate) goal: Option<u32>,
    /// The weights that were in force.
    pub weights: Weights,
    /// Sentences of the user.
    pub statements: Vec<Statement>,
    /// The texts of all entries, one after another.
    words: String,
    /// The terms of all entries, one after another.
    kept: Vec<u32>,
}

impl Ledger {
    /// What an entry says.
    pub fn text(&self, entry: &Entry) -> &str {
        self.words.get(entry.text.range()).unwrap_or_default()
    }

    /// What an entry says as a handoff shows it: paths relative to the root, except in what people said.
    pub fn shown(&self, entry: &Entry) -> Cow<'_, str> {
        match entry.source {
            Some(Source::User | Source::Pasted) => Cow::Borrowed(self.text(entry)),
            _ => self.relative(self.text(entry)),
        }
    }

    /// A text with paths relative to the root.
    pub fn relative<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.root.is_empty() || !text.contains(&self.root) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace(&format!("{}/", self.root), ""))
    }

    /// How likely a sentence of the user lays something down.
    pub fn statement(&self, entry: &Entry) -> Option<&Statement> {
        self.statements.get(entry.statement? as usize)
    }

    /// The terms of an entry.
    pub fn terms(&self, entry: &Entry) -> &[u32] {
        self.kept.get(entry.terms.range()).unwrap_or_default()
    }

    /// The terms of a group's heading.
    pub fn heading_terms(&self, group: &Group) -> &[u32] {
        self.kept.get(group.terms.range()).unwrap_or_default()
    }

    /// Adds what a model says about the work.
    pub fn say(&mut self, section: Section, message: u32, text: &str, worth: f32) {
        let text = self.store(text);
        self.entries.push(Entry { by: Author::Model, text, ..Entry::new(section, message as usize, worth) });
    }

    /// Adds what a model says about the episode with this number; false when there is none.
    pub fn say_of(&mut self, number: u32, text: &str, worth: f32) -> bool {
        let Some(episode) = self.episodes.iter().rposition(|episode| episode.number == number) else {
            return false;
        };
        let group = self.groups.len() as u32;
        self.groups.push(Group {
            section: Section::CompletedActions,
            kind: GroupKind::InShort,
            title: inserted::IN_SHORT.to_owned(),
            message: self.newest,
            episode: episode as u32,
            terms: Stretch::default(),
        });
        self.say(Section::CompletedActions, self.newest, text, worth);
        if let Some(entry) = self.entries.last_mut() {
            entry.group = Some(group);
        }
        true
    }

    /// The requests by number, each with its first words.
    pub fn requests(&self) -> Vec<(u32, &str)> {
        let mut found: Vec<(u32, &str)> = Vec::new();
        for entry in &self.entries {
            let group = entry.group.and_then(|group| self.groups.get(group as usize));
            let episode = group
                .filter(|group| group.kind == GroupKind::Request)
                .and_then(|group| self.episodes.get(group.episode as usize));
            if let Some(episode) = episode.filter(|one| found.last().is_none_or(|(last, _)| *last != one.number)) {
                found.push((episode.number, self.text(entry)));
            }
        }
        found
    }

    fn store(&mut self, text: &str) -> Stretch {
        let start = self.words.len() as u32;
        self.words.push_str(text);
        Stretch { start, end: self.words.len() as u32 }
    }
}

/// What the ledger is gathered from.
#[derive(Clone, Copy, Debug)]
pub struct Stretches<'s> {
    /// The messages that go, in order.
    pub folded: &'s [usize],
    /// The messages that stay beside the handoff.
    pub live: &'s [usize],
}

/// What somebody wants of a ledger.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'w> {
    /// What the user cares about most.
    pub focus: Option<&'w str>,
    /// What must stay: texts, and patterns with `*` for sentences of the user.
    pub pins: &'w [String],
    /// How passages are weighed against each other.
    pub weights: &'w Weights,
}

/// Gathers the ledger of folded messages.
pub fn gather<'t>(transcript: &'t Transcript<'_>, stretches: Stretches<'t>, wishes: Wishes<'t>) -> Ledger {
    let mut gathering = Gathering::new(transcript, stretches, wishes);
    // What stood in front of the first handoff, in the head, came before all that it tells.
    let first = stretches.folded.iter().position(|&index| inserted::is_handoff(transcript, index)).unwrap_or_default();
    let (before, after) = stretches.folded.split_at(first);
    if before.is_empty() {
        gathering.open_request();
    }
    gathering.talk.is_before_handoff = true;
    before.iter().for_each(|&index| gathering.message(index));
    gathering.talk.is_before_handoff = false;
    gathering.previous_handoffs();
    after.iter().for_each(|&index| gathering.message(index));
    gathering.finish()
}

/// The first folded message whose outputs are searched.
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

fn calls(transcript: &Transcript<'_>, index: usize) -> bool {
    transcript.parts_at(index).iter().any(|part| part.kind == PartKind::ToolCall)
}

/// A ledger in the making.
struct Gathering<'t, 'a> {
    transcript: &'t Transcript<'a>,
    stretches: Stretches<'t>,
    wishes: Wishes<'t>,
    weights: &'t Weights,
    ledger: Ledger,
    terms: Terms,
    /// Messages from here on are told with their outputs.
    quotable: usize,
    /// Whether nothing is done but talking: then what is said is told by sentences.
    is_chat: bool,
    /// For each folded message, whether the assistant's words in it are the last before the user speaks again.
    closing: Vec<bool>,
    /// Where each passage stands that was told last, by its text: the newest copy stays.
    newest: FxHashMap<u64, usize>,
    /// The files that groups are about.
    files: FxHashMap<String, u32>,
    record: state::Record,
    work: work::Work,
    talk: episodes::Talk,
    /// What people pinned in the conversation.
    pins: Vec<String>,
}

impl<'t, 'a> Gathering<'t, 'a> {
    fn new(transcript: &'t Transcript<'a>, stretches: Stretches<'t>, wishes: Wishes<'t>) -> Gathering<'t, 'a> {
        Gathering {
            transcript,
            stretches,
            wishes,
            weights: wishes.weights,
            ledger: Ledger { newest: stretches.folded.last().map_or(0, |&last| last as u32), ..Ledger::default() },
            terms: Terms::default(),
            quotable: quotable_from(transcript, stretches.folded),
            is_chat: !stretches.folded.iter().any(|&index| calls(transcript, index)),
            closing: assistant::closing_words(transcript, stretches.folded),
            newest: FxHashMap::default(),
            files: FxHashMap::default(),
            record: state::Record::default(),
            work: work::Work::default(),
            talk: episodes::Talk::default(),
            pins: Vec::new(),
        }
    }

    fn message(&mut self, index: usize) {
        let transcript = self.transcript;
        let Some(message) = transcript.messages.get(index) else {
            return;
        };
        let quotable = index >= self.quotable;
        if quotable || message.span.len() <= TALK_BYTES {
            self.learn_secrets(message);
        }
        self.resume_carried(index);
        for part_index in message.parts.start as usize..message.parts.end as usize {
            let Some(part) = transcript.parts.get(part_index) else {
                continue;
            };
            match (part.kind, message.role) {
                (PartKind::Text, Role::User) => self.user_text(index, part),
                (PartKind::Text, Role::Assistant) if quotable || part.span.len() <= TALK_BYTES => {
                    let words = inserted::own_words(transcript, part);
                    self.assistant_text(index, part_index, &words);
                }
                (PartKind::ToolCall, _) if index + CALLS_READ < self.quotable => self.worked(index),
                (PartKind::ToolCall, _) => self.call(index, part_index, quotable),
                (PartKind::ToolResult, _) => self.result(index, part_index, quotable),
                _ => {}
            }
        }
    }

    /// Learns the secrets of a message. A signature is a random string that no handoff quotes: of a signed text its words
    /// are read, and what stands around the part.
    fn learn_secrets(&mut self, message: &Message) {
        let Gathering { transcript, ledger, .. } = self;
        let mut from = message.span.start;
        for part in transcript.parts_of(message) {
            if let (PartKind::Sealed, Content::Text(words)) = (part.kind, &part.content) {
                ledger.secrets.learn(transcript.raw(Span { start: from, end: part.span.start }));
                ledger.secrets.learn(transcript.raw(*words));
                from = part.span.end;
            }
        }
        ledger.secrets.learn(transcript.raw(Span { start: from, end: message.span.end }));
    }

    fn user_text(&mut self, index: usize, part: &Part) {
        let words = inserted::own_words(self.transcript, part);
        let is_request = !inserted::asks_for_handoff(self.transcript, index);
        for (place, words) in speech::between_interruptions(&words).into_iter().enumerate() {
            if place > 0 {
                self.interrupted();
            }
            if is_request {
                self.user_said(index, words);
            }
        }
    }

    fn user_said(&mut self, index: usize, words: &str) {
        let said = spoken(inserted::said(self.transcript, index, words));
        let said = said.trim();
        if let Some(order) = PinOrder::read(said) {
            return self.follow(order);
        }
        if said.is_empty() || (said.starts_with('/') && self.is_local_command(index)) {
            return;
        }
        self.request(index, said);
    }

    /// Whether a command was typed for the client alone: its output stands in the user's turn.
    fn is_local_command(&self, index: usize) -> bool {
        (index..index + 2).any(|index| {
            self.transcript.messages.get(index).is_some_and(|message| message.role == Role::User)
                && self
                    .transcript
                    .parts_at(index)
                    .iter()
                    .any(|part| part.kind == PartKind::Text && speech::is_local_command(&self.transcript.words(part)))
        })
    }

    /// Adds a passage under a group. Of passages with the same words the newest stays; what
    /// people say in a few words stays in each message.
    fn passage(&mut self, index: usize, group: u32, source: Source, text: &str, worth: f32) -> Option<usize> {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return None;
        }
        let section = self.ledger.groups.get(group as usize).map_or(Section::CompletedActions, |group| group.section);
        let terms = self.note_terms(text, voice_of(source));
        let place = self.ledger.entries.len();
        // A short sentence is said in many places; in one message it is only pasted twice.
        let is_said_anywhere = matches!(source, Source::User | Source::Pasted) && text.len() <= LONG_SENTENCE;
        let copies = FxBuildHasher.hash_one((is_said_anywhere.then_some(group), text.trim()));
        let older = self.newest.insert(copies, place);
        if let Some(older) = older.and_then(|older| self.ledger.entries.get_mut(older)) {
            older.terms = Stretch::default();
            older.worth = 0.0;
            older.statement = None;
        }
        let text = self.ledger.store(text);
        let entry = Entry::new(section, index, worth);
        self.ledger.entries.push(Entry { group: Some(group), source: Some(source), text, terms, ..entry });
        Some(place)
    }

    /// Adds a group's heading as something that may be told alone.
    fn heading(&mut self, index: usize, group: u32, source: Source, worth: f32) {
        let Some(&Group { section, terms, .. }) = self.ledger.groups.get(group as usize) else {
            return;
        };
        let entry = Entry::new(section, index, worth);
        self.ledger.entries.push(Entry { group: Some(group), source: Some(source), terms, ..entry });
    }

    /// Adds a fact to a section.
    fn fact(&mut self, index: usize, section: Section, text: &str, worth: f32) {
        let terms = self.note_terms(text, Voice::Tool);
        let text = self.ledger.store(text);
        self.ledger.entries.push(Entry { text, terms, ..Entry::new(section, index, worth) });
    }

    fn note_terms(&mut self, text: &str, voice: Voice) -> Stretch {
        let start = self.ledger.kept.len() as u32;
        self.terms.note(text, voice, &mut self.ledger.kept);
        Stretch { start, end: self.ledger.kept.len() as u32 }
    }

    /// A new group in the current episode.
    fn group(&mut self, index: usize, section: Section, kind: GroupKind, title: String, voice: Voice) -> u32 {
        let terms = self.note_terms(&title, voice);
        let episode = self.current_episode();
        self.ledger.groups.push(Group { section, kind, title, message: index as u32, episode, terms });
        self.ledger.groups.len() as u32 - 1
    }

    /// The group of a file.
    fn file(&mut self, index: usize, path: &str) -> u32 {
        if let Some(&group) = self.files.get(path) {
            if let Some(group) = self.ledger.groups.get_mut(group as usize) {
                group.message = index as u32;
            }
            return group;
        }
        let group = self.group(index, Section::RelevantFiles, GroupKind::File, path.to_owned(), Voice::Call);
        self.files.insert(path.to_owned(), group);
        group
    }

    /// Terms in messages that stay need no second place.
    fn note_alive(&mut self) {
        for &index in self.stretches.live {
            for part in self.transcript.parts_at(index) {
                if matches!(part.kind, PartKind::Sealed | PartKind::Opaque | PartKind::Media) {
                    continue;
                }
                let words = self.transcript.words(part);
                let said =
                    if part.kind == PartKind::ToolResult { reduce::printed(&words) } else { Cow::Borrowed(&*words) };
                self.terms.known(&said, &mut self.ledger.alive);
            }
        }
        self.ledger.alive.sort_unstable();
        self.ledger.alive.dedup();
    }

    fn finish(mut self) -> Ledger {
        self.close_episodes();
        self.close_statements();
        self.close_pins();
        self.close_rules();
        self.close_state();
        self.close_files();
        let files = self.ledger.groups.iter().filter(|group| group.kind == GroupKind::File);
        self.ledger.root = root::common(files.map(|group| group.title.split(" — ").next().unwrap_or_default()));
        self.note_alive();
        self.ledger.values = self.terms.weights(self.weights);
        self.weigh_statements();
        self.drop_replaced();
        if let Some(focus) = self.wishes.focus {
            self.bring_into_focus(focus);
        }
        self.ledger.weights = self.weights.clone();
        let is_talk = |group: &Group| match group.kind {
            GroupKind::Request | GroupKind::InShort => true,
            GroupKind::Step => inserted::SPEAKERS.contains(&group.title.as_str()),
            GroupKind::File => false,
        };
        self.ledger.is_chat = self.is_chat && self.ledger.groups.iter().all(is_talk);
        self.ledger
    }

    /// The assistant comes back to what matters.
    fn close_statements(&mut self) {
        let Gathering { ledger, terms, .. } = self;
        let Ledger { entries, kept, statements, .. } = ledger;
        for entry in entries.iter() {
            if let Some(statement) = entry.statement.and_then(|at| statements.get_mut(at as usize)) {
                let own = kept.get(entry.terms.range()).unwrap_or_default();
                statement.take_up(own.iter().filter(|&&term| terms.is_taken_up(term)).count());
            }
        }
    }

    /// Sentences of the user are worth the odds that they lay something down; the sentence before one gives it its object.
    fn weigh_statements(&mut self) {
        let Ledger { entries, statements, .. } = &mut self.ledger;
        let weights = self.weights;
        let mut after: Option<(u32, f32)> = None;
        for entry in entries.iter_mut().rev() {
            let statement = entry.statement.and_then(|at| statements.get(at as usize));
            let (Some(statement), Some(group)) = (statement, entry.group) else { continue };
            let own = match self.is_chat {
                true => statement.chance(weights.rule) * if statement.is_told { ALREADY_TOLD } else { 1.0 },
                false => statement.keep_odds() + weights.rule * statement.rule_odds(),
            };
            let share = if self.is_chat { OBJECT_IN_CHAT } else { weights.object };
            let object = after.filter(|(next, _)| *next == group).map_or(0.0, |(_, next)| next * share);
            let length = entry.text.range().len() as f32;
            // Where nothing is done but talking, rare words are no reason to keep small talk, and a sentence that lays
            // something down is not told for its brevity.
            match self.is_chat {
                true => {
                    entry.worth += weights.statement * (own + object) * length.sqrt() * length.sqrt().sqrt();
                    entry.counts = (own + object).clamp(SMALL_TALK, 1.0);
                }
                false => entry.worth += weights.statement * (own + object) * length.sqrt(),
            }
            after = Some((group, own));
        }
    }

    /// Terms that belong to a focus topic count more: those of the topic, and those of passages that have one of them.
    fn bring_into_focus(&mut self, focus: &str) {
        let mut topic = Vec::new();
        self.terms.known(focus, &mut topic);
        // Words that are everywhere are no topic.
        let typical = self.ledger.values.iter().sum::<f32>() / self.ledger.values.len().max(1) as f32;
        topic.retain(|&term| self.ledger.values.get(term as usize).is_some_and(|&value| value >= typical * 0.5));
        let mut near: Vec<u32> = self
            .ledger
            .entries
            .iter()
            .map(|entry| self.ledger.terms(entry))
            .filter(|terms| terms.iter().any(|term| topic.contains(term)))
            .flat_map(|terms| terms.iter().copied())
            .chain(topic.iter().copied())
            .collect();
        near.sort_unstable();
        near.dedup();
        for term in near {
            if let Some(value) = self.ledger.values.get_mut(term as usize) {
                *value *= FOCUS_GAIN;
            }
        }
    }
}

/// What an earlier fold chose counts so many times more: where it stood and what the assistant made of it counted then,
/// and is no longer known. What was only told because it was short stays behind what lays something down.
const ALREADY_TOLD: f32 = 2.0;

/// In a chat the sentence before a statement is more often a reaction: it gets less than `Weights::object` of its worth.
const OBJECT_IN_CHAT: f32 = 0.1;

/// What the terms of a sentence count for at least that is most likely small talk.
const SMALL_TALK: f32 = 0.4;

/// A focus topic gets about two thirds of a handoff when its terms weigh this much more.
const FOCUS_GAIN: f32 = 6.0;

fn voice_of(source: Source) -> Voice {
    match source {
        Source::User | Source::Pasted => Voice::User,
        Source::Answer | Source::Explanation | Source::Narration => Voice::Assistant,
        Source::Edit | Source::Outline | Source::Written => Voice::Call,
        Source::Document | Source::Command | Source::Arguments => Voice::Call,
        Source::Report | Source::Output | Source::Read => Voice::Tool,
    }
}

/// Beginning and end of an output, enough to see how it ended.
fn edges<'a>(raw: &'a str, part: &Part) -> Cow<'a, str> {
    const EDGE: usize = 600;
    if part.kind == PartKind::ToolResult && matches!(part.content, Content::Absent) {
        return Cow::Borrowed("");
    }
    let decoded = |text: &'a str| foldline_transcript::wire::json::decode(text);
    if raw.len() <= 2 * EDGE {
        return decoded(raw);
    }
    let head = raw.get(..raw.floor_char_boundary(EDGE)).unwrap_or_default();
    let tail = raw.get(raw.ceil_char_boundary(raw.len() - EDGE)..).unwrap_or_default();
    Cow::Owned(format!("{}\n{}", decoded(head), decoded(tail)))
}
