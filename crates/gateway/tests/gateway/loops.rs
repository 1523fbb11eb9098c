//! Agents at work: hundreds of turns through a small window, with a provider that checks every request.

use crate::agent::{TURNS, WINDOW, ask, assert_nothing_is_lost, strict_desk};
use crate::harness::{CHAT, GEMINI, MESSAGES, RESPONSES};
use foldline_script::{Agent, breaks};

async fn loop_on(path: &'static str) {
    let (test, strict) = strict_desk(WINDOW, |_| {}).await;
    let mut agent = Agent::new(path, "Run all tests and mend what fails.");
    for turn in 0..TURNS {
        ask(&agent, &test).await;
        agent.act(turn);
    }
    ask(&agent, &test).await;
    assert_eq!(strict.refused(), 0, "{path}: no request is refused");
    let requests = test.provider.requests();
    assert!(requests.iter().all(|request| request.body.len() / 4 <= WINDOW));
    assert_nothing_is_lost(&agent, &requests.last().unwrap().text());
    // Between folds each request begins as the one before it.
    let breaks = breaks(&requests);
    assert!((3..=30).contains(&breaks), "{path}: {breaks} folds in {TURNS} turns");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_chat_completions_fit_a_small_window() {
    loop_on(CHAT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_responses_fit_a_small_window() {
    loop_on(RESPONSES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_messages_fit_a_small_window() {
    loop_on(MESSAGES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_of_gemini_fit_a_small_window() {
    loop_on(GEMINI).await;
}
