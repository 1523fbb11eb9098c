//! Many at once: conversations that begin alike, clients that share one, requests that are mostly not conversation.

use crate::agent::{TURNS, WINDOW, ask, assert_nothing_is_lost, strict_desk};
use crate::harness::{GEMINI, MESSAGES, PATHS, RESPONSES};
use foldline_script::{Agent, Received, breaks};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tools in the words of a dialect.
fn tools(path: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let text = "Runs a command in a shell and returns what it prints.";
    match path {
        RESPONSES => json!([{"type": "function", "name": "shell", "description": text, "parameters": schema}]),
        MESSAGES => json!([{"name": "shell", "description": text, "input_schema": schema}]),
        GEMINI => {
            json!([{"functionDeclarations": [{"name": "shell", "description": text, "parametersJsonSchema": schema}]}])
        }
        _ => json!([{"type": "function", "function": {"name": "shell", "description": text, "parameters": schema}}]),
    }
}

/// The mark of a conversation, such that none is part of another.
fn mark(number: usize) -> String {
    format!("mark{number:03}x")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_with_the_same_beginning_stay_separate() {
    const CONVERSATIONS: usize = 200;
    const EACH: usize = 27;
    let (test, strict) = strict_desk(8_000, |_| {}).await;
    let test = Arc::new(test);
    // Also the first message is the same: only what comes later tells them apart.
    let agents: Vec<Agent> = (0..CONVERSATIONS)
        .map(|number| {
            let path = PATHS[number % PATHS.len()];
            let mut agent = Agent::new(path, "Run all tests and mend what fails.");
            agent.tools = tools(path);
            agent.mark = mark(number);
            agent
        })
        .collect();
    let next = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..16)
        .map(|_| {
            let (test, next, agents) = (test.clone(), next.clone(), agents.clone());
            tokio::spawn(async move {
                // Each client goes round: a turn of one conversation, then a turn of the next.
                let mut mine: Vec<Agent> = Vec::new();
                while let Some(agent) = agents.get(next.fetch_add(1, Ordering::Relaxed)) {
                    mine.push(agent.clone());
                }
                for turn in 0..EACH {
                    for agent in &mut mine {
                        ask(agent, &test).await;
                        agent.act(turn);
                    }
                }
                for agent in &mine {
                    ask(agent, &test).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(strict.refused(), 0, "no request is refused");
    let mut asked = [0; CONVERSATIONS];
    let mut folded = [false; CONVERSATIONS];
    for request in test.provider.requests() {
        let text = request.text();
        let marks: std::collections::BTreeSet<&str> =
            text.match_indices("mark").filter_map(|(at, _)| text.get(at..at + 8)).collect();
        // The first request of each has no output yet.
        let Some(own) = marks.first() else { continue };
        assert_eq!(marks.len(), 1, "a request speaks of one conversation: {marks:?}");
        let number: usize = own[4..7].parse().unwrap();
        assert_eq!(&mark(number), own);
        asked[number] += 1;
        // The first output is gone from the place where it stood; a handoff may quote a line of it.
        folded[number] |= text.contains("FOLDLINE HANDOFF") || !text.contains(&format!("{own}_3_0 PASSED in 0.003s"));
    }
    assert!(asked.iter().all(|&requests| requests == EACH), "{asked:?}");
    let rest = folded.iter().filter(|folded| !**folded).count();
    assert_eq!(rest, 0, "conversations that were never folded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_can_continue_one_conversation() {
    for path in PATHS {
        let (test, strict) = strict_desk(WINDOW, |_| {}).await;
        let mut one = Agent::new(path, "Do it together.");
        for turn in 0..10 {
            ask(&one, &test).await;
            one.act(turn);
        }
        let mut two = one.clone();
        (one.mark, two.mark) = ("left".to_owned(), "right".to_owned());
        // Now and then both send the same at the same time; then they go their ways.
        for turn in 10..TURNS {
            tokio::join!(ask(&one, &test), ask(&two, &test));
            if turn % 3 == 0 {
                ask(&two, &test).await;
            }
            one.act(turn);
            two.act(turn);
        }
        tokio::join!(ask(&one, &test), ask(&two, &test));
        assert_eq!(strict.refused(), 0, "{path}: no request is refused");
        let requests = test.provider.requests();
        let of = |own: &str, other: &str| -> Vec<Received> {
            let mine: Vec<Received> =
                requests.iter().filter(|request| request.text().contains(&format!("::{own}_"))).cloned().collect();
            assert!(mine.iter().all(|request| !request.text().contains(&format!("::{other}_"))), "{path}: mixed up");
            mine
        };
        for (agent, mine) in [(&one, of("left", "right")), (&two, of("right", "left"))] {
            assert!(mine.len() >= TURNS - 10, "{path}: {}", mine.len());
            assert_nothing_is_lost(agent, &mine.last().unwrap().text());
            let breaks = breaks(&mine);
            assert!((2..=16).contains(&breaks), "{path}: {breaks} rewrites");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_whose_instructions_fill_a_third_of_the_window_keeps_its_prefix() {
    for path in PATHS {
        let (test, strict) = strict_desk(20_000, |_| {}).await;
        let mut agent = Agent::new(path, "Run all tests and mend what fails.");
        agent.volume = 2;
        agent.system =
            (0..380).map(|n| format!("Rule {n} of the house concerns part {n} of the work here. ")).collect();
        for turn in 0..TURNS {
            ask(&agent, &test).await;
            agent.act(turn);
        }
        ask(&agent, &test).await;
        assert_eq!(strict.refused(), 0, "{path}: no request is refused");
        assert_nothing_is_lost(&agent, &test.provider.requests().last().unwrap().text());
        let folds = test.metric("foldline_folds_total").await + test.metric("foldline_prunes_total").await;
        assert!((3.0..=TURNS as f64 / 5.0).contains(&folds), "{path}: {folds} folds in {TURNS} turns");
    }
}
