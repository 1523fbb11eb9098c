//! Which result answers which call, as the provider sees it: by id, once, and in the place where
//! it looks. Stricter than [`Exchanges`](crate::transcript::Exchanges), which pairs over any distance.

use super::turns::{Turns, only_answers};
use super::{Finding, Rule, Subject};
use crate::transcript::{Format, Part, PartKind, Place, Role, Transcript};
use crate::wire::compose::Pairing;
use crate::wire::{field, json};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::VecDeque;

/// All calls and results of a transcript, and what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    calls: Vec<Call>,
    /// Results that answer nothing, and why.
    stray: Vec<(usize, Rule)>,
    /// Results that come after other content in their turn.
    late: Vec<usize>,
    /// Calls that wait at the very end.
    pub(crate) in_flight: Vec<usize>,
}

#[derive(Debug)]
struct Call {
    part: usize,
    turn: usize,
    answer: Answer,
    id_fault: Option<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    InPlace(usize),
    Elsewhere(usize),
}

/// What a result names: an id, or (in the old form of function calls, and with Gemini) a function.
type Key<'a> = (Naming, Cow<'a, str>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Naming {
    Id,
    Name,
    /// Among calls that have no id.
    NameAlone,
}

/// The calls that a result can answer at some point of the walk, by key, as places in `Pairs::calls`.
/// A key whose calls are all answered stays, so that a second answer can be told from an orphan.
#[derive(Default)]
struct Open<'a> {
    calls: FxHashMap<Key<'a>, VecDeque<usize>>,
}

impl Pairs {
    /// Pairs the calls and results of a transcript.
    pub(crate) fn of(transcript: &Transcript<'_>, turns: &Turns) -> Pairs {
        let mut pairs = Pairs::default();
        if transcript.format == Format::ShareGpt {
            // Calls are words in a trajectory; only the order of turns can be judged.
            return pairs;
        }
        pairs.walk(transcript, turns);
        pairs.find_elsewhere(transcript);
        let flying = first_flying_turn(transcript, turns);
        pairs.in_flight = pairs
            .calls
            .iter()
            .filter(|call| call.answer == Answer::None && flying.is_some_and(|first| call.turn >= first))
            .map(|call| call.part)
            .collect();
        pairs
    }

    /// Adds what is wrong to `findings`.
    pub(crate) fn check(&self, transcript: &Transcript<'_>, findings: &mut Vec<Finding>) {
        let id_of = |part: usize| transcript.parts.get(part).map_or("", |part| transcript.raw(part.id));
        let mut add = |part: usize, rule: Rule, subject: Subject, detail: String| {
            findings.push(Finding { message: transcript.message_of(part), rule, subject, detail });
        };
        for call in &self.calls {
            let id = id_of(call.part);
            if self.in_flight.binary_search(&call.part).is_ok() {
                continue;
            }
            if let Some(rule) = call.id_fault {
                let result = match call.answer {
                    Answer::InPlace(result) => Some(result),
                    _ => None,
                };
                let detail = format!("tool call of `{}` with id `{id}`", transcript.tool_of(call.part));
                add(call.part, rule, Subject::Pair { call: call.part, result }, detail);
            }
            match call.answer {
                Answer::InPlace(_) => {}
                Answer::None if !is_judged(transcript, call.part) => {}
                Answer::None => {
                    let subject = Subject::Pair { call: call.part, result: None };
                    add(call.part, Rule::UnansweredCall, subject, format!("tool call `{id}` has no result"));
                }
                Answer::Elsewhere(result) => {
                    let subject = Subject::Pair { call: call.part, result: Some(result) };
                    let caller = transcript.message_of(call.part);
                    let detail = format!(
                        "the result of tool call `{id}` (message {caller}) is not where the provider \
                     expects it"
                    );
                    add(result, Rule::MisplacedResult, subject, detail);
                }
            }
        }
        for &(result, rule) in &self.stray {
            if is_judged(transcript, result) {
                let what = match rule {
                    Rule::OrphanResult => "has no matching tool call",
                    _ => "answers a tool call that already has a result",
                };
                add(result, rule, Subject::Part(result), format!("tool result `{}` {what}", id_of(result)));
            }
        }
        for &result in &self.late {
            let detail = format!("tool result `{}` comes after other content", id_of(result));
            add(result, Rule::ResultsNotFirst, Subject::Part(result), detail);
        }
    }

