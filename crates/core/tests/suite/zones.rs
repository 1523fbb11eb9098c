//! Z: what is protected at the start and at the end.

use crate::common::kit::{WITH_CALLS, appended, job, log, manual, policy, run, run_with, session, tokens, work};
use crate::common::reading::said;
use crate::common::texts;
use crate::common::writer::{Call, Thought, Writer};
use foldline_core::{Compaction, Format, Policy, SessionState};
use foldline_core::{Outcome, Plan};
use foldline_transcript::wire;

/// A window whose trigger the text just reaches.
fn full(text: &str, format: Format) -> Policy {
    policy(tokens(text, format) * 2 - 2)
}

fn kept_at_the_end(plan: &Plan) -> usize {
    plan.zones.messages - plan.zones.tail
}

/// Says whether a message with these words is in the result, word for word.
fn says(done: &Compaction<'_>, words: &str) -> bool {
    said(done.format, &done.body).iter().any(|said| said.texts.iter().any(|text| text == words))
}

#[test]
fn z1_the_opening_is_kept_on_the_first_fold_and_is_history_on_the_second() {
    for format in [Format::OpenAiChat, Format::Anthropic] {
        let mut writer = session(format, 8, 2, 12);
        writer.system = Some("Be careful.".to_owned());
        let text = writer.document();
        let first = run(&text, &full(&text, format), &manual(format));
        assert_eq!(first.plan.outcome, Outcome::Folded);
        assert!(says(&first, "Request 0: mend the tenant of part 0."), "{format}: the opening is verbatim");
        let longer = appended(&first.body, format, "later", |writer| {
            writer.user("More of it.");
            work(writer, 8, 12);
            writer.assistant("More is done.");
        });
        let second = run_with(&longer, &policy(100_000), &first.state, &manual(format));
        assert_eq!(second.plan.outcome, Outcome::Folded);
        let instructions = usize::from(format == Format::OpenAiChat);
        assert_eq!(second.plan.zones.head, instructions, "{format}: instructions only");
        assert!(!says(&second, "Request 0: mend the tenant of part 0."));
    }
}

#[test]
fn z1_protecting_nothing_keeps_the_system_prompt_only_wherever_that_stands() {
    let mut writer = session(Format::OpenAiChat, 8, 2, 12);
    let without = writer.document();
    writer.system = Some("Be careful.".to_owned());
    let with = writer.document();
    let mut policy = full(&with, Format::OpenAiChat);
    policy.compression.protect_first_n = 0;
    let one = run(&without, &policy, &manual(Format::OpenAiChat));
    let two = run(&with, &policy, &manual(Format::OpenAiChat));
    assert_eq!((one.plan.zones.head, two.plan.zones.head), (0, 1));
    assert_eq!(one.plan.zones.tail + 1, two.plan.zones.tail, "the rest is the same");
}

#[test]
fn z1_the_count_of_protected_messages_does_not_include_the_system_prompt() {
    let mut writer = session(Format::OpenAiChat, 8, 0, 0);
    let mut policy = policy(100_000);
    policy.compression.protect_first_n = 4;
    let without = run(&writer.document(), &policy, &manual(Format::OpenAiChat));
    writer.system = Some("Be careful.".to_owned());
    let with = run(&writer.document(), &policy, &manual(Format::OpenAiChat));
    assert_eq!((without.plan.zones.head, with.plan.zones.head), (4, 5));
}

#[test]
fn z1_instructions_in_the_middle_stay() {
    let mut writer = session(Format::OpenAiResponses, 4, 2, 10);
    writer.say("developer", "Use metric units.");
    for turn in 0..4 {
        writer.user(&format!("Later request {turn}."));
        work(&mut writer, 2, 10);
        writer.assistant(&format!("Later answer {turn}."));
    }
    let text = writer.document();
    let done = run(&text, &full(&text, Format::OpenAiResponses), &manual(Format::OpenAiResponses));
    assert_eq!(done.plan.outcome, Outcome::Folded);
    assert!(done.plan.zones.tail > 22, "the instruction lies in the middle: {:?}", done.plan.zones);
    assert!(says(&done, "Use metric units."));
}

#[test]
fn z2_parallel_calls_and_their_results_stay_on_one_side() {
    for format in WITH_CALLS {
        for lines in [5, 20, 60] {
            let mut writer = Writer::new(format);
            writer.user("Begin.");
            for group in 0..8 {
                let calls: Vec<Call> =
                    (0..3).map(|at| Call::run(&format!("step {group}.{at}"), log(lines, group * 3 + at))).collect();
                writer.round(Thought::None, None, &calls);
            }
            let text = writer.document();
            let done = run(&text, &full(&text, format), &job(format));
            let messages = said(format, &done.body);
            let calls: Vec<_> = messages.iter().flat_map(|said| said.calls.iter().map(|call| call.0.clone())).collect();
            let results: Vec<_> =
                messages.iter().flat_map(|said| said.results.iter().map(|result| result.0.clone())).collect();
            assert_eq!(calls, results, "{format}, {lines} lines");
            assert_eq!(calls.len() % 3, 0, "{format}: groups of three stay groups of three");
        }
    }
}

