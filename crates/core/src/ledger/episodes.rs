//! The backbone: a request, the work that followed it, the answer, and then the next request.

use super::paragraphs::{self, ItemMark, option_mark};
use super::sentences::sentences;
use super::statement::Place;
use super::terms::Voice;
use super::work::first_line;
use super::{Episode, Gathering, GroupKind, Source, Statement, speech};
use crate::inserted::{self, Section};
use foldline_transcript::{PartKind, Role, Transcript};
use std::ops::Range;

/// A message longer than this is pasted material behind its first paragraphs.
const LONGEST_TYPED: usize = 3_000;
/// One that is longer than this is more than a remark.
const LONG_MESSAGE: usize = 500;
/// Its first sentence is worth as much as one that lays something down with these odds.
const OPENING: f32 = 6.0;
/// So many paragraphs of a request say what it is about.
const OPENING_PARAGRAPHS: usize = 3;
/// … and so many sentences.
const OPENING_SENTENCES: usize = 5;
/// Words in the middle of work that are longer than this explain something.
const LONGEST_NARRATION: usize = 280;
/// A question in an answer that is not longer and names no value hands over to the user, who has spoken since.
const LONGEST_COURTESY: usize = 160;
/// A reply of at most this many characters cannot be understood without what it answers.
const SHORT_REPLY: usize = 60;
/// One of at most this many refers to what was said last even when nothing was asked.
const BARE_REPLY: usize = 20;
/// What was agreed on comes right after the state, with at most so many bytes of reply and of what it answers.
pub(super) const DECISION_WORTH: f32 = 36.0;
const LONGEST_CHOICE: usize = 80;
const LONGEST_OFFER: usize = 240;
/// A request alone, without its words.
const BARE_REQUEST_WORTH: f32 = 4.0;

/// What it is all for is told before anything else, by the beginning of the first request.
const GOAL_WORTH: f32 = 800.0;
const LONGEST_GOAL: usize = 200;
/// Who only talks has no goal from the first word on: it is told where there is room for it.
const CHAT_GOAL_WORTH: f32 = 8.0;
/// A request with fewer terms is a greeting.
const FEWEST_TERMS: usize = 4;

/// Where a question stands that is to be answered: in the last bytes of what was said.
const LAST_WORDS: usize = 200;

/// What stands in place of the words of a request that is a message beside the handoff.
pub(crate) const REQUEST_BESIDE: &str = "the message beside this record";
/// … with so many bytes of its words.
const LONGEST_BESIDE: usize = 60;
/// What comes between the beginning of a goal and the number of the request that the chronicle tells.
pub(crate) const GOAL_BELOW: &str = " (request ";
/// The heading of a request that the user stopped.
const INTERRUPTED: &str = "interrupted";

/// What was said last.
#[derive(Default)]
pub(super) struct Talk {
    /// The end of the assistant's latest words.
    latest_words: String,
    /// Whether the assistant has done or said anything since the latest request.
    answered: bool,
    /// The group of the latest request.
    request: Option<u32>,
    /// The entries of its words.
    request_words: Range<usize>,
    /// For each episode, whether work was done in it.
    served: Vec<bool>,
    /// Whether the assistant's latest words end with a question.
    asked: bool,
    /// Whether the latest request is a slash command: what follows it before any answer is the client's text for it.
    is_command: bool,
    /// The request that stood beside the latest handoff: its group, and how it is quoted there.
    pub(super) carried: Option<(u32, String)>,
    /// The latest request that stood above the first handoff: its group, and how it would be quoted.
    pub(super) ahead: Option<(u32, String)>,
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

/// For each folded message, whether words of the assistant in it are its last before the user speaks again.
pub(super) fn closing_words(transcript: &Transcript<'_>, folded: &[usize]) -> Vec<bool> {
    let mut closing = vec![false; folded.len()];
    let mut work_follows = goes_on_behind(transcript, folded);
    for (at, &index) in folded.iter().enumerate().rev() {
        let Some(message) = transcript.messages.get(index) else {
            continue;
        };
        if is_request(transcript, index) {
            work_follows = false;
        }
        let parts = transcript.parts_of(message);
        work_follows |= parts.iter().any(|part| part.kind == PartKind::ToolCall);
        if let Some(slot) = closing.get_mut(at) {
            *slot = message.role == Role::Assistant && !work_follows;
        }
    }
    closing
}

/// Whether work of the folded messages goes on in those behind them.
fn goes_on_behind(transcript: &Transcript<'_>, folded: &[usize]) -> bool {
    let behind = folded.last().map_or(0, |last| last + 1)..transcript.messages.len();
    behind.take_while(|&index| !is_request(transcript, index)).any(|index| super::calls(transcript, index))
}

/// Whether a text has a number, a name in code marks or a quote, and does not end by announcing something.
fn names_a_value(text: &str) -> bool {
    !text.ends_with([':', '：', '…']) && text.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'`' | b'"'))
}

