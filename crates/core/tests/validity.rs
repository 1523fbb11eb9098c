//! The laws of validity, on generated transcripts of all formats.
#![allow(clippy::unwrap_used)]

mod common;

use common::generate::{Knobs, any_transcript};
use foldline_core::repair::repair;
use foldline_core::validate::{in_flight, validate};
use foldline_core::{Format, wire};
use proptest::prelude::*;

/// Repairs that only the last rounds make.
const GIVEN_UP: &str = "nothing less would do";

fn check_repair(format: Format, text: &str) -> Result<(), TestCaseError> {
    let Ok(before) = wire::read(text, Some(format)) else {
        return Ok(());
    };
    let violations = validate(&before);
    let Some(repaired) = repair(&before) else {
        prop_assert!(violations.is_empty());
        return Ok(());
    };
    prop_assert!(!violations.is_empty());
    prop_assert!(!repaired.fixes.is_empty());
    let after = wire::read(&repaired.text, Some(format))
        .map_err(|error| TestCaseError::fail(format!("{error}\n{}", repaired.text)))?;
    let left = validate(&after);
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
        let flies_on = format != Format::ClaudeCode || in_flight(&after).len() >= in_flight(&before).len();
        prop_assert!(
            !flies_on || repaired.text.contains(raw),
            "the call in flight was touched: {raw}\n{}",
            repaired.text
        );
    }
    for part in after.parts.iter().filter(|part| part.kind == foldline_core::transcript::PartKind::Sealed) {
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
    fn any_format_can_be_forced_on_any_text((_, text) in any_transcript(Knobs::DAMAGED), other in 0..5usize) {
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

#[test]
fn the_generator_reaches_every_rule() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    let strategy = any_transcript(Knobs::CHAOS);
    for _ in 0..4000 {
        let (format, text) = strategy.new_tree(&mut runner).unwrap().current();
        if let Ok(transcript) = wire::read(&text, Some(format)) {
            seen.extend(validate(&transcript).into_iter().map(|violation| violation.rule));
        }
    }
    for (rule, id, _) in foldline_core::validate::RULES {
        // A bare prompt is no list of messages; the unit tests have it.
        assert!(seen.contains(&rule) || id == "bare-prompt", "{id} never occurs");
    }
}
