//! The backbone: a request, the work that followed it, the answer, and then the next request.

use super::assistant::goes_on_behind;
use super::paragraphs;
use super::reply::{is_bare, is_short_reply, named_option, names_option_of, offered};
use super::sentences::sentences;
use super::statement::SentencePlace;
use super::terms::Voice;
use super::work::first_line;
use super::{Episode, Gathering, GroupKind, Source, Statement, speech};
use crate::inserted::{self, Section};
use foldline_transcript::{PartKind, Role, Transcript};
use std::ops::Range;

/// A message longer than this is pasted material behind its first paragraphs.
pub(super) const LONGEST_TYPED: usize = 3_000;
/// One that is longer than this is more than a remark.
const LONG_MESSAGE: usize = 500;
/// Its first sentence is worth as much as one that lays something down with these odds.
const OPENING: f32 = 6.0;
/// So many paragraphs of a request say what it is about.
const OPENING_PARAGRAPHS: usize = 3;
/// … and so many sentences.
const OPENING_SENTENCES: usize = 5;
/// What was agreed on comes right after the state, with at most so many bytes of the reply.
pub(super) const DECISION_WORTH: f32 = 36.0;
const LONGEST_CHOICE: usize = 48;
/// A longer message is a request of its own, also where it opens with a few words to a question.
const LONGEST_DECISION: usize = 200;
/// A request alone, without its words.
const BARE_REQUEST_WORTH: f32 = 4.0;

/// A request with fewer terms is a greeting.
const FEWEST_TERMS: usize = 4;

/// What stands in place of the words of a request that is a message beside the handoff.
pub(crate) const REQUEST_BESIDE: &str = "the message beside this record";
/// … with so many bytes of its words.
const LONGEST_BESIDE: usize = 60;
/// The heading of a request that the user stopped.
const INTERRUPTED: &str = "interrupted";

/// What was said last.
#[derive(Default)]
pub(super) struct Talk {
    /// The end of the assistant's latest words.
    pub(super) latest_words: String,
    /// Whether the assistant has done or said anything since the latest request.
    pub(super) answered: bool,
    /// The group of the latest request.
    request: Option<u32>,
    /// The entries of its words.
    request_words: Range<usize>,
    /// For each episode, whether work was done in it.
    served: Vec<bool>,
    /// Whether the assistant's latest words end with a question.
    pub(super) asked: bool,
    /// Whether the latest request is a slash command: what follows it before any answer is the client's text for it.
    is_command: bool,
    /// The request that stood beside the latest handoff: its group, and how it is quoted there.
    pub(super) carried: Option<(u32, String)>,
    /// The words of that request, once they are told in its place.
    resumed: Option<String>,
    /// The latest request that stood above the first handoff: its group, and how it would be quoted.
    pub(super) ahead: Option<(u32, String)>,
    /// Whether the latest words have headings: a plan or a report, whose sentences lay nothing down for good.
    is_document: bool,
    /// Whether what is read comes from an earlier handoff.
    pub(super) is_remembering: bool,
    /// Whether what is read stood before an earlier handoff: its episodes come before the numbered ones.
    pub(super) is_before_handoff: bool,
}

impl Talk {
    /// What follows belongs to no request of before.
    pub(super) fn close_request(&mut self) {
        self.request = None;
        self.answered = true;
    }
}

/// Whether a message is what a person says to the assistant.
pub(super) fn is_request(transcript: &Transcript<'_>, index: usize) -> bool {
    let is_user = transcript.messages.get(index).is_some_and(|message| message.role == Role::User);
    is_user && !inserted::is_handoff(transcript, index) && speaks(transcript, index)
}

/// Whether a person says something in a message.
fn speaks(transcript: &Transcript<'_>, index: usize) -> bool {
    !inserted::asks_for_handoff(transcript, index)
        && transcript.parts_at(index).iter().any(|part| {
            part.kind == PartKind::Text && {
                let words = inserted::own_words(transcript, part);
                !speech::spoken(&words).trim().is_empty()
            }
        })
}

impl Gathering<'_, '_> {
    /// The episode that is going on; one without a request where the conversation begins in the middle of work.
    pub(super) fn current_episode(&mut self) -> u32 {
        if self.ledger.episodes.is_empty() {
            let number = u32::from(!self.talk.is_before_handoff);
            self.begin_episode(self.stretches.folded.first().copied().unwrap_or_default(), number);
        }
        self.ledger.episodes.len() as u32 - 1
    }

