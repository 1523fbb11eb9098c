//! The laws of validity, on generated transcripts of all formats.
#![allow(clippy::unwrap_used)]

mod common;

use common::generate::{Knobs, any_transcript};
use foldline_core::Format;
use foldline_transcript::repair::{Fix, repair};
use foldline_transcript::validate::{Rule, in_flight, validate, validate_rewrite};
use foldline_transcript::wire;
use foldline_transcript::{PartKind, Role};
use proptest::prelude::*;

/// Repairs that only the last rounds make.
const GIVEN_UP: &str = "nothing less would do";

fn check_repair(format: Format, text: &str) -> Result<(), TestCaseError> {
    let Ok(before) = wire::read(text, Some(format)) else {
        return Ok(());
    };
    let violations = validate(&before);
    let Some(repaired) = repair(&before) else {
        prop_assert!(violations.is_empty() || !before.has_begun());
        return Ok(());
    };
    prop_assert!(!violations.is_empty());
    prop_assert!(!repaired.fixes.is_empty());
    let after = wire::read(&repaired.text, Some(format))
        .map_err(|error| TestCaseError::fail(format!("{error}\n{}", repaired.text)))?;
    let left = validate_rewrite(&before, &after);
    prop_assert!(left.is_empty(), "{left:?}\n{}\nfixes: {:#?}", repaired.text, repaired.fixes);
    prop_assert!(repair(&after).is_none());
    prop_assert!(!repaired.fixes.iter().any(|fix| fix.what.contains(GIVEN_UP)), "{:#?}", repaired.fixes);

    // Every message knows where it came from; what no fix names keeps its bytes.
    prop_assert_eq!(repaired.origin.len(), after.messages.len());
    let touched = |index: usize| repaired.fixes.iter().any(|fix| fix.message == index);
    for (index, message) in before.messages.iter().enumerate() {
        if touched(index) {
            continue;
        }
        let raw = before.raw(message.span);
        let kept = repaired.origin.iter().zip(&after.messages).any(|(&origin, message)| {
            origin == index && (after.raw(message.span) == raw || relinked(format, after.raw(message.span), raw))
        });
        prop_assert!(kept, "message {index} was lost: {raw}\n{}\n{:#?}", repaired.text, repaired.fixes);
    }

    // Calls in flight keep their bytes, and signed parts are whole or gone. In a session file whose lines
    // are out of order, lines of one reply can come together only by a repair: then nothing flies any more.
    for call in in_flight(&before) {
        let raw = before.raw(before.parts[call].span);
        // Without its reasoning it goes on without the id that asks for it.
        let is_unnamed = |fix: &Fix| fix.rule == Rule::LostReasoning && fix.message == before.message_of(call);
        let flies_on = format != Format::ClaudeCode || in_flight(&after).len() >= in_flight(&before).len();
        prop_assert!(
            !flies_on || repaired.text.contains(raw) || repaired.fixes.iter().any(is_unnamed),
            "the call in flight was touched: {raw}\n{}",
            repaired.text
        );
    }
    for part in after.parts.iter().filter(|part| part.kind == PartKind::Sealed) {
        prop_assert!(text.contains(after.raw(part.span)));
    }
    Ok(())
}

/// A session line whose parent went gets another, and nothing else.
fn relinked(format: Format, after: &str, before: &str) -> bool {
    let without_link = |line: &str| -> Option<String> {
        let (head, tail) = line.split_once("\"parentUuid\":")?;
        let end = tail.find(',')?;
        Some(format!("{head}{}", &tail[end..]))
    };
    format == Format::ClaudeCode && without_link(after).is_some() && without_link(after) == without_link(before)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4 * ProptestConfig::default().cases, ..ProptestConfig::default() })]

    #[test]
    fn what_a_well_behaved_client_sends_is_valid((format, text) in any_transcript(Knobs::HEALTHY)) {
        let transcript = wire::read(&text, Some(format)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let marks_outside = transcript.outer_marks;
        let violations = validate(&transcript);
        prop_assert!(marks_outside > 4 || violations.is_empty(), "{violations:?}\n{text}");
    }

    #[test]
    fn damage_is_repaired((format, text) in any_transcript(Knobs::DAMAGED)) {
        check_repair(format, &text)?;
    }

    #[test]
    fn chaos_is_repaired((format, text) in any_transcript(Knobs::CHAOS)) {
        check_repair(format, &text)?;
    }

    #[test]
    fn any_format_can_be_forced_on_any_text((_, text) in any_transcript(Knobs::DAMAGED), other in 0..Format::NAMES.len()) {
        let format = Format::NAMES[other].0;
        if let Ok(before) = wire::read(&text, Some(format))
            && let Some(repaired) = repair(&before)
        {
            let after = wire::read(&repaired.text, Some(format))
                .map_err(|error| TestCaseError::fail(format!("{error}\n{}", repaired.text)))?;
            let left = validate(&after);
            prop_assert!(left.is_empty(), "{left:?}\n{text}\n{}", repaired.text);
        }
    }
}

