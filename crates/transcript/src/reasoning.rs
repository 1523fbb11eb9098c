//! Which items of OpenAI's Responses format were written with which reasoning.
//!
//! A provider remembers the items it wrote by their ids. A call or a message that comes back under its id must come
//! with the reasoning item of the same reply (400 otherwise); one without an id is taken as it is. So the items of one
//! reply stay on one side of every boundary, and an item whose reasoning goes loses its id.

use crate::edit::Span;
use crate::rewrite::Rewrite;
use crate::transcript::{Format, Part, PartKind, Place, Role, Transcript};
use crate::wire::field;
use rustc_hash::{FxHashMap, FxHashSet};

/// Kinds of items that are taken without an id; a message may leave out its kind, too.
const FREE: [&str; 6] = ["", "message", "function_call", "custom_tool_call", "shell_call", "apply_patch_call"];

/// Whether the message is a Responses item of reasoning.
pub fn is_reasoning(transcript: &Transcript<'_>, index: usize) -> bool {
    matches!(transcript.parts_at(index), [Part { kind: PartKind::Sealed, place: Place::Item, .. }])
}

/// For each item id the ids of the reasoning that it may have been written with: one, unless a client repeats the item
/// elsewhere.
#[derive(Debug, Default)]
pub struct Needs<'a> {
    of: FxHashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Needs<'a> {
    /// Gathers them. Results do not end a reply: some clients write each one down behind its call, so whatever follows
    /// up to the next reasoning may belong to the same reply. An id more than necessary costs nothing.
    pub fn of(transcript: &Transcript<'a>) -> Needs<'a> {
        let mut needs = Needs::default();
        if transcript.format != Format::OpenAiResponses {
            return needs;
        }
        let mut latest = "";
        for (index, item) in transcript.messages.iter().enumerate() {
            let id = transcript.raw(item.reply);
            match item.role {
                Role::Assistant if is_reasoning(transcript, index) => latest = id,
                Role::Assistant if !id.is_empty() && !latest.is_empty() => {
                    let reasoning = needs.of.entry(id).or_default();
                    if !reasoning.contains(&latest) {
                        reasoning.push(latest);
                    }
                }
                Role::Assistant | Role::Tool | Role::Other | Role::Meta => {}
                Role::User | Role::System | Role::Developer => latest = "",
            }
        }
        needs
    }

    /// The items of `transcript` that stay although their reasoning is not among what stays.
    pub fn unmet(&self, transcript: &Transcript<'_>, stays: impl Fn(usize) -> bool) -> Vec<usize> {
        if self.of.is_empty() {
            return Vec::new();
        }
        let all = transcript.messages.iter().enumerate().filter(|(index, _)| stays(*index));
        let present: FxHashSet<&str> = all
            .filter(|(index, _)| is_reasoning(transcript, *index))
            .map(|(_, item)| transcript.raw(item.reply))
            .collect();
        self.broken(transcript, |_, need| present.contains(need)).into_iter().filter(|index| stays(*index)).collect()
    }

    /// The items of `transcript`, which came of the one that has these needs, before which their reasoning does not
    /// stand any more. It may stand elsewhere; whoever reads `transcript` alone cannot know of it.
    pub fn forgotten(&self, transcript: &Transcript<'_>) -> Vec<usize> {
        let now = Needs::of(transcript);
        self.broken(transcript, |id, need| now.of.get(id).is_some_and(|needs| needs.contains(&need)))
    }

    /// The items that can go without their ids and need reasoning that is not `there`.
    fn broken(&self, transcript: &Transcript<'_>, there: impl Fn(&str, &str) -> bool) -> Vec<usize> {
        let is_broken = |id: &str| self.of.get(id).is_some_and(|needs| needs.iter().any(|need| !there(id, need)));
        let items = transcript.messages.iter().enumerate().filter(|(index, item)| {
            item.role == Role::Assistant && !is_reasoning(transcript, *index) && is_broken(transcript.raw(item.reply))
        });
        items.filter(|(_, item)| is_free(transcript, item.span)).map(|(index, _)| index).collect()
    }
}

/// Whether an item is taken without its id.
fn is_free(transcript: &Transcript<'_>, item: Span) -> bool {
    FREE.contains(&field::word(transcript.text, item, "type"))
}

