//! `eval --ask`: a model reads what was compacted and answers; a second call grades.
#![allow(clippy::unwrap_used)]

mod common;

use common::depot::{desk, questions};
use common::{Desk, code, errors, text};
use foldline_script::{Act, Provider, Received};
use serde_json::{Value, json};
use std::process::{Output, Stdio};
use tokio::runtime::Runtime;

/// A model on a socket, and the runtime it lives on.
struct Model {
    provider: Provider,
    _runtime: Runtime,
}

fn model(choose: impl Fn(&Received, usize) -> Act + Send + Sync + 'static) -> Model {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let provider = runtime.block_on(Provider::choosing(choose)).unwrap();
    Model { provider, _runtime: runtime }
}

fn is_grader(request: &Received) -> bool {
    request.text().contains("Answer to grade:")
}

/// Answers one question, guesses one, misses one, and grades everything as right.
fn good(request: &Received) -> Act {
    match is_grader(request) {
        true => Act::say(r#"{"1": 1, "2": 1}"#),
        false => Act::say(
            "```json\n{\"1\": \"Port 55432.\", \"2\": \"guess: reports need it\", \"3\": \"Not in context.\"}\n```",
        ),
    }
}

fn ask(desk: &Desk, model: &Model, path: &str, more: &[&str]) -> Output {
    let url = format!("{}{path}", model.provider.url());
    let mut args = vec!["eval", "sessions", "--questions", "exam", "--budgets", "100", "--ask", &url];
    args.extend(["--ask-model", "small", "--set", "summarizer.retries=0"]);
    args.extend(more);
    let key = format!("{}{}", "my-own-", "key-0123456789");
    desk.command(&args).env("FOLDLINE_SUMMARIZER_KEY", key).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn answers_are_graded_by_kind_beside_the_evidence() {
    let desk = desk();
    let model = model(|request, _| good(request));
    let done = ask(&desk, &model, "", &["--html", "page.html"]);
    assert_eq!((code(&done), errors(&done)), (0, String::new()));
    let expected = "
Answers of small from foldline's text, by kind of question (0 to 1, a right guess counts half; 2 calls)
  budget  decision  value   all  evidence  not graded
  100 %       0.25   1.00  0.50    66.7 %           0
";
    assert!(text(&done).contains(expected), "{}", text(&done));
    let page = desk.read("page.html");
    assert!(page.contains("<h2>Answers</h2>") && page.contains("small read each compacted text"), "{page}");

    // The reader has the text and the questions, the grader neither the text nor a word about it.
    let [reader, grader] = model.provider.requests().try_into().unwrap();
    assert_eq!(reader.uri.path(), "/v1/chat/completions");
    assert_eq!(reader.headers["authorization"], "Bearer my-own-key-0123456789");
    for words in ["--- [1] assistant", "because reports read it", "1. Which port has the staging database?"] {
        assert!(reader.text().contains(words), "{words}: {}", reader.text());
    }
    for words in ["came from the proxy", "From the proxy.", "Go on."] {
        assert!(!reader.text().contains(words), "{words} is after the cut or a model answer");
    }
    for words in ["Model answer: 55432", "Key points:\\n- reports read it", "Answer to grade: reports need it"] {
        assert!(grader.text().contains(words), "{words}: {}", grader.text());
    }
    for words in ["guess", "importer", "100", "foldline", "compact", "Question 3", "depot"] {
        assert!(!grader.json()["messages"].to_string().contains(words), "{words}: {}", grader.text());
    }
}

#[test]
fn json_has_every_answer_with_its_grade_and_messages_endpoints_are_spoken() {
    let desk = desk();
    let model = model(|request, _| good(request));
    let done = ask(&desk, &model, "/anthropic", &["--json"]);
    assert_eq!((code(&done), errors(&done)), (0, String::new()));
    let requests = model.provider.requests();
    assert_eq!(requests[0].uri.path(), "/anthropic/v1/messages");
    assert_eq!(requests[0].headers["x-api-key"], "my-own-key-0123456789");
    let report: Value = serde_json::from_str(&text(&done)).unwrap();
    let answers = &report["questions"]["answers"];
    assert_eq!((&answers["model"], &answers["calls"]), (&json!("small"), &json!(2)));
    let decision = json!({"mean": 0.25, "graded": 2, "failed": 0});
    let value = json!({"mean": 1.0, "graded": 1, "failed": 0});
    let point = json!({"budget": 100.0, "mean": 0.5, "graded": 3, "failed": 0, "kinds": {"decision": decision, "value": value}});
    assert_eq!(answers["curve"], json!([point]));
    let sheet = &answers["sheets"][0];
    assert_eq!(
        (&sheet["name"], &sheet["file"], &sheet["mean"]),
        (&json!("depot"), &json!("exam/depot.json"), &json!(0.5))
    );
    let rows = json!([
        {"id": 1, "kind": "value", "question": "Which port has the staging database?",
         "outcome": "told", "answer": "Port 55432.", "grade": 1.0, "counts": 1.0},
        {"id": 2, "kind": "decision", "question": "Why does the old column stay?",
         "outcome": "guess", "answer": "reports need it", "grade": 1.0, "counts": 0.5},
        {"id": 3, "kind": "decision", "question": "Where does the timeout come from?",
         "outcome": "not_in_context", "counts": 0.0},
    ]);
    assert_eq!(sheet["answers"], rows);
}

#[test]
fn a_model_that_answers_no_json_is_told_once_again() {
    let desk = desk();
    let model = model(|request, earlier| match earlier {
        0 => Act::say("I would rather talk about it."),
        _ => good(request),
    });
    let done = ask(&desk, &model, "", &[]);
    assert_eq!((code(&done), errors(&done)), (0, String::new()));
    assert!(text(&done).contains("3 calls)") && text(&done).contains("0.25   1.00  0.50"), "{}", text(&done));
    let again = model.provider.requests().remove(1).text();
    for words in ["I would rather talk about it.", "That could not be used: the reply has no JSON object."] {
        assert!(again.contains(words), "{words}: {again}");
    }
}

#[test]
fn what_stays_wrong_counts_as_failed_with_its_reason() {
    let desk = desk();
    // Grades that are none: what needed no grader still counts.
    let lenient = model(|request, _| match is_grader(request) {
        true => Act::say(r#"{"1": 0.8, "2": 1}"#),
        false => good(request),
    });
    let done = ask(&desk, &lenient, "", &[]);
    assert_eq!((code(&done), errors(&done)), (0, String::new()));
    let expected = "
  budget  decision  value   all  evidence  not graded
  100 %       0.25      –  0.25    66.7 %           1
  1 question failed: question 1: invalid grade 0.8; expected 0, 0.25, 0.5, 0.75 or 1
";
    assert!(text(&done).contains(expected), "{}", text(&done));
    assert_eq!(lenient.provider.requests().len(), 3, "the grader was told once again");

    let stubborn = model(|_, _| Act::say("No."));
    let done = ask(&desk, &stubborn, "", &[]);
    let expected = "error: no question could be answered and graded: the reply has no JSON object\n";
    assert_eq!((code(&done), errors(&done)), (4, expected.to_owned()));
    assert!(text(&done).contains("Evidence told, by budget"), "what was measured is still shown");
    assert!(text(&done).contains("  3 questions failed: the reply has no JSON object\n"), "{}", text(&done));
}

#[test]
fn a_wrong_key_ends_it_after_one_call() {
    let desk = desk();
    let model = model(|_, _| Act::error(401, "invalid_api_key", "Incorrect API key: my-own-key-0123456789"));
    desk.write("exam/more.json", &questions().to_string());
    let done = ask(&desk, &model, "", &["--json"]);
    assert_eq!(code(&done), 4, "{}", errors(&done));
    assert!(errors(&done).contains("HTTP 401") && errors(&done).contains("check the key"), "{}", errors(&done));
    assert!(!errors(&done).contains("my-own-key") && !text(&done).contains("my-own-key"));
    assert_eq!(model.provider.requests().len(), 1);
}

#[test]
fn a_server_that_says_nothing_is_left_alone_after_three_calls() {
    let desk = desk();
    (0..4).for_each(|n| desk.write(&format!("exam/more-{n}.json"), &questions().to_string()));
    let model = model(|_, _| Act::Stall);
    let done = ask(&desk, &model, "", &["--set", "summarizer.first_word_seconds=1"]);
    assert_eq!(code(&done), 4, "{}", errors(&done));
    assert!(errors(&done).contains("timeout: no first token within 1 s"), "{}", errors(&done));
    assert_eq!(model.provider.requests().len(), 3, "of five sets of questions");
}

#[test]
fn failures_that_may_pass_are_tried_again_as_for_summaries() {
    let desk = desk();
    let model = model(|request, earlier| match earlier {
        0 => Act::status(429, "slow down").with_header("retry-after-ms", "10"),
        _ => good(request),
    });
    let done = ask(&desk, &model, "", &["--set", "summarizer.retries=1"]);
    assert_eq!((code(&done), errors(&done)), (0, String::new()));
    assert_eq!(model.provider.requests().len(), 3);
}

#[test]
fn what_cannot_work_is_said_before_anything_is_asked() {
    let desk = desk();
    let model = model(|request, _| good(request));
    let mut bare = questions();
    for question in bare["questions"].as_array_mut().unwrap() {
        question.as_object_mut().unwrap().retain(|name, _| name != "answer");
    }
    desk.write("exam/depot.json", &bare.to_string());
    let done = ask(&desk, &model, "", &[]);
    let expected =
        "error: --ask grades by `answer` or `key_points`; these questions have neither:\n  exam/depot.json: 1, 3\n";
    assert_eq!((code(&done), errors(&done)), (2, expected.to_owned()));
    assert_eq!(model.provider.requests().len(), 0);
    let done = desk.run(&["eval", "sessions", "--ask", "http://127.0.0.1:9"]);
    assert!(code(&done) == 2 && errors(&done).contains("--questions <FILE|DIR>"), "{}", errors(&done));
    let done = desk.run(&["eval", "sessions", "--questions", "exam", "--ask", "nonsense"]);
    assert!(code(&done) == 2 && errors(&done).contains("expected a URL that starts with http://"), "{}", errors(&done));
}
