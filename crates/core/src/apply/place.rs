//! Where a handoff goes: its role, and the message it is merged into.

use crate::inserted;
use crate::plan::{Fold, Plan};
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::wire::{
    self,
    compose::{self, Envelope, Purpose, Side},
    field, json,
};
use foldline_transcript::{Format, Message, PartKind, Place, Role, Transcript};
use rustc_hash::FxHashMap;

/// Takes the folded messages out and puts the handoff in their place.
pub(super) fn place_handoff(transcript: &Transcript<'_>, rewrite: &mut Rewrite, plan: &Plan, fold: &Fold) {
    let Some(&first) = fold.messages.first() else {
        return;
    };
    for &message in &fold.messages {
        rewrite.remove(message);
    }
    let tail = plan.zones.tail;
    let before = neighbour(transcript, (0..first).rev());
    let after = match plan.zones.carried {
        Some(_) => Some(Role::User),
        None => neighbour(transcript, tail..transcript.messages.len()),
    };
    let mut place = Placement {
        transcript,
        rewrite,
        at: tail,
        parent: (0..first).rev().find_map(|index| link_of(transcript, index)),
    };
    let context: Vec<&str> = fold.context.iter().map(String::as_str).collect();
    let handoff = fold.handoff.text.as_str();
    let all: Vec<&str> = context.iter().copied().chain([handoff]).collect();
    // What the host wrote is never the assistant's: then it goes into the message that follows.
    let (own, merged) = match role_of(transcript.format, before, after) {
        HandoffRole::Own(Role::Assistant) => (Some((Role::Assistant, vec![handoff])), context),
        HandoffRole::Own(role) => (Some((role, all)), Vec::new()),
        HandoffRole::MergeIntoNext => (None, all),
    };
    if let Some((role, texts)) = own {
        place.insert_texts(role, &texts);
    }
    let next = (tail..transcript.messages.len()).find(|&index| is_speaker(transcript, index));
    match (plan.zones.carried, next) {
        (Some(carried), _) => place.insert_request(carried, &merged),
        _ if merged.is_empty() => {}
        (None, Some(next)) => compose::add_texts(transcript, place.rewrite, next, &merged, Side::Front),
        (None, None) => place.insert_texts(Role::User, &merged),
    }
    let last = place.parent.clone();
    if transcript.format == Format::ClaudeCode {
        relink(transcript, rewrite, &fold.messages, last.as_deref());
    }
}

/// Who says the handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandoffRole {
    Own(Role),
    MergeIntoNext,
}

/// Chooses a role that differs from both neighbours; where none does, the handoff goes into the
/// message that follows.
fn role_of(format: Format, before: Option<Role>, after: Option<Role>) -> HandoffRole {
    let users_may_follow = matches!(format, Format::OpenAiResponses | Format::Gemini);
    let free = |role: Role| before != Some(role) && after != Some(role);
    match (before, after) {
        // A conversation starts with its user.
        (None, Some(Role::User)) if !users_may_follow => HandoffRole::MergeIntoNext,
        (None, _) => HandoffRole::Own(Role::User),
        _ if users_may_follow => HandoffRole::Own(Role::User),
        _ if free(Role::User) => HandoffRole::Own(Role::User),
        _ if free(Role::Assistant) => HandoffRole::Own(Role::Assistant),
        _ => HandoffRole::MergeIntoNext,
    }
}

/// The nearest message that takes part in the alternation of roles.
fn neighbour(transcript: &Transcript<'_>, mut indexes: impl Iterator<Item = usize>) -> Option<Role> {
    let index = indexes.find(|&index| is_speaker(transcript, index))?;
    transcript.messages.get(index).map(|message| message.role)
}

fn is_speaker(transcript: &Transcript<'_>, index: usize) -> bool {
    transcript.messages.get(index).is_some_and(|message| !message.role.is_instruction() && message.role != Role::Meta)
}

/// Where new messages go, and what they hang on.
struct Placement<'p, 't, 'a> {
    transcript: &'t Transcript<'a>,
    rewrite: &'p mut Rewrite,
    at: usize,
    parent: Option<String>,
}