    fn walk<'a>(&mut self, transcript: &Transcript<'a>, turns: &Turns) {
        let format = transcript.format;
        let mut open = Open::default();
        for (index, turn) in turns.list.iter().enumerate() {
            let messages = turns.messages_of(turn);
            match (format, turn.role) {
                (Format::Anthropic | Format::ClaudeCode, Role::System) => {}
                (Format::OpenAiResponses, _) => {
                    self.open_calls(transcript, messages, index, &mut open);
                    self.match_results(transcript, messages, &mut open);
                }
                (_, Role::Assistant) => {
                    open = Open::default();
                    self.match_results(transcript, messages, &mut open);
                    self.open_calls(transcript, messages, index, &mut open);
                }
                (Format::OpenAiChat, Role::Tool) => self.match_results(transcript, messages, &mut open),
                (Format::OpenAiChat, _) => open = Open::default(),
                _ => {
                    self.match_results(transcript, messages, &mut open);
                    open = Open::default();
                }
            }
        }
    }

    fn open_calls<'a>(&mut self, transcript: &Transcript<'a>, messages: &[usize], turn: usize, open: &mut Open<'a>) {
        for (part_index, part) in parts_of(transcript, messages) {
            if part.kind != PartKind::ToolCall || !is_at_home(transcript.format, part) {
                continue;
            }
            let mut id_fault = None;
            for key in keys_of_call(transcript, part) {
                let is_id = key.0 == Naming::Id || part.place == Place::Field;
                let nameless = key.1.is_empty();
                let waiting = open.calls.entry(key).or_default();
                match () {
                    () if nameless => id_fault = Some(Rule::EmptyCallId),
                    () if is_id && !waiting.is_empty() => id_fault = id_fault.or(Some(Rule::DuplicateCallId)),
                    () => {}
                }
                waiting.push_back(self.calls.len());
            }
            self.calls.push(Call { part: part_index, turn, answer: Answer::None, id_fault });
        }
    }

    fn match_results<'a>(&mut self, transcript: &Transcript<'a>, messages: &[usize], open: &mut Open<'a>) {
        let results_lead = matches!(transcript.format, Format::Anthropic | Format::ClaudeCode);
        let mut other_content = false;
        for (part_index, part) in parts_of(transcript, messages) {
            if part.kind != PartKind::ToolResult || !is_at_home(transcript.format, part) {
                other_content = true;
                continue;
            }
            let mut known = None;
            for key in keys_of_result(transcript, part_index, part) {
                let Some(waiting) = open.calls.get_mut(&key) else {
                    continue;
                };
                // A call that waits under several keys may be answered by now.
                let is_answered =
                    |place: &usize| self.calls.get(*place).is_some_and(|call| call.answer != Answer::None);
                while waiting.front().is_some_and(is_answered) {
                    waiting.pop_front();
                }
                // Lines of a reply and its results can be mixed up in a session file; an answer still comes later.
                let is_later = |place: &usize| self.calls.get(*place).is_some_and(|call| call.part < part_index);
                known = Some(waiting.front().is_some_and(is_later).then(|| waiting.pop_front()).flatten());
                break;
            }
            match known {
                Some(Some(call)) => {
                    if let Some(call) = self.calls.get_mut(call) {
                        call.answer = Answer::InPlace(part_index);
                    }
                    if results_lead && other_content {
                        self.late.push(part_index);
                    }
                }
                Some(None) => self.stray.push((part_index, Rule::DuplicateResult)),
                None => self.stray.push((part_index, Rule::OrphanResult)),
            }
        }
    }

    /// Gives orphans to the nearest unanswered call of their id before them.
    fn find_elsewhere(&mut self, transcript: &Transcript<'_>) {
        if self.stray.is_empty() || transcript.format == Format::OpenAiResponses {
            return;
        }
        let mut unanswered: FxHashMap<Key<'_>, Vec<usize>> = FxHashMap::default();
        for (place, call) in self.calls.iter().enumerate() {
            if let (Answer::None, Some(part)) = (call.answer, transcript.parts.get(call.part)) {
                for key in keys_of_call(transcript, part).into_iter().filter(|key| !key.1.is_empty()) {
                    unanswered.entry(key).or_default().push(place);
                }
            }
        }
        let calls = &mut self.calls;
        self.stray.retain(|&(result, rule)| {
            let Some(part) = transcript.parts.get(result).filter(|_| rule == Rule::OrphanResult) else {
                return true;
            };
            let keys = keys_of_result(transcript, result, part);
            let Some(waiting) = keys.iter().find_map(|key| unanswered.remove(key).map(|waiting| (key, waiting))) else {
                return true;
            };
            let (key, mut waiting) = waiting;
            let before = waiting.partition_point(|&place| calls.get(place).is_some_and(|call| call.part < result));
            // What waits under several keys may be answered by now.
            let is_open = |place: &usize| calls.get(*place).is_some_and(|call| call.answer == Answer::None);
            let nearest = waiting.get(..before).unwrap_or_default().iter().rposition(is_open);
            if let Some(call) = nearest.and_then(|nearest| calls.get_mut(waiting.remove(nearest))) {
                call.answer = Answer::Elsewhere(result);
            }
            unanswered.insert(key.clone(), waiting);
            nearest.is_none()
        });
    }
}