    /// Work whose request stays in front of the folded messages belongs to that request.
    pub(super) fn open_request(&mut self) {
        let first = self.stretches.folded.first().copied().unwrap_or_default();
        if inserted::is_handoff(self.transcript, first) || self.is_request(first) {
            return;
        }
        let ahead = self.stretches.live.iter().copied().take_while(|&index| index < first);
        if let Some(index) = ahead.filter(|&index| self.is_request(index)).last() {
            let words = self.live_words(index);
            self.request(index, &words);
        }
    }

    pub(super) fn is_request(&self, index: usize) -> bool {
        is_request(self.transcript, index)
    }

    fn begin_episode(&mut self, index: usize, number: u32) {
        let turn = self.turn(index);
        self.ledger.episodes.push(Episode { number, turns: Some((turn, turn)), is_new: true });
        self.talk.request = None;
        self.talk.answered = false;
        self.talk.served.resize(self.ledger.episodes.len(), true);
        if let Some(served) = self.talk.served.last_mut() {
            *served = false;
        }
    }

    /// The number of a message among the folded ones, counted from 1, as `recall --turn` takes it.
    fn turn(&self, index: usize) -> u32 {
        index.saturating_sub(self.stretches.folded.first().copied().unwrap_or_default()) as u32 + 1
    }

    /// Notes that a message belongs to the current episode.
    pub(super) fn extend_episode(&mut self, index: usize) {
        // Work that goes on where an earlier fold stopped has originals of its own.
        if let Some(episode) = self.ledger.episodes.last().filter(|episode| !episode.is_new) {
            self.begin_episode(index, episode.number);
        }
        let turn = self.turn(index);
        self.current_episode();
        if let Some((_, last)) = self.ledger.episodes.last_mut().and_then(|episode| episode.turns.as_mut()) {
            *last = turn;
        }
    }

    /// What a user says begins a new episode, unless nothing has happened since they spoke last.
    pub(super) fn request(&mut self, index: usize, words: &str) {
        self.terms.begin();
        if self.talk.resumed.take_if(|resumed| resumed == words).is_some() {
            return;
        }
        if self.talk.resumed.is_some() {
            return self.said_aside(index, words, "User, before that:");
        }
        self.note_request(index, words);
        if let Some(group) = self.talk.request.filter(|_| self.talk.is_before_handoff) {
            self.talk.ahead = Some((group, first_line(words, LONGEST_BESIDE)));
        }
    }

    fn note_request(&mut self, index: usize, words: &str) {
        let goes_on = self.talk.request.is_some() && !self.talk.answered;
        if !goes_on {
            let number = match self.talk.is_before_handoff {
                true => 0,
                false => self.ledger.episodes.last().map_or(1, |episode| episode.number + 1),
            };
            self.begin_episode(index, number);
        }
        self.extend_episode(index);
        if self.stretches.live.binary_search(&index).is_ok() {
            self.live_request(index, words);
            return;
        }
        let group = self.group(index, Section::CompletedActions, GroupKind::Request, String::new(), Voice::User);
        self.talk.request = Some(group);
        self.note_decision(index, words);
        let start = self.ledger.entries.len();
        let is_expansion = goes_on && self.talk.is_command;
        self.talk.is_command = words.starts_with('/');
        match is_expansion {
            true => self.paragraphs(index, group, Source::Pasted, words),
            // "C)" has no terms, and says what was chosen.
            false if is_bare(words) => self.user_words(index, group, words, BARE_REQUEST_WORTH),
            false => self.user_words(index, group, words, 0.0),
        }
        self.talk.request_words = start..self.ledger.entries.len();
        // A long message asks for something, even where nothing is done but talking; the newest matter most.
        let age = index as f32 / self.ledger.newest.max(1) as f32;
        if self.is_chat
            && words.len() > LONG_MESSAGE
            && let Some(opening) = self.ledger.entries.get_mut(start)
        {
            opening.worth += OPENING * self.weights.statement * age * age * (opening.text.range().len() as f32).sqrt();
        }
    }

    /// Tells a request where its work is told.
    pub(super) fn move_request(&mut self, from: u32, to: u32) {
        for entry in self.ledger.entries.iter_mut().filter(|entry| entry.group == Some(from)) {
            entry.group = Some(to);
        }
        let groups = &mut self.ledger.groups;
        let title = groups.get_mut(from as usize).map(|group| std::mem::take(&mut group.title)).unwrap_or_default();
        groups.get_mut(to as usize).into_iter().for_each(|group| group.title.clone_from(&title));
    }