impl Placement<'_, '_, '_> {
    fn insert_texts(&mut self, role: Role, texts: &[&str]) {
        let envelope = Envelope { parent: self.parent.as_deref(), purpose: Purpose::Summary };
        let message = compose::texts_message(self.transcript.format, role, texts, envelope);
        self.insert(message);
    }

    /// A request of the middle, alive again: its own words, verbatim, behind these texts.
    fn insert_request(&mut self, index: usize, in_front: &[&str]) {
        let transcript = self.transcript;
        let envelope = Envelope { parent: self.parent.as_deref(), purpose: Purpose::Note };
        let has_results = transcript.parts_at(index).iter().any(|part| part.kind == PartKind::ToolResult);
        let message = match transcript.messages.get(index) {
            Some(message) if inserted::is_handoff(transcript, index) => {
                Some(without_handoff(transcript, index, message, envelope))
            }
            Some(message) if !has_results && transcript.format != Format::ClaudeCode => {
                Some(transcript.raw(message.span).to_owned())
            }
            _ => compose::own_words(transcript, index, envelope),
        };
        let Some(message) = message else {
            return;
        };
        let message = with_texts_in_front(&message, transcript.format, in_front).unwrap_or(message);
        self.insert(message);
    }

    fn insert(&mut self, message: String) {
        if self.transcript.format == Format::ClaudeCode {
            self.parent = own_link(&message);
        }
        self.rewrite.insert(self.at, message);
    }
}

/// Lines that hang on a line that goes hang on what stands in its place: the last line that was
/// inserted for a folded one, the line before for any other.
pub(super) fn relink(transcript: &Transcript<'_>, rewrite: &mut Rewrite, folded: &[usize], inserted: Option<&str>) {
    let mut moved: FxHashMap<&str, String> = FxHashMap::default();
    for (index, link) in transcript.links.iter().enumerate() {
        let parent = transcript.raw(link.parent);
        let now = moved.get(parent).cloned();
        if rewrite.removes(index) {
            let instead = match folded.binary_search(&index) {
                Ok(_) => inserted.unwrap_or("null").to_owned(),
                Err(_) => now.unwrap_or_else(|| parent.to_owned()),
            };
            moved.insert(transcript.raw(link.own), instead);
        } else if let (Some(now), false) = (now, link.parent.is_empty()) {
            rewrite.edits.replace(link.parent, now);
        }
    }
}

/// The own words of a message that a handoff was merged into.
fn without_handoff(transcript: &Transcript<'_>, index: usize, message: &Message, envelope: Envelope<'_>) -> String {
    let merged = inserted::handoff_part(transcript, index);
    let mut blocks = Vec::new();
    for part_index in message.parts.start as usize..message.parts.end as usize {
        let Some(part) = transcript.parts.get(part_index) else {
            continue;
        };
        match part.kind {
            PartKind::ToolResult => {}
            // What stands before a handoff is the host's, and comes with the new one.
            PartKind::Text if merged.is_some_and(|merged| part_index < merged) => {}
            _ if Some(part_index) == merged => {
                let words = inserted::own_words(transcript, part);
                if part.place == Place::Whole {
                    return compose::text_message(transcript.format, Role::User, &words, envelope);
                }
                if !words.trim().is_empty() {
                    blocks.push(compose::text_block(transcript.format, Role::User, &json::encode(&words)));
                }
            }
            _ if part.place == Place::Block => blocks.push(transcript.raw(part.span).to_owned()),
            _ => {}
        }
    }
    compose::block_message(transcript.format, Role::User, &blocks, envelope)
}

/// The `uuid` literal of a line in the source.
fn link_of(transcript: &Transcript<'_>, index: usize) -> Option<String> {
    let link = transcript.links.get(index)?;
    (!link.own.is_empty()).then(|| transcript.raw(link.own).to_owned())
}

/// The `uuid` literal of a line we wrote.
fn own_link(line: &str) -> Option<String> {
    let whole = foldline_transcript::edit::Span::new(0, line.len());
    field::value(line, whole, "uuid").map(|span| span.of(line).to_owned())
}

/// A single message with texts put in front of its own words.
fn with_texts_in_front(message: &str, format: Format, texts: &[&str]) -> Option<String> {
    if texts.is_empty() {
        return None;
    }
    let transcript = wire::read_one(message, format).ok()?;
    let mut rewrite = Rewrite::default();
    compose::add_texts(&transcript, &mut rewrite, 0, texts, Side::Front);
    Some(rewrite.apply(&transcript))
}