/// Splits what is announced off the end of a paragraph: the sentence that ends with a colon before something is done.
fn announcement(paragraph: &str) -> (&str, &str) {
    if !paragraph.ends_with([':', '：', '…']) {
        return (paragraph, "");
    }
    let last = sentences(paragraph).last().unwrap_or_default().trim();
    let found = paragraph.strip_suffix(last).unwrap_or_default().trim_end();
    if paragraphs::item_number(last).is_some() { (paragraph, "") } else { (found, last) }
}

/// Whether a message is what a person says to the assistant.
fn is_request(transcript: &Transcript<'_>, index: usize) -> bool {
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
    fn extend_episode(&mut self, index: usize) {
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
        if let Some((group, quote)) = self.talk.carried.take().filter(|_| !self.talk.is_before_handoff)
            && quote.contains(&first_line(words, LONGEST_BESIDE))
        {
            return self.resume(index, group, words);
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
        let mut places = Vec::new();
        paragraphs::each(words, |range| places.push(range));
        for (at, range) in places.into_iter().enumerate() {
            let paragraph = words.get(range).unwrap_or_default();
            let source = if is_long && at >= OPENING_PARAGRAPHS { Source::Pasted } else { Source::User };
            if source == Source::Pasted || paragraph.contains('\n') {
                self.passage(index, group, source, paragraph, worth);
                continue;
            }
            self.sentences(index, group, source, paragraph, worth);
        }
    }

    /// A paragraph, sentence by sentence.
    fn sentences(&mut self, index: usize, group: u32, source: Source, paragraph: &str, worth: f32) {
        let all: Vec<&str> = sentences(paragraph).collect();
        for (at, sentence) in all.iter().enumerate() {
            let place = self.passage(index, group, source, sentence, worth);
            let answers = self.talk.asked;
            let super::Ledger { entries, statements, .. } = &mut self.ledger;
            if let Some(entry) = place.and_then(|place| entries.get_mut(place)) {
                entry.joined = at > 0;
                if source == Source::User {
                    let is_first = at == 0 && !self.talk.is_remembering;
                    entry.statement = Some(statements.len() as u32);
                    let statement = Statement::of(sentence, entry.terms.range().len(), Place { is_first, answers });
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
        // A remark that follows no question and names no option agrees to nothing.
        let asks = self.talk.asked || named_option(reply).is_some();
        let Some(answered) = offered(&self.talk.latest_words, reply).filter(|_| asks) else {
            return;
        };
        // Who names what was offered chooses; who says something else may only talk on.
        let chooses = named_option(reply).is_some() || answered.iter().any(|offer| self.shares_terms(offer, reply));
        if self.is_chat && !chooses {
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
        if let Some(group) = self.talk.request.and_then(|group| self.ledger.groups.get_mut(group as usize))
            && group.title.is_empty()
        {
            group.title.push_str(INTERRUPTED);
        }
        self.talk.answered = true;
    }

    /// Words of the assistant.
    pub(super) fn assistant_text(&mut self, index: usize, part_index: usize, words: &str) {
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        self.terms.begin();
        self.extend_episode(index);
        self.talk.answered = true;
        let at = self.stretches.folded.binary_search(&index).unwrap_or_default();
        let is_closing = self.closing.get(at).copied().unwrap_or_default() && !self.calls_follow(index, part_index);
        let source = match is_closing {
            true => Source::Answer,
            false if words.len() > LONGEST_NARRATION => Source::Explanation,
            false => Source::Narration,
        };
        let group = self.group(index, Section::CompletedActions, GroupKind::Step, "Assistant:".to_owned(), Voice::Tool);
        let mut places = Vec::new();
        paragraphs::each(words, |range| places.push(range));
        for range in places {
            let paragraph = words.get(range.clone()).unwrap_or_default();
            match (self.is_chat, source) {
                (true, _) => self.sentences(index, group, source, paragraph, 0.0),
                (false, Source::Answer) => {
                    let place = self.passage(index, group, source, paragraph, 0.0);
                    let is_polite =
                        paragraph.len() <= LONGEST_COURTESY && has_question(paragraph) && !names_a_value(paragraph);
                    if let Some(entry) = place.and_then(|place| self.ledger.entries.get_mut(place)) {
                        entry.counts = if is_polite { self.weights.courtesy } else { 1.0 };
                    }
                }
                (false, _) => {
                    let is_last = range.end == words.len();
                    self.narration(index, group, source, paragraph, is_last);
                }
            }
        }
        let end = |length: usize| words.get(words.ceil_char_boundary(words.len().saturating_sub(length))..);
        self.talk.asked = has_question(end(LAST_WORDS).unwrap_or_default());
        self.talk.latest_words.clear();
        self.talk.latest_words.push_str(end(LONGEST_TYPED).unwrap_or_default());
    }

    /// A paragraph amid work: what was found, and at its end what is done next.
    fn narration(&mut self, index: usize, group: u32, source: Source, paragraph: &str, is_last: bool) {
        let (found, announced) = if is_last { announcement(paragraph) } else { (paragraph, "") };
        for (text, counts) in [(found, None), (announced, Some(self.weights.announced))] {
            let place = self.passage(index, group, source, text, 0.0);
            let Some(entry) = place.and_then(|place| self.ledger.entries.get_mut(place)) else {
                continue;
            };
            entry.counts = match counts {
                Some(counts) => counts,
                None if source != Source::Narration => 1.0,
                None if names_a_value(text) => self.weights.finding,
                None => self.weights.announcement,
            };
            entry.joined = counts.is_some() && !found.is_empty();
        }
    }

    /// Whether calls follow in the same message.
    fn calls_follow(&self, index: usize, part_index: usize) -> bool {
        self.transcript.messages.get(index).is_some_and(|message| {
            (part_index..message.parts.end as usize)
                .any(|part| self.transcript.parts.get(part).is_some_and(|part| part.kind == PartKind::ToolCall))
        })
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
        let words = words.iter_mut().filter(|entry| entry.group == Some(request));
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
        for pair in requests.windows(2) {
            let [stopped, next] = *pair else { continue };
            let is_stopped = self.ledger.groups.get(stopped).is_some_and(|group| group.title == INTERRUPTED);
            // What is typed once more before any answer came replaces what was typed first.
            let is_unanswered = next == stopped + 1;
            let is_again = || self.says_again(stopped as u32, next as u32);
            if (is_stopped && is_unanswered) || ((is_stopped || is_unanswered) && is_again()) {
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
        let again = terms.iter().filter(|term| next.contains(term)).count();
        again * 2 > terms.len()
    }

    /// What all of it is for: how the first request begins.
    fn tell_goal(&mut self, group: u32) {
        // What an earlier fold left of a chat is not how it began.
        let episode =
            self.ledger.groups.get(group as usize).and_then(|group| self.ledger.episodes.get(group.episode as usize));
        let is_late = self.is_chat && episode.is_some_and(|episode| !episode.is_new);
        let told = self.ledger.entries.iter().find(|entry| entry.section == Section::Goal);
        if let Some(told) = told.map(|entry| self.ledger.text(entry).trim_start_matches("User: ")) {
            let words = self.ledger.entries.iter().find(|entry| entry.group == Some(group));
            let words = words.map_or("", |entry| self.ledger.text(entry));
            let is_told =
                !words.is_empty() && (words.starts_with(told.trim_end_matches(" …")) || told.starts_with(words));
            self.ledger.goal = is_told.then_some(group);
            return;
        }
        if is_late {
            return;
        }
        let mut entries = self.ledger.entries.iter().filter(|entry| entry.group == Some(group)).peekable();
        let Some(message) = entries.peek().map(|entry| entry.message as usize) else {
            return;
        };
        let mut words = String::new();
        for entry in entries {
            let more = format!("{words} {}", self.ledger.text(entry)).trim().to_owned();
            // Whole sentences, unless the first alone is too long.
            if !words.is_empty() && more.len() > LONGEST_GOAL {
                break;
            }
            words = more;
        }
        let words = if words.is_empty() { self.live_words(message) } else { words };
        if !words.is_empty() {
            self.ledger.goal = Some(group);
            let words: Vec<&str> = words.split_whitespace().collect();
            self.fact(
                message,
                Section::Goal,
                &format!("User: {}", first_line(&words.join(" "), LONGEST_GOAL)),
                self.goal_worth(),
            );
        }
    }

    pub(super) fn goal_worth(&self) -> f32 {
        if self.is_chat { CHAT_GOAL_WORTH } else { GOAL_WORTH }
    }

    /// What a user says in a message that stays beside the handoff.
    fn live_words(&self, index: usize) -> String {
        let parts = self.transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Text);
        let words: Vec<String> =
            parts.map(|part| speech::spoken(&inserted::own_words(self.transcript, part))).collect();
        words.join("\n").trim().to_owned()
    }

    fn drop_group(&mut self, group: u32) {
        for entry in self.ledger.entries.iter_mut().filter(|entry| entry.group == Some(group)) {
            entry.worth = 0.0;
            entry.terms = super::Stretch::default();
        }
    }
}

fn beside_title(words: &str) -> String {
    format!("{REQUEST_BESIDE}, \"{}\"", first_line(words, LONGEST_BESIDE))
}

/// Whether words cannot be understood without what they answer. A question asks, it does not answer.
fn is_short_reply(words: &str) -> bool {
    words.chars().count() <= SHORT_REPLY && !has_question(words)
}

/// The sentences of a text around its last question, those after it first: options stand on both sides.
fn around_question(text: &str) -> String {
    let all: Vec<&str> = sentences(text).collect();
    let last = all.iter().rposition(|sentence| has_question(sentence)).unwrap_or(all.len().saturating_sub(1));
    let (mut start, mut end) = (last, last + 1);
    let length = |range: Range<usize>| all.get(range).unwrap_or_default().iter().map(|one| one.len()).sum::<usize>();
    while end < all.len() && length(start..end + 1) <= LONGEST_OFFER {
        end += 1;
    }
    while start > 0 && length(start - 1..end) <= LONGEST_OFFER {
        start -= 1;
    }
    let part = all.get(start..end).unwrap_or_default().join(" ");
    part.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Which of the passages that came before a reply it refers to: the option it names, or else the last question.
fn referred_to(passages: &[&str], reply: &str) -> Vec<usize> {
    let named = named_option(reply);
    let mut places: Vec<usize> = Vec::new();
    if let Some(named) = named {
        let is_named = |text: &&str| text.lines().any(|line| option_mark(line) == Some(named));
        // The last list is the one that was offered.
        places.extend(passages.iter().rposition(is_named));
    }
    let question = passages.iter().rposition(|text| has_question(text));
    // A bare "yes" answers whatever was said last.
    let is_bare = reply.chars().count() <= BARE_REPLY;
    places.extend(question.or_else(|| passages.len().checked_sub(1).filter(|_| is_bare)));
    places.sort_unstable();
    places.dedup();
    places
}

/// The option that a reply names: `2`, `2.`, `B`, `option 2`.
fn named_option(reply: &str) -> Option<ItemMark> {
    let words = || reply.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let number = words().find_map(|word| word.parse::<u32>().ok().filter(|number| *number <= 20));
    if let Some(number) = number {
        return Some(ItemMark::Number(number));
    }
    // A letter is an option when it stands for itself: alone, or as a capital that is no word.
    let is_alone = words().count() == 1;
    words().find_map(|word| {
        let mut letters = word.chars();
        let letter = letters.next().filter(char::is_ascii_alphabetic)?;
        let is_option = letters.next().is_none() && (is_alone || (letter.is_ascii_uppercase() && letter != 'I'));
        is_option.then_some(ItemMark::Letter(letter.to_ascii_uppercase()))
    })
}

/// Question marks of all scripts.
pub(super) fn has_question(text: &str) -> bool {
    text.contains(['?', '？', '؟', '\u{37e}', '՞', '⁇', '፧'])
}

/// What the assistant had said that a short reply answers, for a reader who sees the reply alone: the line of an option,
/// the sentences around a question.
pub(crate) fn offered(words: &str, reply: &str) -> Option<Vec<String>> {
    if !is_short_reply(reply) {
        return None;
    }
    let mut passages: Vec<&str> = Vec::new();
    paragraphs::each(words, |range| passages.extend(words.get(range)));
    let named = named_option(reply);
    let option = |text: &str| {
        let option = text.lines().find(|line| named.is_some() && option_mark(line) == named)?;
        // What the options are about stands above them.
        let lead = text.lines().next().filter(|lead| option_mark(lead).is_none()).unwrap_or_default();
        Some(format!("{lead} {}", option.trim()).trim().to_owned())
    };
    let places = referred_to(&passages, reply);
    let texts = places.into_iter().filter_map(|at| passages.get(at).copied());
    let found: Vec<String> = texts.map(|text| option(text).unwrap_or_else(|| around_question(text))).collect();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_split_off_what_was_found() {
        let found = "One test fails: `resume` has no agent.";
        assert_eq!(announcement(&format!("{found} Let me look at it:")), (found, "Let me look at it:"));
        assert_eq!(announcement("接下来看测试："), ("", "接下来看测试："));
        assert_eq!(announcement("All tests pass."), ("All tests pass.", ""));
        assert_eq!(announcement("Two ways:\n1. this\n2. that:"), ("Two ways:\n1. this\n2. that:", ""));
    }

    #[test]
    fn a_reply_finds_what_it_answers() {
        let words = "Two ways:\n\n1. Rebuild the index\n2. Delete it\n\nWhich one?";
        let answered = |words: &str, reply: &str| offered(words, reply).unwrap_or_default().join(" | ");
        assert_eq!(answered(words, "let's try 2"), "Two ways: 2. Delete it | Which one?");
        assert_eq!(answered(words, "1."), "Two ways: 1. Rebuild the index | Which one?");
        assert_eq!(answered(words, "yes"), "Which one?");
        assert_eq!(answered("**A) now**\n**B) later**", "I'd say B"), "**B) later**");
        assert_eq!(answered("When it exists:\n- **A) skip**\n- **B) ask**", "B)"), "When it exists: - **B) ask**");
        assert_eq!(answered("要我继续吗？", "好的"), "要我继续吗？");
        assert_eq!(
            answered("Which? One is steamed. The other is fried.", "the first"),
            "Which? One is steamed. The other is fried."
        );
        assert_eq!(offered(words, &"long ".repeat(20)), None);
        assert_eq!(offered("", "yes"), None);
    }
}
