//! P5, P6, P8: what a session remembers, and that nothing runs in circles.

use crate::common::kit::observe_usage;
use crate::common::kit::{appended, job, manual, policy, run, run_with, session, tokens};
use crate::common::texts::{self, Look};
use crate::common::writer::{Call, Writer};
use foldline_core::Outcome;
use foldline_core::planning::TokenChange;
use foldline_core::planning::{Cause, Left, Plan, SessionEvent, Usage};
use foldline_core::summary::{Failure, FailureClass, Summary};
use foldline_core::tokens::Source;
use foldline_core::{Compaction, Format, Policy, SessionState, Trigger};

const CHAT: Format = Format::OpenAiChat;

fn folded() -> (Compaction<'static>, Policy) {
    let text = session(CHAT, 10, 3, 30).document();
    let policy = policy(tokens(&text, CHAT) * 2 - 2);
    let done = run(&text, &policy, &manual(CHAT));
    assert_eq!(done.plan.outcome, Outcome::Folded);
    (done, policy)
}

/// The memory takes note of a fold.
fn record(state: &mut SessionState, plan: &Plan, policy: &Policy) {
    let left = Left { tokens: plan.tokens.after, bytes: 0, handle: String::new() };
    state.apply(&SessionEvent::Folded { too_little: plan.saved_too_little(policy), left });
}

/// The memory after its session was stored and another process read it.
fn restarted(state: &SessionState) -> SessionState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

/// Text that does not shrink: one huge request, small everything else.
fn dense() -> String {
    let mut writer = Writer::new(CHAT);
    writer.user(&texts::request(1, 12_000)).assistant("I think.").user("Go on.").assistant("Yes.");
    writer.document()
}

#[test]
fn p8_after_a_fold_an_estimate_alone_starts_no_second_one() {
    let (done, mut policy) = folded();
    assert!(done.state.awaiting_usage);
    // The same again, and the estimate is far above the trigger.
    policy.model.window = foldline_core::policy::AutoOr::Fixed(done.plan.tokens.after as u32);
    let longer = appended(&done.body, CHAT, "more", |writer| {
        writer.user("And now?");
    });
    let again = run_with(&longer, &policy, &restarted(&done.state), &job(CHAT));
    assert_eq!(again.plan.outcome, Outcome::Unchanged);
    assert!(again.plan.reason.contains("report usage"), "{}", again.plan.reason);
    let mut state = done.state.clone();
    observe_usage(&mut state, &again.budgets, done.plan.tokens.after, done.messages.1, done.plan.tokens.after);
    assert!(!state.awaiting_usage);
    let third = run_with(&longer, &policy, &state, &job(CHAT));
    assert_ne!(third.plan.outcome, Outcome::Unchanged, "{}", third.plan.reason);
}

#[test]
fn p8_a_person_does_not_have_to_wait() {
    let (done, _) = folded();
    let again = run_with(&done.body, &policy(200_000), &done.state, &manual(CHAT));
    assert!(!again.plan.reason.contains("report usage"), "{}", again.plan.reason);
}

#[test]
fn p6_an_incompressible_conversation_is_left_alone_after_two_strikes() {
    let text = dense();
    let policy = policy(tokens(&text, CHAT) * 3 / 2);
    let mut body = text;
    let mut state = SessionState::default();
    let mut acted = 0;
    for turn in 0..8 {
        let done = run_with(&body, &policy, &restarted(&state), &job(CHAT));
        acted += usize::from(done.plan.outcome != Outcome::Unchanged);
        state = done.state.clone();
        // Usage is reported every turn, and never fits.
        observe_usage(
            &mut state,
            &done.budgets,
            u64::from(done.budgets.trigger) + 500,
            done.messages.1,
            done.plan.tokens.after,
        );
        // Something new comes every turn, so that the question is asked again.
        body = appended(&done.body, CHAT, "more", |writer| {
            writer.user("And?").assistant("Still so.");
        });
        if turn > 3 {
            assert!(state.strikes >= 2, "turn {turn}: {state:?}");
        }
    }
    assert!(acted <= 2, "{acted} compactions");
    let done = run_with(&body, &policy, &state, &job(CHAT));
    assert!(done.plan.reason.contains("disabled") && done.plan.reason.contains("lower"), "{}", done.plan.reason);
}

#[test]
fn p6_strikes_survive_a_restart_and_the_fold_itself() {
    let (done, policy) = folded();
    let mut plan = done.plan;
    plan.tokens = TokenChange { before: 1_000, after: 950, source: Source::Estimate };
    let mut state = SessionState::default();
    record(&mut state, &plan, &policy);
    assert_eq!(state.strikes, 1);
    let mut state = restarted(&state);
    record(&mut state, &plan, &policy);
    let state = restarted(&state);
    assert_eq!(state.strikes, 2);
    let mut blocked = state;
    blocked.awaiting_usage = false;
    let text = session(CHAT, 10, 3, 30).document();
    let waits = run_with(&text, &policy, &blocked, &job(CHAT));
    assert_eq!(waits.plan.outcome, Outcome::Unchanged);
    assert!(waits.plan.reason.contains("disabled"), "{}", waits.plan.reason);
}

