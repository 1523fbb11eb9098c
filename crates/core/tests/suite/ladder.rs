//! F7: results that must fit.

use crate::common::kit::{ALL, WITH_CALLS, job, log, policy, run, session, tokens, try_run, within};
use crate::common::reading::{handles, said};
use crate::common::texts::{self, Look};
use crate::common::writer::{Call, Thought, Writer};
use foldline_core::Outcome;
use foldline_core::planning::StepKind;
use foldline_core::policy::{AutoOr, SignedReasoning};
use foldline_core::{EngineError, Format, SessionState, Trigger};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;

#[test]
fn f7_whatever_the_target_the_result_fits_it_or_the_error_has_the_numbers() {
    for format in ALL {
        let text = session(format, 8, 3, 30).document();
        let before = tokens(&text, format);
        let mut last = None;
        for target in [before, before * 3 / 4, before / 2, before / 4, 3_000, 2_000, 1_200, 900, 600, 300, 50, 1] {
            match try_run(&text, &policy(200_000), &SessionState::default(), &within(format, target)) {
                Ok(done) => {
                    assert!(last.is_none(), "{format}: {target} fits and a larger one did not");
                    let after = tokens(&done.body, format);
                    assert!(after <= target, "{format}: {after} for {target}, {:?}", done.plan.outcome);
                    let read = wire::read(&done.body, Some(format)).unwrap();
                    assert_eq!(validate(&read), vec![], "{format}, {target}");
                }
                Err(EngineError::CannotFit(error)) => {
                    assert!(error.smallest > target, "{format}: {error}");
                    last = Some(error);
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(last.is_some(), "{format}: one token is enough for nobody");
    }
}

#[test]
fn f7_rungs_are_taken_in_order_as_the_target_shrinks() {
    let text = session(Format::OpenAiChat, 8, 3, 60).document();
    let before = tokens(&text, Format::OpenAiChat);
    let order = |outcome: Outcome| match outcome {
        Outcome::Unchanged => 0,
        Outcome::Pruned => 1,
        Outcome::Folded => 2,
        Outcome::Clamped => 3,
        Outcome::Aborted => 9,
    };
    let mut reached = 0;
    let mut seen = Vec::new();
    for percent in (2..=100).rev().step_by(2) {
        let target = before * percent / 100;
        let Ok(done) = try_run(&text, &policy(400_000), &SessionState::default(), &within(Format::OpenAiChat, target))
        else {
            break;
        };
        let rung = order(done.plan.outcome);
        assert!(rung >= reached, "{percent} %: {:?} after {seen:?}", done.plan.outcome);
        reached = rung;
        if !seen.contains(&done.plan.outcome) {
            seen.push(done.plan.outcome);
        }
    }
    assert!(seen.len() >= 3, "{seen:?}");
}

#[test]
fn f7_the_last_rung_starts_again_from_handoff_and_request() {
    for format in WITH_CALLS {
        let mut writer = session(format, 6, 3, 40);
        writer.user("Now list every port that is in use.").call(Call::run("ss -ltn", log(400, 7)));
        let text = writer.document();
        let smallest = (200..2_000).step_by(10).find_map(|target| {
            try_run(&text, &policy(200_000), &SessionState::default(), &within(format, target)).ok()
        });
        let done = smallest.expect("two thousand tokens are enough");
        assert_eq!(done.plan.outcome, Outcome::Clamped, "{format}");
        let messages = said(format, &done.body);
        assert!(messages.iter().all(|said| said.calls.is_empty() && said.results.is_empty()), "{format}: {messages:?}");
        let last = messages.last().and_then(|said| said.texts.last()).expect("somebody speaks last");
        assert!(last.ends_with("Now list every port that is in use."), "{format}: {last}");
        let read = wire::read(&done.body, Some(format)).unwrap();
        assert_eq!(validate(&read), vec![], "{format}");
    }
}

#[test]
fn f7_a_handoff_inside_the_request_shrinks_with_the_target() {
    for format in WITH_CALLS {
        let mut writer = session(format, 12, 3, 60);
        writer.user("Now list every port that is in use.").call(Call::run("ss -ltn", log(20, 7)));
        let mut text = writer.document();
        for target in [6_000, 3_000, 1_500, 900] {
            let done = run(&text, &policy(200_000), &within(format, target));
            assert!(done.plan.tokens.after <= target, "{format}: {} of {target}", done.plan.tokens.after);
            text = done.body.into_owned();
        }
        assert!(text.contains("Now list every port that is in use."), "{format}");
    }
}

#[test]
fn f7_a_call_in_flight_is_never_left_behind() {
    let mut writer = session(Format::OpenAiChat, 6, 3, 40);
    writer.user("Now list every port that is in use.");
    let mut text = writer.document();
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c9","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#;
    let end = text.rfind(']').unwrap();
    text.insert_str(end, &format!(",{call}"));
    for target in (200..2_000).step_by(50) {
        if let Ok(done) =
            try_run(&text, &policy(200_000), &SessionState::default(), &within(Format::OpenAiChat, target))
        {
            assert!(done.body.contains(r#""c9""#), "{target}");
        }
    }
}

#[test]
fn f7_a_cut_text_says_that_it_is_cut_and_where_the_whole_is() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("Sum it up.").call(Call::run("cat big", texts::output(Look::OneLine, 3_000, 1)));
    let text = writer.document();
    let done = run(&text, &policy(200_000), &within(Format::OpenAiChat, 1_500));
    assert_eq!(done.plan.outcome, Outcome::Clamped);
    let messages = said(Format::OpenAiChat, &done.body);
    let cut = &messages.iter().flat_map(|said| &said.results).next().unwrap().1;
    assert!(cut.contains("characters cut") || cut.contains("reduced"), "{cut}");
    assert_eq!(handles(cut).len(), 1);
    assert!(cut.contains("kingfisher"), "the beginning stays: {cut:.80}");
    let original = done.plan.originals.iter().find(|original| original.handle.to_string() == handles(cut)[0]).unwrap();
    assert_eq!(original.text(&done.source), texts::output(Look::OneLine, 3_000, 1));
}

#[test]
fn f7_a_huge_request_stays_whole_while_everything_else_gives() {
    for format in WITH_CALLS {
        let request = texts::request(3, 6_000);
        let mut writer = session(format, 4, 2, 40);
        writer.user(&request);
        for at in 0..4 {
            writer.call(Call::run(&format!("step {at}"), log(60, at)));
        }
        let text = writer.document();
        let own = tokens(&Writer::new(format).user(&request).document(), format);
        let done = run(&text, &policy(200_000), &within(format, own + 1_600));
        let alive = said(format, &done.body)
            .iter()
            .any(|said| said.role == "user" && said.texts.iter().any(|text| text.ends_with(&request)));
        assert!(alive, "{format}: {:?}", done.plan.outcome);
    }
}

#[test]
fn f7_a_system_prompt_that_fills_the_target_is_an_error_that_says_so() {
    let mut writer = session(Format::Anthropic, 4, 2, 20);
    writer.system = Some("Mind this rule. ".repeat(2_000));
    let text = writer.document();
    let error =
        try_run(&text, &policy(200_000), &SessionState::default(), &within(Format::Anthropic, 3_000)).unwrap_err();
    let EngineError::CannotFit(error) = error else { panic!("{error}") };
    assert!(error.fixed > 3_000, "{error}");
    assert!(error.to_string().contains("system prompt"), "{error}");
}

#[test]
fn f7_calls_in_flight_and_signed_reasoning_are_never_cut() {
    let long = "x = 1; ".repeat(600);
    let mut writer = Writer::new(Format::Anthropic);
    writer.user("Begin.");
    writer.round(Thought::Signed, Some("I look."), &[Call::run("look", log(80, 1))]);
    writer.in_flight(&[Call::new("write_file", format!(r#"{{"path":"a","content":"{long}"}}"#), "")]);
    let text = writer.document();
    let mut policy = policy(200_000);
    policy.compression.signed_reasoning = AutoOr::Fixed(SignedReasoning::None);
    for target in [4_000, 3_000, 2_400, 2_000] {
        if let Ok(done) = try_run(&text, &policy, &SessionState::default(), &within(Format::Anthropic, target)) {
            assert!(done.body.contains(&long), "{target}: the call in flight was cut");
            assert!(done.body.contains("mocksig") || done.plan.fold.is_some(), "{target}");
        }
    }
}

#[test]
fn f7_an_automatic_fold_that_overflows_the_window_goes_down_the_ladder() {
    let mut writer = session(Format::OpenAiChat, 3, 1, 10);
    writer.user("Read the big one.").call(Call::run("cat big", texts::output(Look::Prose, 900, 1)));
    let text = writer.document();
    let window = tokens(&text, Format::OpenAiChat) * 2 / 3;
    let done = run(&text, &policy(window), &job(Format::OpenAiChat));
    assert_eq!(done.plan.outcome, Outcome::Clamped, "{}", done.plan.reason);
    assert!(tokens(&done.body, Format::OpenAiChat) <= window);
    assert!(done.plan.steps.iter().any(|step| matches!(step.kind, StepKind::Clamp | StepKind::Reduce)));
}

#[test]
fn f7_a_refusal_of_the_provider_always_leads_to_something_smaller() {
    // The estimate says that it fits; the provider knows better.
    for (turns, rounds, lines) in [(1, 3, 60), (4, 2, 30), (1, 1, 200)] {
        let mut writer = session(Format::OpenAiChat, turns, rounds, lines);
        writer.user("Go on.");
        let text = writer.document();
        let mut job = job(Format::OpenAiChat);
        job.request.trigger = Trigger::Overflow;
        let done = run(&text, &policy(tokens(&text, Format::OpenAiChat) * 11 / 10), &job);
        assert!(
            tokens(&done.body, Format::OpenAiChat) < tokens(&text, Format::OpenAiChat) * 9 / 10,
            "{turns} {rounds} {lines}: {}",
            done.plan.reason
        );
    }
}

#[test]
fn within_the_target_nothing_happens() {
    for format in ALL {
        let text = session(format, 3, 1, 10).document();
        let done = run(&text, &policy(200_000), &within(format, tokens(&text, format)));
        assert_eq!((done.plan.outcome, done.body.as_ref()), (Outcome::Unchanged, text.as_str()), "{format}");
    }
}