#[test]
fn z2_twenty_large_outputs_do_not_block_the_fold() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("Begin.");
    for at in 0..20 {
        writer.call(Call::run(&format!("step {at}"), texts::output(texts::Look::Prose, 70, at)));
    }
    let text = writer.document();
    let done = run(&text, &full(&text, Format::OpenAiChat), &manual(Format::OpenAiChat));
    assert_eq!(done.plan.outcome, Outcome::Folded, "{}", done.plan.reason);
    assert!((3..=19).contains(&kept_at_the_end(&done.plan)), "{:?}", done.plan.zones);
    assert!(done.plan.tokens.after < done.plan.tokens.before / 2);
}

#[test]
fn z2_one_message_above_the_budget_stays_whole_under_the_ceiling() {
    let mut writer = session(Format::OpenAiChat, 10, 2, 14);
    let text = writer.document();
    let policy = full(&text, Format::OpenAiChat);
    let budget = run(&text, &policy, &job(Format::OpenAiChat)).budgets.tail as usize;
    // About 1.2 times the budget at four characters per token, by words that count alike everywhere.
    let mut long = String::new();
    while tokens(&format!(r#"[{{"role":"user","content":"{long}"}}]"#), Format::OpenAiChat) < budget as u64 * 6 / 5 {
        long.push_str("one more word and another ");
    }
    let long = long.trim_end().to_owned();
    writer.user("Write it up.").assistant(&long);
    let done = run(&writer.document(), &policy, &job(Format::OpenAiChat));
    assert_ne!(done.plan.outcome, Outcome::Unchanged);
    assert!(says(&done, &long), "{:?}", done.plan.zones);
}

#[test]
fn z2_some_recent_messages_stay_however_small_the_budget() {
    let text = session(Format::OpenAiChat, 12, 1, 6).document();
    for window in [2_000, 3_000, 6_000] {
        let done = run(&text, &policy(window), &job(Format::OpenAiChat));
        assert!(kept_at_the_end(&done.plan) >= 3, "{window}: {:?}", done.plan.zones);
    }
    // Where eight short ones fit, eight are kept.
    let mut policy = full(&text, Format::OpenAiChat);
    policy.compression.target_ratio = 0.1;
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert!(kept_at_the_end(&done.plan) >= 8, "{:?}", done.plan.zones);
}

#[test]
fn z2_parallel_calls_and_replayed_reasoning_weigh_in_the_tail() {
    let long = "a long argument it is ".repeat(400);
    let arguments = format!(r#"{{"content":"{long}"}}"#);
    let with = |heavy: bool| {
        let mut writer = session(Format::OpenAiChat, 8, 2, 10);
        writer.user("Write them all.");
        let calls: Vec<Call> = (0..4)
            .map(|_| Call::new("write_file", if heavy { arguments.clone() } else { "{}".to_owned() }, "ok"))
            .collect();
        writer.round(Thought::None, None, &calls);
        writer.assistant("Written.");
        let text = writer.document();
        let done = run(&text, &full(&text, Format::OpenAiChat), &job(Format::OpenAiChat));
        kept_at_the_end(&done.plan)
    };
    assert!(with(true) < with(false), "heavy calls leave less room: {} and {}", with(true), with(false));
}

#[test]
fn z3_the_request_behind_a_long_loop_is_carried_in_front_of_the_tail() {
    for format in WITH_CALLS {
        let mut writer = session(format, 3, 2, 20);
        writer.user("Now the long one: never touch src/legacy.");
        work(&mut writer, 25, 25);
        let text = writer.document();
        let done = run(&text, &full(&text, format), &job(format));
        let messages = said(format, &done.body);
        let request = messages.iter().position(|said| {
            said.role == "user"
                && said.texts.iter().any(|text| text.ends_with("Now the long one: never touch src/legacy."))
        });
        let request = request.unwrap_or_else(|| panic!("{format}: the request is gone: {}", done.body));
        assert!(done.plan.zones.carried.is_some(), "{format}: {:?}", done.plan.zones);
        assert!(!messages[request + 1].calls.is_empty() || messages[request + 1].role == "assistant", "{format}");
    }
}

#[test]
fn z3_a_handoff_in_user_role_is_no_request() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("The real request.").assistant("On it.");
    work(&mut writer, 6, 20);
    writer.assistant("Half done.").user(&texts::old_handoff(texts::Maker::Hermes, 1));
    writer.assistant("I go on.");
    work(&mut writer, 6, 20);
    let text = writer.document();
    let done = run(&text, &full(&text, Format::OpenAiChat), &job(Format::OpenAiChat));
    let alive = said(Format::OpenAiChat, &done.body)
        .iter()
        .any(|said| said.role == "user" && said.texts.iter().any(|text| text.ends_with("The real request.")));
    assert!(alive, "{}", done.body);
}

#[test]
fn z4_the_last_visible_reply_stays_where_it_is_affordable() {
    let mut writer = session(Format::OpenAiChat, 8, 2, 14);
    writer.user("And the costs?").assistant("The costs are 42 crowns.").user("Thanks, go on.");
    for at in 0..3 {
        writer.call(Call::run(&format!("ls {at}"), log(9, at)));
    }
    let text = writer.document();
    let mut policy = full(&text, Format::OpenAiChat);
    policy.compression.protect_last_n = 3;
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert_ne!(done.plan.outcome, Outcome::Unchanged);
    assert!(says(&done, "The costs are 42 crowns."), "{:?}", done.plan.zones);
}

#[test]
fn a_handful_of_short_messages_still_becomes_fewer_when_asked() {
    let mut writer = Writer::new(Format::OpenAiChat);
    for at in 0..9 {
        let words = texts::reply(at, 700);
        match at % 2 {
            0 => writer.user(&words),
            _ => writer.assistant(&words),
        };
    }
    let done = run(&writer.document(), &policy(200_000), &manual(Format::OpenAiChat));
    assert!(done.messages.1 < done.messages.0, "{:?}: {}", done.messages, done.plan.reason);
}

#[test]
fn a_call_still_in_flight_stays_with_the_end_untouched() {
    for format in WITH_CALLS {
        let mut writer = session(format, 6, 2, 20);
        writer.user("Deploy it.");
        writer.in_flight(&[Call::run("deploy --wait", ""), Call::run("watch", "")]);
        let text = writer.document();
        let done = run(&text, &full(&text, format), &job(format));
        assert_ne!(done.plan.outcome, Outcome::Unchanged);
        let transcript = wire::read(&text, Some(format)).unwrap();
        let last = transcript.messages.last().unwrap();
        assert!(done.body.contains(transcript.raw(last.span)), "{format}");
        let messages = said(format, &done.body);
        assert!(messages.last().unwrap().results.is_empty());
    }
}

#[test]
fn nothing_to_fold_gives_the_input_back_and_counts_as_a_strike() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user(&texts::request(1, 4_000));
    let text = writer.document();
    let policy = policy(tokens(&text, Format::OpenAiChat) * 3 / 2);
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert_eq!(done.plan.outcome, Outcome::Unchanged, "{}", done.plan.reason);
    assert_eq!(done.body, text);
    assert_eq!(done.state.strikes, 1);
    let again = run_with(&text, &policy, &done.state, &job(Format::OpenAiChat));
    let third = run_with(&text, &policy, &again.state, &job(Format::OpenAiChat));
    assert_eq!(third.state.strikes, 2, "then the question is not asked any more");
    assert!(third.plan.reason.contains("disabled"), "{}", third.plan.reason);
    let _ = SessionState::default();
}

