//! The steps of a compaction one by one, and the seam for agents.

use crate::common::kit::{job, manual, policy, run, session, tokens, within};
use foldline_core::explain::inspect;
use foldline_core::planning::{
    Inputs, SessionEvent, Situation, Size, Verdict, apply, assess, finish, plan, read, resume,
};
use foldline_core::policy::AutoOr;
use foldline_core::summary::{Failure, FailureClass, Summary};
use foldline_core::{
    ContextEngine, Foldline, Format, Job, Outcome, Policy, Prompt, Request, SessionState, TokenUsage, Trigger,
};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;

const CHAT: Format = Format::OpenAiChat;

/// A conversation, and a policy whose trigger it has passed.
fn overgrown() -> (String, Policy) {
    let text = session(CHAT, 10, 3, 30).document();
    let mut policy = policy(tokens(&text, CHAT) * 3 / 2);
    // Nothing can be pruned, so that it is a fold that is wanted.
    policy.compression.prune_above = 1_000_000;
    (text, policy)
}

#[test]
fn a_compaction_is_its_steps_one_after_the_other() {
    let (text, policy) = overgrown();
    let (state, job) = (SessionState::default(), job(CHAT));
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    let sound = read(&text, &inputs).unwrap();
    let verdict = assess(&sound, &inputs);
    assert!(verdict.acts(), "{}", verdict.reason());
    let planned = plan(&sound, verdict, &inputs).unwrap();
    let applied = apply(&sound, &planned).unwrap();
    let whole = run(&text, &policy, &job);
    assert_eq!(applied.body(), whole.body);
    assert_eq!(applied.tokens, whole.plan.tokens.after, "the result is counted");
    assert_eq!(applied.originals, whole.plan.originals);
    assert_eq!(applied.transcript().messages.len(), whole.messages.1);
    assert_eq!(whole.transcript().text, whole.body);
}

#[test]
fn a_result_carries_its_parse_also_when_it_was_repaired() {
    let text = r#"{"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"lost"},{"role":"user","content":"b"}]}"#;
    let done = run(text, &policy(100_000), &job(CHAT));
    assert_ne!(done.body, text);
    let again = wire::read(&done.body, Some(CHAT)).unwrap();
    let carried = done.transcript();
    assert_eq!(carried.messages.len(), again.messages.len());
    assert!(carried.messages.iter().zip(&again.messages).all(|(one, two)| one.span == two.span));
    assert_eq!(validate(&carried), vec![]);
}

#[test]
fn what_a_session_remembers_is_the_state_it_had_and_the_events() {
    let (text, policy) = overgrown();
    let before = SessionState { strikes: 1, ..SessionState::default() };
    let job = manual(CHAT);
    let inputs = Inputs { policy: &policy, state: &before, job: &job };
    let sound = read(&text, &inputs).unwrap();
    let planned = plan(&sound, assess(&sound, &inputs), &inputs).unwrap();
    let done = finish(sound, planned, &inputs).unwrap();
    let mut state = before.clone();
    state.apply_all(&done.events);
    assert_eq!(state, done.state);
    assert!(done.events.iter().any(|event| matches!(event, SessionEvent::Folded { too_little: None, .. })));
}

#[test]
fn events_keep_what_was_learnt_while_a_fold_was_made() {
    let (text, policy) = overgrown();
    let done = run(&text, &policy, &manual(CHAT));
    // A report comes between the plan and its end.
    let mut state = SessionState::default();
    let reported = SessionEvent::Reported { prompt: 1_500, messages: Some(3), counted: 1_000, pressure: 100 };
    state.apply(&reported);
    state.apply_all(&done.events);
    assert_eq!((state.pace.requests, state.folds), (1, 1));
    assert!((state.calibration.ratio() - 1.5).abs() < 1e-9);
    assert!(state.awaiting_usage, "what the fold saved is not reported yet");
}

#[test]
fn a_summary_goes_on_with_the_plan_that_was_kept() {
    let (text, mut policy) = overgrown();
    policy.summarizer.url = Some("http://127.0.0.1:9".to_owned());
    let (state, job) = (SessionState::default(), manual(CHAT));
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    let sound = read(&text, &inputs).unwrap();
    let kept = plan(&sound, assess(&sound, &inputs), &inputs).unwrap();
    assert!(kept.writing.job.is_some());
    let failed = Summary::Failed(Failure::new(FailureClass::Timeout, "no word for 60 s"));
    let resumed = resume(&sound, kept.clone(), &failed, &inputs).unwrap();
    assert_eq!(resumed.zones, kept.zones);
    let note = "the model that should have written this record failed";
    assert!(resumed.fold.as_ref().unwrap().handoff.text.contains(note));
    assert!(!kept.fold.as_ref().unwrap().handoff.text.contains(note));
    let done = finish(sound, resumed, &inputs).unwrap();
    assert_eq!((done.plan.outcome, done.state.summariser.fallbacks), (Outcome::Folded, 1));
    assert!(done.body.contains(note));
}

fn scripted(prompt: Prompt<'_>) -> Result<String, String> {
    assert!(prompt.user.contains("Request 3") && prompt.most_tokens > 100, "{}", prompt.user);
    Ok("## Key Decisions\n- The parts are mended one after the other because each depends on the one before.\n"
        .to_owned())
}

