//! Agents whose gateway is killed again and again: between turns, and in the middle of replies.

use crate::process::{MESSAGES, TURNS, WINDOW, serve};
use foldline_script::{Act, Agent, Provider, Strict, breaks};
use serde_json::Value;
use std::io::Read;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A kill every so many turns.
const EVERY: usize = 6;

fn agent_survives(path: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let strict = Strict::new(WINDOW);
    let judge = strict.clone();
    let slowly = |act| match act {
        Act::Say { text, .. } => Act::Say { text, pace: Duration::from_millis(2) },
        other => other,
    };
    let choose = move |request: &_, _| slowly(judge.judge(request, "One two three four five."));
    let provider = runtime.block_on(Provider::choosing(choose)).unwrap();
    let window = WINDOW.to_string();
    let start = || serve(folder.path(), &provider.url(), &["--window", &window]);
    let mut served = start();
    let mut agent = Agent::new(path, "Run all tests and mend what fails.");
    let mut kills = 0;
    for turn in 0..=TURNS {
        let mut body: Value = serde_json::from_str(&agent.body()).unwrap();
        body["stream"] = (turn % 2 == 0).into();
        if turn % EVERY == EVERY - 1 {
            // In the middle of its reply; the agent asks again.
            let mut stream = served.open(path, &body);
            if turn % 2 == 0 {
                let _ = stream.read_exact(&mut [0; 40]);
            }
            served.signal("KILL");
            served.ended();
            served = start();
            kills += 1;
        }
        let reply = served.post(path, &body);
        assert!(reply.starts_with("HTTP/1.1 200"), "{path}, turn {turn}: {reply}");
        if turn % EVERY == 2 {
            // At once after the reply.
            served.signal("KILL");
            served.ended();
            served = start();
            kills += 1;
        }
        agent.act(turn);
    }
    assert!(kills >= TURNS / 4, "{kills}");
    assert_eq!(strict.refused(), 0, "{path}: no request is refused");
    let requests = provider.requests();
    // Before its last act it asked for the last time.
    let mut last = Agent::new(path, "Run all tests and mend what fails.");
    (0..TURNS).for_each(|turn| last.act(turn));
    let lost = last.lost_in(&requests.last().unwrap().text());
    assert!(lost.is_empty(), "{path}: {lost:?}");
    // A request that is sent again after a kill goes out in the same bytes, but for what asks for a stream.
    let breaks = breaks(&requests);
    assert!((3..=25).contains(&breaks), "{path}: {breaks} rewrites in {} requests", requests.len());
}

#[test]
fn an_agent_on_chat_completions_survives_kills_of_its_gateway() {
    agent_survives("/v1/chat/completions");
}

#[test]
fn an_agent_on_responses_survives_kills_of_its_gateway() {
    agent_survives("/v1/responses");
}

#[test]
fn an_agent_on_messages_survives_kills_of_its_gateway() {
    agent_survives(MESSAGES);
}