#[test]
fn p6_a_good_fold_and_a_fitting_usage_clear_the_strikes() {
    let (done, policy) = folded();
    let mut state = SessionState { strikes: 1, cause: Some(Cause::Dense), ..SessionState::default() };
    record(&mut state, &done.plan, &policy);
    assert_eq!((state.strikes, state.cause), (0, None));
    let mut state = SessionState { strikes: 2, cause: Some(Cause::Dense), ..SessionState::default() };
    observe_usage(&mut state, &done.budgets, u64::from(done.budgets.trigger) + 1, 5, 1_000);
    assert_eq!(state.strikes, 2, "still too large");
    observe_usage(&mut state, &done.budgets, u64::from(done.budgets.trigger) - 1, 5, 1_000);
    assert_eq!(state.strikes, 2, "where a fold lands that saved too little");
    observe_usage(&mut state, &done.budgets, u64::from(done.budgets.pressure) - 1, 5, 1_000);
    assert_eq!(state.strikes, 0);
}

#[test]
fn p6_the_two_causes_are_told_apart() {
    let (done, policy) = folded();
    let saves_little = |handoff_tokens: u32, folded: u64| {
        let mut plan = done.plan.clone();
        plan.tokens = TokenChange { before: 10_000, after: 9_500, source: Source::Estimate };
        let fold = plan.fold.as_mut().unwrap();
        fold.handoff.tokens = handoff_tokens;
        fold.tokens = folded;
        let mut state = SessionState::default();
        record(&mut state, &plan, &policy);
        state.cause
    };
    assert_eq!(saves_little(900, 1_000), Some(Cause::LongSummary));
    assert_eq!(saves_little(100, 1_000), Some(Cause::Dense));
    let reason = |cause: Cause| {
        let state = SessionState { strikes: 2, cause: Some(cause), ..SessionState::default() };
        run_with(&session(CHAT, 10, 3, 30).document(), &policy, &state, &job(CHAT)).plan.reason
    };
    assert_ne!(reason(Cause::Dense), reason(Cause::LongSummary));
    assert!(reason(Cause::LongSummary).contains("summar"));
}

#[test]
fn usage_that_was_reported_before_a_prune_does_not_count_after_it() {
    let mut writer = session(CHAT, 8, 3, 80);
    let text = writer.document();
    let before = tokens(&text, CHAT);
    let mut sacred = Policy::of(foldline_core::policy::Preset::SacredZone);
    sacred.model.window = foldline_core::policy::AutoOr::Fixed((before as f64 / 0.76) as u32);
    let mut state = SessionState::default();
    let budgets = run(&text, &sacred, &job(CHAT)).budgets;
    observe_usage(&mut state, &budgets, before, writer.len(), before);
    let done = run_with(&text, &sacred, &state, &job(CHAT));
    assert_eq!(done.plan.outcome, Outcome::Pruned, "{}", done.plan.reason);
    // One more message, and no usage yet: the prompt is small now.
    let mut longer = done.body.into_owned();
    writer = Writer::new(CHAT);
    writer.layout = crate::common::writer::Layout::List;
    let more = writer.user("And?").document();
    let at = longer.rfind(']').and_then(|_| longer.find("],\"temperature\"")).unwrap();
    longer.insert_str(at, &format!(",{}", more.trim_matches(['[', ']'])));
    let next = run_with(&longer, &sacred, &done.state, &job(CHAT));
    let really = tokens(&longer, CHAT);
    assert!(next.plan.tokens.before <= really + really / 10, "{} counted, {really} there", next.plan.tokens.before);
}

#[test]
fn usage_that_was_reported_before_a_fold_does_not_count_after_it() {
    let text = session(CHAT, 10, 3, 30).document();
    let before = tokens(&text, CHAT);
    let mut state = SessionState { usage: Some(Usage { prompt: before, messages: 3 }), ..SessionState::default() };
    state.awaiting_usage = false;
    let done = run_with(&text, &policy(before * 2 - 2), &state, &manual(CHAT));
    let next = run_with(&done.body, &policy(before * 2 - 2), &done.state, &job(CHAT));
    let really = tokens(&done.body, CHAT);
    assert!(next.plan.tokens.before <= really + really / 10, "{} counted, {really} there", next.plan.tokens.before);
}

#[test]
fn usage_in_a_session_file_does_not_count_after_the_fold_that_came_later() {
    let mut writer = session(Format::ClaudeCode, 10, 3, 30);
    let before = tokens(&writer.document(), Format::ClaudeCode);
    writer.user("One more.");
    writer.raw(format!(
        r#"{{"parentUuid":"u{}","isSidechain":false,"type":"assistant","message":{{"id":"msg_last","role":"assistant","content":[{{"type":"text","text":"Yes."}}],"usage":{{"input_tokens":{before},"output_tokens":3}}}},"uuid":"ulast"}}"#,
        writer.len() - 1
    ));
    let text = writer.document();
    let policy = policy(before * 2 - 2);
    let done = run(&text, &policy, &job(Format::ClaudeCode));
    assert_ne!(done.plan.outcome, Outcome::Unchanged, "{}", done.plan.reason);
    // Another process, which knows nothing but the file.
    let next = run(&done.body, &policy, &job(Format::ClaudeCode));
    assert_eq!(next.plan.outcome, Outcome::Unchanged, "folded twice: {}", next.plan.reason);
    let left = done.plan.tokens.after;
    assert!(next.plan.tokens.before <= left + left / 20, "{} counted, {left} left", next.plan.tokens.before);
}