#[test]
fn z3_a_carried_request_is_not_glued_to_an_old_handoff_that_would_begin_the_tail() {
    let mut writer = session(Format::OpenAiChat, 3, 2, 20);
    writer.user("The real request.");
    work(&mut writer, 10, 20);
    writer.assistant("Half done.").user(&texts::old_handoff(texts::Maker::Foldline, 1));
    work(&mut writer, 3, 20);
    writer.assistant("Done.");
    let text = writer.document();
    let mut folds = 0;
    for tail in (1_000..4_000).step_by(20) {
        let mut policy = full(&text, Format::OpenAiChat);
        policy.compression.tail = foldline_core::policy::Tail::Tokens(tail);
        // Nothing is pruned, so that it folds.
        policy.compression.protect_tool_tokens = foldline_core::policy::AutoOr::Fixed(1_000_000);
        let done = run(&text, &policy, &job(Format::OpenAiChat));
        folds += usize::from(done.plan.outcome == Outcome::Folded);
        let messages = said(Format::OpenAiChat, &done.body);
        let alive = messages
            .iter()
            .any(|said| said.role == "user" && said.texts.iter().any(|text| text.ends_with("The real request.")));
        assert!(alive, "tail of {tail}: {:?}", done.plan.zones);
    }
    assert!(folds > 20, "{folds} folds");
}