/// Takes the id off an item.
pub fn release(transcript: &Transcript<'_>, rewrite: &mut Rewrite, index: usize) {
    if let Some(item) = transcript.messages.get(index)
        && let Some(id) = field::find(transcript.text, item.span, "id")
    {
        rewrite.edits.delete(id.removal);
    }
}

/// The items that belong to the reply of the one before them, of which reasoning is a part.
pub fn continuations(transcript: &Transcript<'_>) -> Vec<usize> {
    let mut continuations = Vec::new();
    if transcript.format != Format::OpenAiResponses {
        return continuations;
    }
    let mut has_reasoning = false;
    for (index, item) in transcript.messages.iter().enumerate() {
        // An item of an unknown kind may well be the model's.
        let is_models = matches!(item.role, Role::Assistant | Role::Other);
        if has_reasoning && is_models {
            continuations.push(index);
        }
        has_reasoning = is_models && (has_reasoning || is_reasoning(transcript, index));
    }
    continuations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::read;

    const USER: &str = r#"{"role":"user","content":"Hi"}"#;

    fn list(items: &[&str]) -> String {
        format!("[{}]", items.join(","))
    }

    fn call(id: &str) -> String {
        format!(r#"{{"type":"function_call","id":"fc_{id}","call_id":"c{id}","name":"f","arguments":"{{}}"}}"#)
    }

    fn output(id: &str) -> String {
        format!(r#"{{"type":"function_call_output","call_id":"c{id}","output":"ok"}}"#)
    }

    #[test]
    fn what_follows_reasoning_needs_it_until_somebody_else_speaks() {
        let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
        let said =
            r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x"}]}"#;
        let search = r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#;
        let (one, two, three) = (call("1"), call("2"), call("3"));
        let (first, second) = (output("1"), output("2"));
        let text = list(&[USER, reasoning, said, search, &one, &first, &two, &second, USER, &three]);
        let transcript = read(&text, Some(Format::OpenAiResponses)).unwrap();
        let needs = Needs::of(&transcript);
        assert_eq!(needs.unmet(&transcript, |_| true), [0; 0]);
        assert_eq!(needs.unmet(&transcript, |index| index != 1), [2, 4, 6], "a search cannot go without its id");
        assert_eq!(continuations(&transcript), [2, 3, 4]);
        let mut rewrite = Rewrite::default();
        release(&transcript, &mut rewrite, 2);
        release(&transcript, &mut rewrite, 4);
        let freed = rewrite.apply(&transcript);
        assert_eq!(freed, text.replace(r#","id":"msg_1""#, "").replace(r#","id":"fc_1""#, ""));
    }

    #[test]
    fn a_repeated_item_needs_the_reasoning_of_every_place() {
        let reasoning = |id: &str| format!(r#"{{"type":"reasoning","id":"{id}","summary":[]}}"#);
        let (first, second, one) = (reasoning("rs_1"), reasoning("rs_2"), call("1"));
        let text = list(&[USER, &first, &one, &output("1"), &second, &one]);
        let transcript = read(&text, Some(Format::OpenAiResponses)).unwrap();
        let needs = Needs::of(&transcript);
        assert_eq!(needs.unmet(&transcript, |_| true), [0; 0]);
        assert_eq!(needs.unmet(&transcript, |index| index != 1), [2, 5]);
        assert_eq!(needs.unmet(&transcript, |index| index != 4), [2, 5]);
    }

    #[test]
    fn reasoning_that_stands_elsewhere_is_forgotten() {
        let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
        let other = r#"{"type":"reasoning","id":"rs_2","summary":[]}"#;
        let (one, two) = (call("1"), call("2"));
        let before = list(&[USER, reasoning, &one, &output("1"), USER, other, reasoning, &two]);
        let after = list(&[USER, reasoning, &one, &output("1"), USER, other, &two]);
        let (before, after) = [&before, &after].map(|text| read(text, Some(Format::OpenAiResponses)).unwrap()).into();
        let needs = Needs::of(&before);
        assert_eq!(needs.unmet(&after, |_| true), [0; 0], "it is there");
        assert_eq!(needs.forgotten(&after), [6]);
        assert_eq!(needs.forgotten(&before), [0; 0]);
    }

    #[test]
    fn no_other_format_has_such_needs() {
        let text = list(&[USER, r#"{"role":"assistant","id":"m","content":"x"}"#]);
        let transcript = read(&text, Some(Format::OpenAiChat)).unwrap();
        assert_eq!(Needs::of(&transcript).unmet(&transcript, |_| false), [0; 0]);
    }
}
