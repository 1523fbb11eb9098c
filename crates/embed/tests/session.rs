//! A host that sends its whole history with each request, through several folds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use foldline_embed::{Ask, Done, Error, Look, Options, Session, Step};
use serde_json::{Value, json};

const OPTIONS: &str = r#"{"window": 16000, "recall_tool": "foldline_recall"}"#;

fn session() -> Session {
    Session::new(Options::read(OPTIONS).unwrap())
}

/// The history after some calls, each of which reads a log of its own.
fn history(calls: usize) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": "You look for slow imports."}),
        json!({"role": "user", "content": "Find out why the import of orders is slow. Never touch the archive."}),
    ];
    for call in 0..calls {
        let log: String = (0..60)
            .map(|row| format!("part {call} row {row}: wrote order {} in {} ms\n", call * 60 + row, row % 7))
            .collect();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("call_{call}"), "type": "function",
            "function": {"name": "read_log", "arguments": json!({"part": call}).to_string()}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("call_{call}"), "content": log}));
    }
    json!({"model": "gpt-5", "messages": messages}).to_string()
}

fn done(step: Result<Step, Error>) -> Done {
    match step.unwrap() {
        Step::Done(done) => *done,
        Step::Asks(_) => panic!("no summariser was offered"),
    }
}

fn messages(body: &str) -> Vec<Value> {
    serde_json::from_str::<Value>(body).unwrap()["messages"].as_array().unwrap().clone()
}

fn report(done: &Done) -> Value {
    serde_json::from_str(&done.report).unwrap()
}

#[test]
fn between_two_folds_each_request_extends_the_one_before() {
    let session = session();
    let (mut last, mut folds, mut extended) = (Vec::new(), 0, 0);
    for calls in 1..90 {
        let body = history(calls);
        let done = done(session.compact(&body, Ask::default()));
        let sent = messages(done.body.as_deref().unwrap_or(&body));
        match report(&done)["outcome"].as_str() {
            Some("unchanged") => {
                assert_eq!(sent.get(..last.len()), Some(last.as_slice()), "call {calls}");
                extended += usize::from(done.body.is_some());
            }
            _ => folds += 1,
        }
        for (message, kept) in sent.iter().zip(&done.kept) {
            assert!(kept.is_none_or(|index| messages(&body)[index] == *message));
        }
        last = sent;
    }
    assert!(folds >= 3 && extended > 20, "{folds} folds, {extended} requests with an earlier fold in them");
}

#[test]
fn what_was_removed_comes_back_by_the_handle_that_the_agent_sees() {
    let session = session();
    let done = done(session.compact(&history(40), Ask::default()));
    let body = done.body.unwrap();
    let at = body.find("fl-").unwrap();
    let handle = &body[at..at + 15];
    assert!(body.contains("foldline_recall"), "the way that the agent has is named");
    let original = session.original(handle).unwrap();
    assert!(
        history(40).contains(&*original.text)
            || history(40).contains(json!(&*original.text).to_string().trim_matches('"'))
    );
    let page = session.recall(handle, &Look::read(r#"{"grep": "order 67 "}"#).unwrap());
    assert!(page.unwrap().contains("part 1 row 7: wrote order 67 in 0 ms"));
    let unknown = session.recall("fl-000000000000", &Look::default()).unwrap_err();
    assert!(unknown.to_string().contains("nothing that this session removed has the handle"));
}

#[test]
fn without_a_tool_no_handle_is_shown() {
    let session = Session::new(Options::read(r#"{"window": 16000}"#).unwrap());
    let done = done(session.compact(&history(40), Ask::default()));
    assert!(!done.body.unwrap().contains("fl-"));
    assert!(!done.originals.is_empty(), "the host gets them all the same");
}

#[test]
fn a_session_goes_on_after_a_restart() {
    let first = session();
    let folded = done(first.compact(&history(40), Ask::default())).body.unwrap();
    let second = Session::restore(Options::read(OPTIONS).unwrap(), &first.save()).unwrap();
    let (one, two) = (first.compact(&history(41), Ask::default()), second.compact(&history(41), Ask::default()));
    let (one, two) = (done(one).body.unwrap(), done(two).body.unwrap());
    assert_eq!(one, two);
    assert!(one.starts_with(folded.rsplit_once("]").unwrap().0));
    let at = folded.find("fl-").unwrap();
    assert!(second.original(&folded[at..at + 15]).is_ok());
    assert!(
        Session::restore(Options::default(), "{}").unwrap_err().to_string().starts_with("this is no saved session")
    );
}

#[test]
fn a_model_writes_the_handoff_and_a_failing_one_does_not_stop_it() {
    let ask = || Ask { summarizer: true, force: true, ..Ask::default() };
    let Step::Asks(pending) = session().compact(&history(40), ask()).unwrap() else { panic!("a model is to be asked") };
    assert!(pending.prompt().user.contains("import of orders") && pending.prompt().max_tokens > 100);
    let reply = "## Goal\nFind out why the import of orders is slow.\n## Key Decisions\n- Index orders by day, because the \
                 planner scans them all.\n## Remaining Work\n- Measure again.\n";
    let written = done(pending.answer(Ok(reply)));
    assert_eq!(report(&written)["handoff"]["by"], "model", "{}", written.report);
    let Step::Asks(pending) = session().compact(&history(40), ask()).unwrap() else { panic!("a model is to be asked") };
    let written = done(pending.answer(Err("the server is on fire")));
    assert_eq!(report(&written)["handoff"]["by"], "ledger");
    assert!(written.report.contains("the server is on fire"));
}

#[test]
fn a_target_that_cannot_be_met_is_said_with_numbers() {
    let ask = Ask { target_tokens: Some(20), ..Ask::default() };
    let error = session().compact(&history(40), ask).unwrap_err();
    assert!(matches!(error, Error::CannotFit(_)) && error.to_string().contains("20 tokens"), "{error}");
}
