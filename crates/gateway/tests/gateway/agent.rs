//! How agents use the gateway of a test.

use crate::harness::{TestGateway, Tuned};
use foldline_core::policy::AutoOr;
use foldline_script::{Agent, Strict};

/// How long agents work, whatever goes wrong meanwhile.
pub const TURNS: usize = 300;
/// The window that they work in.
pub const WINDOW: usize = 32_000;

/// Asks, and takes it for granted that there is an answer.
pub async fn ask(agent: &Agent, test: &TestGateway) {
    let seen = test.post(agent.path, &agent.body()).await;
    assert_eq!(seen.status, 200, "{}, {} messages: {}", agent.path, agent.history.len(), seen.text());
}

/// The last request says what the model must know.
pub fn assert_nothing_is_lost(agent: &Agent, request: &str) {
    let lost = agent.lost_in(request);
    assert!(lost.is_empty(), "{}: {lost:?}", agent.path);
}

/// A gateway before a strict provider with this window.
pub async fn strict_desk(window: usize, tune: impl FnOnce(&mut Tuned)) -> (TestGateway, Strict) {
    let strict = Strict::new(window);
    let judge = strict.clone();
    let test = TestGateway::choosing(
        move |request, _| judge.judge(request, "Go on."),
        |policy| {
            policy.model.window = AutoOr::Fixed(window as u32);
            tune(policy);
        },
    );
    (test.await, strict)
}
