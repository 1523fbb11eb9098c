//! R10: huge outputs are admitted in reduced form, and stay what they became.

use crate::common::kit::{WITH_CALLS, job, log, policy, run};
use crate::common::reading::{handles, said};
use crate::common::texts::{self, Look};
use crate::common::writer::{Call, Writer};
use foldline_core::Outcome;
use foldline_core::policy::AutoOr;
use foldline_core::{Format, Policy};
use proptest::prelude::*;

fn admitting(above: u32) -> Policy {
    let mut policy = policy(200_000);
    policy.compression.admission = true;
    policy.compression.admission_above = AutoOr::Fixed(above);
    policy
}

fn results(format: Format, body: &str) -> Vec<String> {
    said(format, body).iter().flat_map(|said| &said.results).map(|result| result.1.clone()).collect()
}

#[test]
fn r10_a_huge_output_is_reduced_on_the_request_in_which_it_first_appears() {
    for format in WITH_CALLS {
        let mut writer = Writer::new(format);
        writer.user("Begin.").call(Call::run("make all", log(400, 3)));
        let done = run(&writer.document(), &admitting(1_000), &job(format));
        assert_eq!(done.plan.outcome, Outcome::Pruned, "{format}: {}", done.plan.reason);
        let results = results(format, &done.body);
        assert!(results[0].contains("reduced as") && results[0].len() < 5_000, "{format}: {}", results[0]);
        assert_eq!(handles(&results[0]).len(), 1);
        assert_eq!(done.plan.originals[0].text(&done.source), log(400, 3), "{format}: it can be had again");
    }
}

#[test]
fn r10_nothing_is_reduced_before_its_time_where_the_policy_does_not_want_it() {
    let mut writer = Writer::new(Format::Anthropic);
    writer.user("Begin.").call(Call::run("make all", log(400, 3)));
    let text = writer.document();
    assert_eq!(run(&text, &policy(200_000), &job(Format::Anthropic)).body, text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The client keeps sending originals; what it sent before must come out with the same bytes.
    #[test]
    fn r10_what_was_admitted_keeps_its_bytes_while_the_conversation_goes_on(
        turns in proptest::collection::vec((20usize..260, 0u32..50, any::<bool>()), 1..9)
    ) {
        let policy = admitting(600);
        let mut writer = Writer::new(Format::Anthropic);
        writer.user("Begin.");
        let mut before: Vec<String> = Vec::new();
        for (lines, seed, is_code) in turns {
            let output = texts::output(if is_code { Look::Code } else { Look::Log }, lines, seed);
            let words = output.split_whitespace().skip(seed as usize).take(9).collect::<Vec<_>>().join(" ");
            writer.call(Call::run(&format!("make step-{seed}"), output)).assistant(&words).user("Go on.");
            let done = run(&writer.document(), &policy, &job(Format::Anthropic));
            let now = results(Format::Anthropic, &done.body);
            prop_assert_eq!(&now[..before.len()], &before[..]);
            before = now;
        }
    }
}
