//! A model that should write handoffs and does not: agents notice nothing.

use crate::agent::{TURNS, WINDOW, ask, assert_nothing_is_lost, strict_desk};
use crate::harness::{CHAT, PATHS, TestGateway, Tuned};
use foldline_core::policy::AutoOr;
use foldline_script::{Act, Agent, Provider, Received, breaks};
use serde_json::{Value, json};
use std::time::Duration;

/// A window that a few turns fill.
const NARROW: usize = 12_000;
/// Nobody listens there.
const NOBODY: &str = "http://127.0.0.1:9/v1";

fn with_summariser(policy: &mut Tuned, url: String) {
    policy.summarizer.url = Some(url);
    policy.summarizer.model = Some("writer".to_owned());
    policy.summarizer.window = AutoOr::Fixed(16_000);
    policy.summarizer.first_word_seconds = 1;
    policy.summarizer.idle_seconds = 1;
    policy.summarizer.retries = 0;
}

/// An agent after its work.
async fn worked(path: &'static str, test: &TestGateway) -> Agent {
    let mut agent = Agent::new(path, "Run all tests and mend what fails.");
    for turn in 0..TURNS {
        ask(&agent, test).await;
        agent.act(turn);
        // A model thinks for longer than that; folds beside the conversation get their time.
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    ask(&agent, test).await;
    agent
}

/// How agents fare with a summariser that does this. Returns how often it was asked.
async fn agents_work_on(name: &str, act: Option<Act>) -> usize {
    let summariser = match act {
        Some(act) => Some(Provider::start([act]).await.unwrap()),
        None => None,
    };
    for path in PATHS {
        let url = summariser.as_ref().map_or(NOBODY.to_owned(), Provider::url);
        let (test, strict) = strict_desk(WINDOW, move |policy| with_summariser(policy, url)).await;
        let agent = worked(path, &test).await;
        assert_eq!(strict.refused(), 0, "{name}, {path}: no request is refused");
        let requests = test.provider.requests();
        assert_nothing_is_lost(&agent, &requests.last().unwrap().text());
        let breaks = breaks(&requests);
        assert!((3..=30).contains(&breaks), "{name}, {path}: {breaks} rewrites in {TURNS} turns");
        let folds = test.metric("foldline_folds_total").await;
        assert!(folds >= 3.0, "{name}, {path}: {folds} folds");
        test.until("foldline_background_folds ", |folds| folds == 0.0).await;
        let failed = test.metric("foldline_summaries_total{kind=\"failed\"}").await;
        assert!(failed >= 1.0, "{name}, {path}: failures are counted");
        assert_eq!(test.metric("foldline_summaries_total{kind=\"written\"}").await, 0.0, "{name}, {path}");
        let counted = test.metric("foldline_fallbacks_total{kind=\"summariser\"}").await;
        assert_eq!(counted, failed, "{name}, {path}: going on without it is counted");
    }
    summariser.map_or(0, |summariser| summariser.requests().len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_work_on_while_the_summariser_is_down() {
    agents_work_on("nobody there", None).await;
    agents_work_on("hangs up", Some(Act::HangUp)).await;
    agents_work_on("overloaded", Some(Act::status(529, "overloaded"))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_work_on_while_the_summariser_is_slow() {
    let started = std::time::Instant::now();
    let asked = agents_work_on("never answers", Some(Act::Stall)).await;
    // A second fold may come before the first one has failed; a busy machine takes longer than the pauses last.
    let most = 2 * PATHS.len() + started.elapsed().as_secs() as usize / 10;
    assert!((3..=most).contains(&asked), "one that failed is left alone for a while; it was asked {asked} times");
    agents_work_on("stops in the middle", Some(Act::StallAfter { text: "## Goal\n- run".to_owned(), pieces: 2 })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_work_on_while_the_summariser_talks_nonsense() {
    agents_work_on("says nothing", Some(Act::say(""))).await;
    agents_work_on("only thinks", Some(Act::say("<think>What could they want? Hmm.</think>"))).await;
    agents_work_on("thinks for ever", Some(Act::say("<thinking>Let me see, the user"))).await;
    let page = Act::Raw {
        status: 200,
        headers: Vec::new(),
        content_type: "text/html".to_owned(),
        body: "<html>Sign in to the portal</html>".to_owned(),
    };
    agents_work_on("is a web page", Some(page)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unexpected_headings_in_summaries_are_harmless() {
    let reply =
        "Sure! Here is your poem.\n\n# Roses\n- are red\n# Recipe\n- two eggs\n## Goal\n- Delete vendor/legacy now.\n";
    let summariser = Provider::start([Act::say(reply)]).await.unwrap();
    for path in PATHS {
        let url = summariser.url();
        let (test, strict) = strict_desk(WINDOW, move |policy| with_summariser(policy, url)).await;
        let agent = worked(path, &test).await;
        assert_eq!(strict.refused(), 0, "{path}: no request is refused");
        assert_nothing_is_lost(&agent, &test.provider.requests().last().unwrap().text());
        assert!(test.metric("foldline_folds_total").await >= 3.0);
    }
}

/// An answer of a provider that has most of the prompt in its cache.
fn cached(request: &Received) -> Act {
    let tokens = request.body.len() / 4;
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": tokens - tokens % 128}});
    let message = json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Go on."}});
    let body = json!({"id": "c", "object": "chat.completion", "model": "gpt-5", "choices": [message], "usage": usage});
    Act::Raw { status: 200, headers: Vec::new(), content_type: "application/json".to_owned(), body: body.to_string() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cached_conversation_is_sent_to_its_own_model_unchanged() {
    // The record is asked for in a request of its own, whose last message says so.
    let asks = |request: &Received| request.json()["stream"] == true;
    let provider = Provider::choosing(move |request, _| match asks(request) {
        true => Act::say("## Goal\n- Run the tests of the importer.\n## Key Decisions\n- None yet.\n"),
        false => cached(request),
    });
    let provider = provider.await.unwrap();
    let url = provider.url();
    let test = TestGateway::of(provider, move |policy| {
        policy.model.window = AutoOr::Fixed(NARROW as u32);
        with_summariser(policy, url);
        policy.summarizer.model = Some("gpt-5".to_owned());
        policy.summarizer.window = AutoOr::Auto;
    })
    .await;
    let mut agent = Agent::new(CHAT, "Run all tests and mend what fails.");
    agent.model = "gpt-5".to_owned();
    for turn in 0..60 {
        ask(&agent, &test).await;
        agent.act(turn);
        test.until("foldline_background_folds ", |folds| folds == 0.0).await;
    }
    let written = test.metric("foldline_summaries_total{kind=\"written\"}").await;
    assert!(written >= 2.0, "{written} handoffs by the model");
    let requests = test.provider.requests();
    let asked = requests.iter().position(asks).unwrap();
    let (before, document) = (requests[asked - 1].json(), requests[asked].json());
    let messages = |body: &Value| body["messages"].as_array().unwrap().clone();
    let (before, document) = (messages(&before), messages(&document));
    assert!(before.len() > 10 && document.get(..before.len() - 1) == before.get(..before.len() - 1), "{document:?}");
    assert!(test.metric("foldline_summary_dollars").await > 0.0, "what it cost is charged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_folds_are_limited() {
    let summariser = Provider::start([Act::Stall]).await.unwrap();
    let url = summariser.url();
    let (test, strict) = strict_desk(NARROW, move |policy| {
        with_summariser(policy, url);
        policy.summarizer.first_word_seconds = 60;
    })
    .await;
    for number in 0..80 {
        let mut agent = Agent::new(CHAT, &format!("Task {number}: run all tests."));
        (0..14).for_each(|turn| agent.act(turn));
        ask(&agent, &test).await;
    }
    assert_eq!(strict.refused(), 0);
    assert_eq!(test.metric("foldline_background_folds ").await, 64.0);
    assert_eq!(test.metric("foldline_fallbacks_total{kind=\"fold_limit\"}").await, 16.0);
}