/// What the generator makes in its worst mood, again and again.
fn chaos(count: usize) -> impl Iterator<Item = (Format, String)> {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = any_transcript(Knobs::CHAOS);
    (0..count).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

#[test]
fn the_generator_reaches_every_rule_in_every_format_that_has_it() {
    let mut seen = std::collections::BTreeSet::new();
    for (format, text) in chaos(4000) {
        if let Ok(transcript) = wire::read(&text, Some(format)) {
            seen.extend(validate(&transcript).into_iter().map(|violation| (violation.rule.id(), format.name())));
        }
    }
    for (rule, id, _) in foldline_transcript::validate::RULES {
        for format in formats_with(rule) {
            assert!(seen.contains(&(id, format.name())), "{id} never occurs in {format}");
        }
    }
}

/// The formats in which a transcript can break a rule.
fn formats_with(rule: Rule) -> &'static [Format] {
    use Format::{Anthropic, ClaudeCode, Gemini, OpenAiChat, OpenAiResponses, ShareGpt};
    match rule {
        // A bare prompt is no list of messages; the unit tests have it.
        Rule::BarePrompt => &[],
        Rule::UnknownRole | Rule::NullContent | Rule::ContentShape | Rule::NoUserMessage | Rule::OrphanResult => {
            &[OpenAiChat, OpenAiResponses, Anthropic, ClaudeCode, ShareGpt, Gemini]
        }
        Rule::EmptyMessage
        | Rule::BadArguments
        | Rule::ForeignCall
        | Rule::EmptyCallId
        | Rule::DuplicateCallId
        | Rule::UnansweredCall
        | Rule::DuplicateResult => &[OpenAiChat, OpenAiResponses, Anthropic, ClaudeCode, Gemini],
        Rule::SameRoleNeighbours => &[OpenAiChat, Anthropic, ClaudeCode, ShareGpt, Gemini],
        Rule::MisplacedResult => &[OpenAiChat, Anthropic, ClaudeCode, Gemini],
        Rule::LeadingRole => &[Anthropic, ClaudeCode, ShareGpt, Gemini],
        Rule::BlankText => &[Anthropic, ClaudeCode, Gemini],
        Rule::UnsignedCall => &[Gemini],
        Rule::ResultsNotFirst | Rule::TooManyMarks | Rule::SealedLast => &[Anthropic, ClaudeCode],
        Rule::EmptyToolCalls => &[OpenAiChat],
        Rule::DanglingReasoning => &[OpenAiResponses],
        // Only a rewrite can lose it.
        Rule::LostReasoning => &[],
        other => unreachable!("{other} is in no format"),
    }
}

/// Shapes that only one place of the rules knows: a table of rules would not miss them.
#[test]
fn the_generator_makes_what_is_easily_taken_for_valid() {
    let (mut partly_answered, mut partly_by_items, mut silent) = (0, 0, 0);
    for (format, text) in chaos(2000) {
        let Ok(transcript) = wire::read(&text, Some(format)) else {
            continue;
        };
        let violations = validate(&transcript);
        let is_broken = |id: &str, message: usize| {
            violations.iter().any(|violation| violation.rule.id() == id && violation.message == message)
        };
        if format == Format::Anthropic
            && let Some(last) = transcript.messages.len().checked_sub(1)
            && last > 0
            && is_broken("unanswered-call", last - 1)
            && transcript.parts_at(last).iter().any(|part| part.kind == PartKind::ToolResult)
            && !is_broken("orphan-result", last)
        {
            partly_answered += 1;
        }
        let last_is_result = transcript.messages.last().is_some_and(|message| message.role == Role::Tool);
        if matches!(format, Format::OpenAiChat | Format::OpenAiResponses) && last_is_result {
            let last = transcript.messages.iter().rposition(|message| message.role == Role::Assistant);
            partly_by_items += usize::from(last.is_some_and(|last| is_broken("unanswered-call", last)));
        }
        if format == Format::OpenAiChat {
            let texts = |index: usize| transcript.parts_at(index).iter().any(|part| part.kind == PartKind::Text);
            silent += (0..transcript.messages.len())
                .filter(|&index| texts(index) && is_broken("empty-message", index))
                .count();
        }
    }
    assert!(partly_answered >= 10, "{partly_answered} last messages that answer only some calls");
    assert!(partly_by_items >= 10, "{partly_by_items} last results that answer only some calls");
    assert!(silent >= 20, "{silent} assistant messages without a word");
}