/// The parts of some messages with their indices.
fn parts_of<'t>(transcript: &'t Transcript<'_>, messages: &'t [usize]) -> impl Iterator<Item = (usize, &'t Part)> {
    messages.iter().filter_map(|&index| transcript.messages.get(index)).flat_map(|message| {
        (message.parts.start as usize..message.parts.end as usize)
            .filter_map(|index| transcript.parts.get(index).map(|part| (index, part)))
    })
}

/// Whether a call or a result hangs where this format hangs it.
pub(super) fn is_at_home(format: Format, part: &Part) -> bool {
    match format {
        Format::OpenAiChat => match part.kind {
            PartKind::ToolCall => matches!(part.place, Place::Call | Place::Field),
            _ => part.place == Place::Whole,
        },
        Format::OpenAiResponses => part.place == Place::Item,
        Format::Anthropic | Format::ClaudeCode | Format::Gemini => part.place == Place::Block,
        Format::ShareGpt => true,
    }
}

/// The keys under which a call waits.
fn keys_of_call<'a>(transcript: &Transcript<'a>, part: &Part) -> Vec<Key<'a>> {
    let id = json::decode(transcript.raw(part.id));
    if transcript.format != Format::Gemini {
        return vec![(if part.place == Place::Field { Naming::Name } else { Naming::Id }, id)];
    }
    let name = json::decode(transcript.raw(part.name));
    let own = if id.is_empty() { (Naming::NameAlone, name.clone()) } else { (Naming::Id, id) };
    vec![own, (Naming::Name, name)]
}

/// The keys under which the call of a result is looked for, one after the other.
fn keys_of_result<'a>(transcript: &Transcript<'a>, part_index: usize, part: &Part) -> Vec<Key<'a>> {
    if transcript.format != Format::Gemini {
        return vec![key_of_result(transcript, part_index, part)];
    }
    let name = json::decode(transcript.raw(part.name));
    match json::decode(transcript.raw(part.id)) {
        id if id.is_empty() => vec![(Naming::Name, name)],
        id => vec![(Naming::Id, id), (Naming::NameAlone, name)],
    }
}

fn key_of_result<'a>(transcript: &Transcript<'a>, part_index: usize, part: &Part) -> Key<'a> {
    let id = json::decode(transcript.raw(part.id));
    if transcript.format != Format::OpenAiChat {
        return (Naming::Id, id);
    }
    let message = transcript.messages.get(transcript.message_of(part_index));
    let is_function = message.is_some_and(|message| field::word(transcript.text, message.span, "role") == "function");
    match is_function {
        true => (Naming::Name, json::decode(transcript.raw(part.name))),
        // The reader takes the name where there is no id; a `tool` message must have one.
        false if part.id == part.name => (Naming::Id, Cow::Borrowed("")),
        false => (Naming::Id, id),
    }
}

/// Whether the provider insists on the other half: always, but for Responses items of unknown kinds.
fn is_judged(transcript: &Transcript<'_>, part_index: usize) -> bool {
    let Some(part) = transcript.parts.get(part_index) else {
        return false;
    };
    if transcript.format != Format::OpenAiResponses {
        return true;
    }
    let kind = field::word(transcript.text, part.span, "type");
    Pairing::of_call(kind).or_else(|| Pairing::of_result(kind)).is_some()
}

/// From which turn on calls without results are still in flight: the last assistant turn (or run of
/// assistant items), if nothing comes after it. Results that are there are about to be sent, and then nothing flies any
/// more; only a session file gets its results line by line.
fn first_flying_turn(transcript: &Transcript<'_>, turns: &Turns) -> Option<usize> {
    let list = &turns.list;
    match transcript.format {
        Format::OpenAiResponses => {
            let first = list.iter().rposition(|turn| turn.role != Role::Assistant).map_or(0, |at| at + 1);
            (first < list.len()).then_some(first)
        }
        Format::OpenAiChat => {
            let last = list.len().checked_sub(1)?;
            (list.get(last)?.role == Role::Assistant).then_some(last)
        }
        _ => {
            let mut speakers = list.iter().enumerate().rev().filter(|(_, turn)| turn.role != Role::System);
            let (last, turn) = speakers.next()?;
            if turn.role == Role::Assistant {
                return Some(last);
            }
            if matches!(transcript.format, Format::Anthropic | Format::Gemini) {
                return None;
            }
            let mut messages = turns.messages_of(turn).iter().filter_map(|&index| transcript.messages.get(index));
            let answers = turn.role == Role::User && messages.all(|message| only_answers(transcript, message));
            let (before, turn) = speakers.next()?;
            (answers && turn.role == Role::Assistant).then_some(before)
        }
    }
}
