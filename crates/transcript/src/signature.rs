//! Signatures on the calls of Gemini.
//!
//! A model that signs its thoughts puts the signature on the first call of each reply. In the turn that is going on, all
//! that came after the last words of the user, the provider refuses a reply whose first call comes back without one;
//! earlier turns may lose them. A fixed word stands for a signature that is lost.

use crate::edit::Edit;
use crate::rewrite::Rewrite;
use crate::transcript::{Format, Part, PartKind, Role, Transcript};
use crate::wire::field::{self, Field};
use crate::wire::gemini;

/// The signature of calls that have none, as Google documents it.
const STAND_IN: &str = "skip_thought_signature_validator";

/// The signature of a part, if it has one.
pub fn of(transcript: &Transcript<'_>, part: &Part) -> Option<Field> {
    if transcript.format != Format::Gemini {
        return None;
    }
    let is_signature = |field: &Field| !matches!(transcript.raw(field.value), "null" | "\"\"");
    gemini::find(transcript.text, part.span, gemini::SIGNATURE).filter(is_signature)
}

/// The message with which the turn begins that is going on: the last that is the user's and no answer of tools.
pub fn current_turn(transcript: &Transcript<'_>) -> usize {
    let is_result = |part: &Part| part.kind == PartKind::ToolResult;
    let starts = |index: usize| {
        transcript.messages.get(index).is_some_and(|message| message.role == Role::User)
            && !transcript.parts_at(index).iter().any(is_result)
    };
    (0..transcript.messages.len()).rev().find(|&index| starts(index)).unwrap_or_default()
}

/// The calls that need a signature and have none, as parts; none where nobody signs.
pub(crate) fn missing(transcript: &Transcript<'_>) -> Vec<usize> {
    let is_call = |part: &&Part| part.kind == PartKind::ToolCall;
    if transcript.format != Format::Gemini
        || !transcript.parts.iter().filter(is_call).any(|call| of(transcript, call).is_some())
    {
        return Vec::new();
    }
    let messages = transcript.messages.iter().skip(current_turn(transcript));
    let first_calls = messages.filter(|message| message.role == Role::Assistant).filter_map(|message| {
        let first = transcript.parts_of(message).iter().position(|part| part.kind == PartKind::ToolCall)?;
        Some(message.parts.start as usize + first)
    });
    first_calls.filter(|&call| transcript.parts.get(call).is_some_and(|call| of(transcript, call).is_none())).collect()
}

/// The edit that gives a call the signature that stands for a lost one.
pub(crate) fn stand_in(transcript: &Transcript<'_>, call: &Part) -> Edit {
    let spelled = gemini::SIGNATURE.into_iter().find(|key| field::find(transcript.text, call.span, key).is_some());
    let key = spelled.unwrap_or(gemini::SIGNATURE[0]);
    field::set(transcript.text, call.span, key, &format!("\"{STAND_IN}\""))
}

/// Takes the signature off a call whose arguments are no longer what was signed.
pub fn release(transcript: &Transcript<'_>, rewrite: &mut Rewrite, call: &Part) {
    if let Some(signature) = of(transcript, call) {
        rewrite.edits.delete(signature.removal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::read;

    fn call(signature: &str) -> String {
        format!(r#"{{"functionCall":{{"name":"f"}}{signature}}}"#)
    }

    #[test]
    fn first_calls_of_the_turn_that_goes_on_need_their_signature() {
        let (signed, bare) = (call(r#","thoughtSignature":"c2ln""#), call(""));
        let user = r#"{"role":"user","parts":[{"text":"x"}]}"#;
        let result = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
        let model = |parts: &[&String]| {
            let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
            format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(","))
        };
        let list = |contents: &[&str]| format!("[{}]", contents.join(","));
        let (one, two, both) = (model(&[&signed]), model(&[&bare]), model(&[&signed, &bare]));
        let missing_in = |contents: &[&str]| missing(&read(&list(contents), None).unwrap());
        assert_eq!(missing_in(&[user, &two, result, &two]), [0; 0], "nobody signs");
        assert_eq!(missing_in(&[user, &both, result, result, &one]), [0; 0], "the first stands for all");
        assert_eq!(missing_in(&[user, &two, result, user, &one]), [0; 0], "an earlier turn");
        let text = list(&[user, &one, result, &two]);
        let transcript = read(&text, None).unwrap();
        assert_eq!(missing(&transcript), [3]);
        let edit = stand_in(&transcript, &transcript.parts[3]);
        assert!(edit.text.contains(r#""thoughtSignature":"skip_thought_signature_validator""#));
    }
}