#[test]
fn an_agent_takes_a_closure_as_its_summariser_and_gets_the_originals() {
    let (text, policy) = overgrown();
    let mut engine = Foldline::new(policy.clone());
    let done = engine.compact_with(&text, scripted).unwrap();
    assert_eq!(done.outcome, Outcome::Folded, "{}", done.reason);
    assert!(done.body.contains("each depends on the one before"), "{}", done.body);
    assert!(done.originals.iter().any(|original| text.contains(&original.text) && original.text.len() > 1_000));
    assert_eq!(engine.state().folds, 1);
    let mut alone = Foldline::new(policy);
    let failed = alone.compact_with(&text, |_| Err::<String, _>("no model today")).unwrap();
    assert_eq!((failed.outcome, alone.state().summariser.fallbacks), (Outcome::Folded, 1));
    assert!(failed.summary_job.is_none());
}

#[test]
fn an_agent_can_run_the_summary_job_itself() {
    let (text, policy) = overgrown();
    let mut engine = Foldline::new(policy);
    let request = Request { has_summariser: true, trigger: Trigger::Manual, ..Request::default() };
    let first = engine.compact(&text, &request).unwrap();
    let job = first.summary_job.expect("a job");
    assert!(job.window > 0 && first.body.len() < text.len(), "the body is complete without it");
    let failed = Summary::Failed(Failure::new(FailureClass::BadReply, "nothing"));
    let second = engine.resume(&failed).unwrap().expect("a request waits");
    assert!(second.body.contains("failed"));
    assert_eq!(engine.state().folds, 1, "one fold, however often it is written");
    assert!(engine.resume(&failed).unwrap().is_none());
}

#[test]
fn usage_counts_also_for_a_body_that_cannot_be_read() {
    let mut engine = Foldline::new(policy(100_000));
    engine.compact(r#"{"messages":[{"role":"user","content":"Hello"}]}"#, &Request::default()).unwrap();
    engine.observe("no JSON", TokenUsage { prompt: 60_000, completion: 1 });
    assert_eq!(engine.status().last_prompt_tokens, 60_000);
    assert_eq!(engine.state().calibration.ratio(), 1.0, "it teaches nothing about counting");
}

#[test]
fn an_agents_engine_remembers_the_setting_of_its_request() {
    let (text, mut policy) = overgrown();
    // By money: with the model's prices a verdict on reported tokens says what a fold costs.
    policy.compression.economy = true;
    policy.model.name = Some("claude-sonnet-4-5".to_owned());
    policy.model.window = AutoOr::Fixed(1_000_000);
    let mut engine = Foldline::new(policy);
    engine.compact(&text, &Request::default()).unwrap();
    let verdict = engine.should_compact(20_000);
    assert!(verdict.reason().contains('$'), "{}", verdict.reason());
}

#[test]
fn a_request_that_is_too_large_by_our_own_count_is_not_called_refused() {
    let policy = policy(10_000);
    let text = session(CHAT, 10, 3, 30).document();
    let (state, mut job) = (SessionState::default(), job(CHAT));
    job.request.trigger = Trigger::TooLarge;
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    let verdict = assess(&read(&text, &inputs).unwrap(), &inputs);
    assert!(verdict.acts() && verdict.reason().contains("exceed the window"), "{}", verdict.reason());
    assert!(!verdict.reason().contains("provider"), "{}", verdict.reason());
    job.request.trigger = Trigger::Overflow;
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    assert!(assess(&read(&text, &inputs).unwrap(), &inputs).reason().contains("the provider refused"));
}

#[test]
fn a_verdict_needs_no_document() {
    let (text, policy) = overgrown();
    let (state, job) = (SessionState::default(), job(CHAT));
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    let sound = read(&text, &inputs).unwrap();
    let known = sound.situation(&inputs);
    assert_eq!(known.assess(), assess(&sound, &inputs));
    let smaller = Situation { size: Size { tokens: 10, ..known.size }, ..known };
    assert!(matches!(smaller.assess(), Verdict::Wait(_)));
}

#[test]
fn inspection_predicts_what_is_planned() {
    let damaged = {
        let (text, _) = overgrown();
        text.replacen(r#"{"role":"user""#, r#"{"role":"tool","tool_call_id":"nobody","content":"x"},{"role":"user""#, 1)
    };
    let (text, policy) = overgrown();
    for body in [&text, &damaged] {
        for job in [job(CHAT), Job { request: Request { keeps_originals: false, ..Request::default() }, ..job(CHAT) }] {
            let state = SessionState::default();
            let inputs = Inputs { policy: &policy, state: &state, job: &job };
            let sound = read(body.as_str(), &inputs).unwrap();
            let planned = plan(&sound, assess(&sound, &inputs), &inputs).unwrap();
            let found = inspect(&sound, &inputs);
            let predicted = format!("{} → {} tokens", planned.tokens.before, planned.tokens.after);
            assert!(found.would.replace(',', "").contains(&predicted), "{} / {predicted}", found.would);
            assert_eq!(found.tokens, planned.tokens.before);
        }
    }
}

#[test]
fn a_target_is_met_by_count_not_by_estimate() {
    let (text, policy) = overgrown();
    let target = tokens(&text, CHAT) / 5;
    let done = run(&text, &policy, &within(CHAT, target));
    assert!(tokens(&done.body, CHAT) <= target);
}
