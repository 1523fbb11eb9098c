//! A folded conversation as one text: for clients that take a summary instead of messages.

use super::quote::quoted_passage;
use crate::inserted::{STEP, handoff_part, own_words};
use crate::ledger::beside_title;
use crate::reading::{self, Choice, PAGE_SIZES, Reach, Way};
use foldline_transcript::edit::Span;
use foldline_transcript::{PartKind, Role, Transcript};

/// Characters of what stands beside the handoff that are told with it, before and after.
const MOST: usize = 24_000;
/// Stands between a handoff and requests that were kept before it.
const BESIDE: &str = "Messages beside this record, word for word:";
/// Stands between a handoff and what followed it.
const FOLLOWED: &str = "What followed, word for word:";

/// The latest handoff of a conversation, what the user said in messages before it, and what was said and done since; `None` where
/// there is no handoff.
pub fn latest(transcript: &Transcript<'_>) -> Option<String> {
    let parts = (0..transcript.messages.len()).rev();
    let (at, part) = parts.filter_map(|index| Some((index, handoff_part(transcript, index)?))).next()?;
    let mut told = transcript.words(transcript.parts.get(part)?).into_owned();
    let mut unnamed = Vec::new();
    for words in beside(transcript, at, part) {
        if !tell_in_place(&mut told, &words) {
            unnamed.push(words);
        }
    }
    let unnamed: String = unnamed.join("\n\n").chars().take(MOST).collect();
    if !unnamed.is_empty() {
        told.push_str(&format!("\n\n{BESIDE}\n{unnamed}"));
    }
    if let Some(followed) = followed(transcript, at) {
        told.push_str(&format!("\n\n{FOLLOWED}\n{followed}"));
    }
    Some(told)
}

/// Puts the words of a request where the handoff only names it, so that the next fold reads them as that request. `false` where
/// it does not.
fn tell_in_place(told: &mut String, words: &str) -> bool {
    let title = format!(": {}\n", beside_title(words));
    let Some(at) = told.find(&title) else { return false };
    let words: String = words.chars().take(MOST).collect();
    let lines: Vec<&str> = words.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let words = quoted_passage(&lines.join("\n")).replace('\n', &format!("\n{STEP}"));
    told.replace_range(at..at + title.len(), &format!(": {words}\n"));
    true
}

/// The user's words in each message that was kept before the handoff or beside it.
fn beside(transcript: &Transcript<'_>, at: usize, handoff: usize) -> Vec<String> {
    let messages = transcript.messages.iter().take(at + 1).filter(|message| message.role == Role::User);
    let parts = messages.flat_map(|message| message.parts.start as usize..message.parts.end as usize);
    let parts = parts.filter(|index| *index != handoff).filter_map(|index| transcript.parts.get(index));
    let words =
        parts.filter(|part| part.kind == PartKind::Text).map(|part| own_words(transcript, part).trim().to_owned());
    words.filter(|words| !words.is_empty()).collect()
}

/// What was said and done after the handoff; the last of it, where it is much.
fn followed(transcript: &Transcript<'_>, at: usize) -> Option<String> {
    let rest = transcript.messages.get(at + 1..).unwrap_or_default();
    let raw = transcript.raw(Span::new(rest.first()?.span.range().start, rest.last()?.span.range().end));
    let choice = Choice { page_size: *PAGE_SIZES.end(), ..Choice::default() };
    let page = reading::page(&reading::read(raw, ""), &choice, &Way::of(Reach::Nothing), "").ok()?.to_string();
    let skipped = page.chars().count().saturating_sub(MOST);
    let start = page.char_indices().nth(skipped).map_or(0, |(start, _)| start);
    // A line that is cut says something else.
    let start = if skipped == 0 { 0 } else { start + page.get(start..)?.find('\n').map_or(0, |end| end + 1) };
    page.get(start..).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::{Format, wire};

    #[test]
    fn requests_before_the_handoff_and_all_that_followed_are_told_with_it() {
        let body = r#"{"messages":[
            {"role":"user","content":"Ship PAY-3391 first."},
            {"role":"assistant","content":"[FOLDLINE HANDOFF · reference only]\n\n## Goal\nThe import.\n\n[END OF FOLDLINE HANDOFF]"},
            {"role":"user","content":"How far are you?"},
            {"role":"assistant","content":"Half of it."}]}"#;
        let told = latest(&wire::read(body, Some(Format::Anthropic)).unwrap()).unwrap();
        let places =
            ["## Goal", "Ship PAY-3391 first.", "How far are you?", "Half of it."].map(|words| told.find(words));
        assert!(told.starts_with("[FOLDLINE HANDOFF") && places.is_sorted() && places[0].is_some(), "{told}");
    }

    #[test]
    fn a_request_in_the_message_of_the_handoff_is_told_with_it() {
        let body = r#"{"messages":[
            {"role":"user","content":[
                {"type":"text","text":"[FOLDLINE HANDOFF · reference only]\n\n## Goal\nThe import.\n\n[END OF FOLDLINE HANDOFF]"},
                {"type":"text","text":"Ship PAY-3391 first."}]},
            {"role":"assistant","content":"Half of it."}]}"#;
        let told = latest(&wire::read(body, Some(Format::Anthropic)).unwrap()).unwrap();
        assert!(told.contains("Ship PAY-3391 first.") && told.contains("Half of it."), "{told}");
    }

    #[test]
    fn a_request_that_the_handoff_names_is_told_in_its_place() {
        let body = r#"{"messages":[
            {"role":"user","content":"Ship PAY-3391 first.\n## Goal\nThen the rest."},
            {"role":"assistant","content":"[FOLDLINE HANDOFF · reference only]\n\n## Completed Actions\n1. User [1:9]: the message beside this record, \"Ship PAY-3391 first. …\"\n   - $ make\n\n[END OF FOLDLINE HANDOFF]"},
            {"role":"user","content":"Go on."}]}"#;
        let told = latest(&wire::read(body, Some(Format::Anthropic)).unwrap()).unwrap();
        assert!(told.contains("1. User [1:9]: Ship PAY-3391 first.\n   "), "{told}");
        assert!(told.contains("Then the rest.\n   - $ make"), "{told}");
        assert!(!told.contains("\n## Goal") && !told.contains(BESIDE), "{told}");
    }

    #[test]
    fn a_conversation_without_a_handoff_has_none() {
        let body = r#"{"messages":[{"role":"user","content":"Hello."}]}"#;
        assert_eq!(latest(&wire::read(body, Some(Format::Anthropic)).unwrap()), None);
    }
}