#[test]
fn savings_do_not_depend_on_what_the_caller_believes() {
    let text = session(CHAT, 10, 3, 30).document();
    let before = tokens(&text, CHAT);
    let honest = run(&text, &policy(before * 2 - 2), &manual(CHAT));
    let state = SessionState { usage: Some(Usage { prompt: before + 500, messages: 4 }), ..SessionState::default() };
    let skewed = run_with(&text, &policy(before * 2 - 2), &state, &manual(CHAT));
    let saved = |done: &Compaction<'_>| done.plan.tokens.before - done.plan.tokens.after;
    assert!(saved(&honest).abs_diff(saved(&skewed)) < 200, "{} and {}", saved(&honest), saved(&skewed));
}

#[test]
fn f8_a_summariser_that_fails_leads_to_a_ledger_handoff_with_a_note_or_to_nothing() {
    let text = session(CHAT, 10, 3, 30).document();
    let mut policy = policy(tokens(&text, CHAT) * 2 - 2);
    policy.summarizer.url = Some("http://127.0.0.1:1/v1".to_owned());
    let wanted = run(&text, &policy, &manual(CHAT));
    assert!(wanted.summary_job.is_some());
    let mut failed = manual(CHAT);
    failed.request.summary = Some(Summary::Failed(Failure::new(FailureClass::Timeout, "no word for 60 s")));
    let done = run(&text, &policy, &failed);
    assert_eq!(done.plan.outcome, Outcome::Folded);
    assert!(done.plan.warnings.iter().any(|warning| warning.contains("timeout")), "{:?}", done.plan.warnings);
    assert!(done.summary_job.is_none());
    policy.compression.abort_on_failure = true;
    let done = run(&text, &policy, &failed);
    assert_eq!((done.plan.outcome, done.body.as_ref()), (Outcome::Aborted, text.as_str()));
    let remembered = SessionState {
        warned: done.state.warned,
        summariser: done.state.summariser.clone(),
        ..SessionState::default()
    };
    assert_eq!(done.state, remembered, "nothing happened but the failure");
}

#[test]
fn f2_a_model_s_words_are_added_and_remove_no_facts() {
    let mut writer = session(CHAT, 10, 3, 30);
    writer.call(Call::read("src/important.rs", texts::output(Look::Code, 30, 1)));
    let text = writer.document();
    let mut policy = policy(tokens(&text, CHAT) * 2 - 2);
    policy.summarizer.url = Some("http://127.0.0.1:1/v1".to_owned());
    let first = run(&text, &policy, &manual(CHAT));
    let mut model = first.summary_job.as_ref().unwrap().start();
    let mut answered = manual(CHAT);
    let words = "## Goal\n- Mend all parts before Friday.\n\n## Key Decisions\n- Parts are mended in order, because Ann said so.\n";
    model.reply(words).unwrap();
    let written = model.finish().expect("one prompt was enough");
    answered.request.summary = Some(Summary::Written(written));
    let done = run(&text, &policy, &answered);
    let handoff = done.plan.fold.as_ref().unwrap().handoff.text.clone();
    assert!(handoff.contains("Mend all parts before Friday.") && handoff.contains("because Ann said so"), "{handoff}");
    assert!(handoff.contains("Request 3") && handoff.contains("make step-"), "{handoff}");
    // Words for other messages are not used.
    let longer = session(CHAT, 14, 3, 30).document();
    let other = run(&longer, &policy, &answered);
    assert!(!other.plan.fold.unwrap().handoff.text.contains("before Friday"));
}

#[test]
fn a_memory_of_another_version_is_read_with_defaults() {
    let state: SessionState = serde_json::from_str(r#"{"folds":3,"unheard_of":[1]}"#).unwrap();
    assert_eq!(state, SessionState { folds: 3, ..SessionState::default() });
    assert_eq!(restarted(&state), state);
}

#[test]
fn folds_and_prunes_are_counted() {
    let (done, _) = folded();
    assert_eq!((done.state.folds, done.state.prunes), (1, 0));
    let text = session(CHAT, 3, 1, 5).document();
    let idle = run(&text, &policy(200_000), &job(CHAT));
    assert_eq!((idle.state.folds, idle.state.prunes), (0, 0));
    let mut hygiene = job(CHAT);
    hygiene.request.trigger = Trigger::Hygiene;
    assert_eq!(run(&text, &policy(200_000), &hygiene).plan.outcome, Outcome::Unchanged);
}