    /// The request that stood beside the handoff is one of the first texts behind it. It comes first, so that what else stands in the same
    /// message, such as a request that was stopped, does not part it from its work.
    pub(super) fn resume_carried(&mut self, index: usize) {
        // Only texts of the same message stand before it.
        self.talk.resumed = None;
        let is_user = self.transcript.messages.get(index).is_some_and(|message| message.role == Role::User);
        let is_awaited = self.talk.carried.is_some() && !self.talk.is_before_handoff;
        if !is_awaited || !is_user || !speaks(self.transcript, index) {
            return;
        }
        let Some((group, quote)) = self.talk.carried.take() else { return };
        let parts = self.transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Text);
        let texts: Vec<_> = parts.map(|part| inserted::own_words(self.transcript, part)).collect();
        let mut said = texts.iter().flat_map(|text| speech::between_interruptions(text)).map(|words| {
            let words = speech::spoken(inserted::said(self.transcript, index, words));
            words.trim().to_owned()
        });
        let quoted = said.find(|words| !words.is_empty() && quote.contains(&first_line(words, LONGEST_BESIDE)));
        if let Some(words) = quoted {
            self.terms.begin();
            self.resume(index, group, &words);
            self.talk.resumed = Some(words);
        }
    }

    /// A request that stood beside an earlier handoff goes on: its words are told where its work begins.
    fn resume(&mut self, index: usize, group: u32, words: &str) {
        self.extend_episode(index);
        self.talk.request = Some(group);
        if self.stretches.live.binary_search(&index).is_err() {
            let start = self.ledger.entries.len();
            self.user_words(index, group, words, self.weights.request);
            self.talk.request_words = start..self.ledger.entries.len();
            return;
        }
        if let Some(group) = self.ledger.groups.get_mut(group as usize) {
            group.title = beside_title(words);
        }
        self.heading(index, group, Source::User, BARE_REQUEST_WORTH);
    }

    /// A request that stays as a message beside the handoff is named by its last words: what precedes them in the same
    /// message is what the client put there, such as the output of a local command.
    fn live_request(&mut self, index: usize, words: &str) {
        let title = beside_title(words);
        let known = self.talk.request.and_then(|group| self.ledger.groups.get_mut(group as usize));
        if let Some(group) = known.filter(|group| group.message as usize == index) {
            group.title = title;
            return;
        }
        let group = self.group(index, Section::CompletedActions, GroupKind::Request, title, Voice::User);
        self.talk.request = Some(group);
        self.heading(index, group, Source::User, BARE_REQUEST_WORTH);
    }

    /// What a user said, sentence by sentence; pasted material by paragraphs.
    pub(super) fn user_words(&mut self, index: usize, group: u32, words: &str, worth: f32) {
        let is_long = words.len() > LONGEST_TYPED;
        self.talk.is_document = words.lines().any(|line| line.starts_with("# ") || line.starts_with("## "));
        let mut places = Vec::new();
        paragraphs::each(words, |range| places.push(range));
        for (at, range) in places.into_iter().enumerate() {
            let paragraph = words.get(range).unwrap_or_default();
            let source = if is_long && at >= OPENING_PARAGRAPHS { Source::Pasted } else { Source::User };
            if source == Source::Pasted || !paragraph.lines().all(is_prose) {
                self.passage(index, group, source, paragraph, worth);
                continue;
            }
            for line in paragraph.lines() {
                match paragraphs::item_number(line) {
                    // An item of a list is a whole.
                    Some(_) => self.statements(index, group, source, &[line], worth),
                    None => self.sentences(index, group, source, line, worth),
                }
            }
        }
    }

    /// A paragraph, sentence by sentence.
    pub(super) fn sentences(&mut self, index: usize, group: u32, source: Source, paragraph: &str, worth: f32) {
        self.statements(index, group, source, &sentences(paragraph).collect::<Vec<_>>(), worth);
    }

    /// Passages that stand in one line; what a user lays down is noted.
    fn statements(&mut self, index: usize, group: u32, source: Source, all: &[&str], worth: f32) {
        for (at, sentence) in all.iter().enumerate() {
            let place = self.passage(index, group, source, sentence, worth);
            let answers = self.talk.asked;
            let super::Ledger { entries, statements, .. } = &mut self.ledger;
            if let Some(entry) = place.and_then(|place| entries.get_mut(place)) {
                entry.joined = at > 0;
                if source == Source::User && !self.talk.is_document {
                    let is_first = at == 0 && !self.talk.is_remembering;
                    entry.statement = Some(statements.len() as u32);
                    let statement =
                        Statement::of(sentence, entry.terms.range().len(), SentencePlace { is_first, answers });
                    statements.push(Statement { is_told: self.talk.is_remembering, ..statement });
                }
            }
        }
    }

    /// A user's words in a place where clients hide them: beside a rejected call, or as the answer to a question.
    pub(super) fn said_aside(&mut self, index: usize, words: &str, title: &str) {
        self.terms.begin();
        self.extend_episode(index);
        let group = self.group(index, Section::CompletedActions, GroupKind::Step, title.to_owned(), Voice::User);
        self.user_words(index, group, words, self.weights.request);
    }

    /// A reply that cannot be understood without what it answers is told with it: that is what was agreed on.
    fn note_decision(&mut self, index: usize, words: &str) {
        let reply = sentences(words).next().unwrap_or_default();
        if !is_short_reply(reply) {
            return;
        }
        // A remark that follows no question and names none of the options agrees to nothing.
        let asks = self.talk.asked || names_option_of(&self.talk.latest_words, reply);
        let Some(answered) = offered(&self.talk.latest_words, reply).filter(|_| asks) else {
            return;
        };
        // Who goes on to say much more asks for something, and is understood without the question.
        if words.chars().count() > LONGEST_DECISION && named_option(reply).is_none() {
            return;
        }
        // Who names what was offered chooses; who says something else may only talk on.
        let chooses = named_option(reply).is_some() || answered.iter().any(|offer| self.shares_terms(offer, reply));
        if !chooses && (self.is_chat || !is_bare(reply)) {
            return;
        }
        // What else is said in a chat is told as such.
        let choice = if self.is_chat { reply.to_owned() } else { first_line(words, LONGEST_CHOICE) };
        let text = format!("- User: \"{choice}\" — to the assistant's \"{}\"", answered.join(" … "));
        self.fact(index, Section::KeyDecisions, &text, if chooses { DECISION_WORTH } else { DECISION_WORTH / 2.0 });
    }

    /// Whether two texts have a word in common that not everybody uses.
    fn shares_terms(&self, one: &str, other: &str) -> bool {
        let known = |text: &str| {
            let mut known = Vec::new();
            self.terms.known(text, &mut known);
            known
        };
        let (one, other) = (known(one), known(other));
        other.iter().any(|term| one.binary_search(term).is_ok() && !self.terms.is_common(*term))
    }

    /// The user stopped the assistant: a request without an answer is taken back by what is said next.
    pub(super) fn interrupted(&mut self) {
        // What was stopped stands before the request that goes on.
        if self.talk.resumed.is_some() {
            return;
        }
        if let Some(group) = self.talk.request.and_then(|group| self.ledger.groups.get_mut(group as usize))
            && group.title.is_empty()
        {
            group.title.push_str(INTERRUPTED);
        }
        self.talk.answered = true;
    }

    /// Something was done: what it was done for is a request, and its first sentences say which.
    pub(super) fn worked(&mut self, index: usize) {
        self.extend_episode(index);
        self.talk.answered = true;
        let is_first = self.talk.served.last_mut().is_some_and(|served| !std::mem::replace(served, true));
        let Some(request) = self.talk.request.filter(|_| is_first) else {
            return;
        };
        let worth = self.weights.request;
        let words = self.ledger.entries.get_mut(self.talk.request_words.clone()).unwrap_or_default();
        // A few words say nothing without what came of them, and come along with it.
        if words.iter().map(|entry| entry.terms.range().len()).sum::<usize>() < FEWEST_TERMS {
            return;
        }
        // What the same message says again further down is told there.
        let is_told = |entry: &&mut super::Entry| !entry.terms.range().is_empty();
        let words = words.iter_mut().filter(|entry| entry.group == Some(request)).filter(is_told);
        words.take(OPENING_SENTENCES).for_each(|entry| entry.worth += worth);
    }

    /// A result belongs to the episode of its call.
    pub(super) fn came_back(&mut self, index: usize) {
        self.extend_episode(index);
    }

    /// A request that was stopped and then said again in other words is told by its new words. What is left of the
    /// first request says what all of it is for.
    pub(super) fn close_episodes(&mut self) {
        if let Some(served) = self.talk.served.last_mut() {
            *served |= goes_on_behind(self.transcript, self.stretches.folded);
        }
        let requests: Vec<usize> = (0..self.ledger.groups.len())
            .filter(|&group| self.ledger.groups.get(group).is_some_and(|group| group.kind == GroupKind::Request))
            .collect();
        let mut dropped = Vec::new();
        for (place, &stopped) in requests.iter().enumerate() {
            let next = requests.get(place + 1..).unwrap_or_default();
            if self.is_said_again(stopped, next) {
                self.drop_group(stopped as u32);
                dropped.push(stopped);
            }
        }
        let left = || requests.iter().copied().filter(|group| !dropped.contains(group));
        // A greeting is no goal.
        let says_something = |group: &usize| {
            let words = self.ledger.entries.iter().filter(|entry| entry.group == Some(*group as u32));
            words.map(|entry| entry.terms.range().len()).sum::<usize>() >= FEWEST_TERMS
        };
        if let Some(first) = left().find(says_something).or_else(|| left().next()) {
            self.tell_goal(first as u32);
        }
    }

    /// Whether one of the requests that follow says a request once more: after it was stopped, or before any answer came.
    fn is_said_again(&self, request: usize, next: &[usize]) -> bool {
        /// A message that is sent again follows soon.
        const MOST_TRIES: usize = 8;
        let Some(first) = self.ledger.groups.get(request) else { return false };
        next.iter().take(MOST_TRIES).enumerate().any(|(place, &next)| {
            let is_unanswered =
                next == request + 1 || self.ledger.groups.get(next).is_some_and(|next| next.episode == first.episode);
            let is_stopped = place == 0 && first.title == INTERRUPTED;
            (is_unanswered || is_stopped) && self.says_again(request as u32, next as u32)
        })
    }

    /// What people asked in folded messages before the one at `index`.
    pub(super) fn asked_before(&self, index: usize) -> String {
        let before = self.stretches.folded.iter().copied().take_while(|&folded| folded < index);
        let asked = before.filter(|&before| {
            self.transcript.messages.get(before).is_some_and(|message| message.role == Role::User)
                && speaks(self.transcript, before)
        });
        asked.map(|before| self.live_words(before)).collect::<Vec<_>>().join("\n")
    }

    /// Whether work was done in an episode, as far as that is known.
    pub(super) fn is_served(&self, episode: u32) -> bool {
        self.talk.served.get(episode as usize).copied().unwrap_or(true)
    }

    /// In how many episodes after one work was done.
    pub(super) fn work_since(&self, episode: u32) -> usize {
        self.talk.served.iter().skip(episode as usize + 1).filter(|served| **served).count()
    }

    /// Whether a request repeats most of another one.
    fn says_again(&self, request: u32, next: u32) -> bool {
        let terms = |group: u32| -> Vec<u32> {
            let entries = self.ledger.entries.iter().filter(|entry| entry.group == Some(group));
            entries.flat_map(|entry| self.ledger.terms(entry)).copied().collect()
        };
        let (terms, next) = (terms(request), terms(next));
        // A word or two stand in many requests.
        if terms.len() < FEWEST_TERMS {
            return false;
        }
        let again = terms.iter().filter(|term| next.contains(term)).count();
        again * 2 > terms.len()
    }

    /// What a user says in a message that stays beside the handoff.
    pub(super) fn live_words(&self, index: usize) -> String {
        let parts = self.transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Text);
        let words: Vec<String> =
            parts.map(|part| speech::spoken(&inserted::own_words(self.transcript, part))).collect();
        words.join("\n").trim().to_owned()
    }

    /// What is said again is told there, with what it lays down.
    fn drop_group(&mut self, group: u32) {
        for entry in self.ledger.entries.iter_mut().filter(|entry| entry.group == Some(group)) {
            entry.worth = 0.0;
            entry.terms = super::Stretch::default();
            entry.statement = None;
        }
    }
}

/// Whether a line is written for people, and not by or for a program: mostly letters and spaces, at the margin.
fn is_prose(line: &str) -> bool {
    let all = line.chars().count();
    let plain = line.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    all <= LONGEST_LINE
        && plain * 100 >= all * LEAST_PROSE
        && !line.starts_with(['\t', '>', '$', '|', '`', '{', '@', '+'])
}

/// A longer line is pasted.
const LONGEST_LINE: usize = 600;
/// The share of letters and spaces in prose, in per cent: addresses, logs and code have less.
const LEAST_PROSE: usize = 75;

fn beside_title(words: &str) -> String {
    format!("{REQUEST_BESIDE}, \"{}\"", first_line(words, LONGEST_BESIDE))
}
