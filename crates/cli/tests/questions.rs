//! `eval --questions`: what a compaction still tells of the answers to questions that somebody wrote.
#![allow(clippy::unwrap_used)]

mod common;

use common::depot::{desk, questions, session};
use common::{code, errors, text};
use serde_json::{Value, json};

#[test]
fn evidence_is_told_by_kind_beside_names_and_tokens() {
    let desk = desk();
    let done = desk.run(&["eval", "sessions", "--questions", "exam", "--budgets", "100", "--html", "page.html"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let expected = "
Evidence told, by budget: 1 session, 3 questions, 3 places that tell the answers
  budget  foldline  one-line stubs  plain tail
  100 %     66.7 %          66.7 %      66.7 %

Evidence told by foldline, by kind of question
  budget   decision       value     all  names kept   tokens     text
  100 %   50 % of 2  100 % of 1  66.7 %           –  100.0 %  100.0 %
";
    assert!(text(&done).contains(expected), "{}", text(&done));
    assert!(!text(&done).contains("Facts kept"), "a session that is too short for names has none: {}", text(&done));
    let page = desk.read("page.html");
    for words in ["Evidence told", "1 session, 3 questions, 3 places", "By kind of question", "100 % of 1", "66.7 %"] {
        assert!(page.contains(words), "{words}");
    }

    let done = desk.run(&["eval", "sessions", "--questions", "exam/depot.json", "--budgets", "1,100", "--json"]);
    let report: Value = serde_json::from_str(&text(&done)).unwrap();
    let asked = &report["questions"];
    assert_eq!((&asked["sessions"], &asked["questions"], &asked["places"]), (&json!(1), &json!(3), &json!(3)));
    assert_eq!(asked["left_out"], json!([]));
    let points = asked["curve"].as_array().unwrap();
    assert_eq!(points.len(), 6, "three methods, two budgets");
    assert_eq!((&points[1]["method"], &points[1]["budget"]), (&json!("foldline"), &json!(100.0)));
    assert_eq!((&points[1]["told"], &points[1]["of"]), (&json!(2), &json!(3)));
    assert_eq!(points[1]["kinds"]["decision"], json!({"told": 1, "of": 2, "told_percent": 50.0}));
    // One percent of four messages cannot be met: nothing is told, and it is said.
    assert_eq!((&points[0]["told"], &points[0]["unmet"]), (&json!(0), &json!(1)));
    let row = &asked["by_session"][0];
    assert_eq!((&row["name"], &row["messages"], &row["questions"]), (&json!("depot"), &json!(4), &json!(3)));
    assert!(row["unmet"][0].as_str().unwrap().contains("cannot be brought to"), "{row}");
}

#[test]
fn sessions_without_questions_are_measured_by_names_alone() {
    let desk = desk();
    let mut long = session();
    let messages = long["messages"].as_array_mut().unwrap();
    for turn in 0..30 {
        let name = if turn < 20 { format!("parse_row_{turn}") } else { format!("parse_row_{}", turn - 15) };
        messages.push(json!({"role": "user", "content": format!("Next step {turn}.")}));
        messages.push(
            json!({"role": "assistant", "content": format!("The importer calls {name} for each row of the depot.")}),
        );
    }
    desk.write("sessions/other.json", &long.to_string());
    let done = desk.run(&["eval", "sessions", "--questions", "exam", "--budgets", "100", "--json"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let report: Value = serde_json::from_str(&text(&done)).unwrap();
    assert_eq!((&report["sessions"], &report["questions"]["sessions"]), (&json!(1), &json!(1)));
    let done = desk.run(&["eval", "sessions", "--budgets", "100", "--json"]);
    let report: Value = serde_json::from_str(&text(&done)).unwrap();
    assert!(report.get("questions").is_none(), "{report:#}");
}

#[test]
fn a_conversation_of_several_in_a_file_is_named_by_its_number() {
    let desk = desk();
    desk.write("sessions/many.jsonl", &format!("{}\n{}\n", session(), session()));
    for (number, file) in [(2, "second.json"), (3, "third.json")] {
        let mut sheet = questions();
        sheet["session"] = json!(format!("many:{number}"));
        desk.write(file, &sheet.to_string());
    }
    let args =
        ["eval", "sessions", "--questions", "second.json", "--questions", "third.json", "--budgets", "100", "--json"];
    let done = desk.run(&args);
    let expected = "third.json asks about the session many:3, which is not among the paths";
    assert_eq!((code(&done), errors(&done)), (0, format!("warning: {expected}\n")));
    let asked = serde_json::from_str::<Value>(&text(&done)).unwrap()["questions"].take();
    assert_eq!((&asked["by_session"][0]["name"], &asked["left_out"]), (&json!("many:2"), &json!([expected])));
}

#[test]
fn questions_that_fit_no_session_are_told() {
    let desk = desk();
    let mut stray = questions();
    stray["session"] = json!("harbour");
    desk.write("exam/stray.json", &stray.to_string());
    let done = desk.run(&["eval", "sessions", "--questions", "exam", "--budgets", "100"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let stray_words = "exam/stray.json asks about the session harbour, which is not among the paths";
    assert_eq!(errors(&done), format!("warning: {stray_words}\n"));

    let done = desk.run(&["eval", "sessions", "--questions", "exam/stray.json"]);
    let expected = format!(
        "error: no questions match any of these sessions\n  {stray_words}\n\
         expected `session` to be the name of a file without its ending: depot\n"
    );
    assert_eq!((code(&done), errors(&done)), (2, expected));

    let mut late = questions();
    late["cut"] = json!(7);
    desk.write("late.json", &late.to_string());
    let done = desk.run(&["eval", "sessions", "--questions", "late.json"]);
    let expected = "error: none of the questions can be put to its session:\n  \
                    late.json: `cut` is 7, but the session has 6 messages\n";
    assert_eq!((code(&done), errors(&done)), (2, expected.to_owned()));
    let done = desk.run(&["eval", "sessions", "--questions", "late.json", "--questions", "exam/depot.json"]);
    assert_eq!(code(&done), 0);
    assert_eq!(errors(&done), "warning: late.json: `cut` is 7, but the session has 6 messages\n");
}

#[test]
fn broken_questions_are_told_by_their_place() {
    let desk = desk();
    desk.write("exam/broken.json", "{\"session\": \"depot\",\n \"cut\": four}");
    desk.write("exam/half.json", r#"{"session": "depot", "cut": 4, "questions": [{"id": 1, "kind": "value"}]}"#);
    std::fs::create_dir(desk.path("empty")).unwrap();
    let done = desk.run(&["eval", "sessions", "--questions", "exam"]);
    assert_eq!(code(&done), 2);
    for words in [
        "error: exam/broken.json: line 2, column 10: expected ident; expected {\"session\": \"name\"",
        "exam/half.json: questions[0]: missing field `question`; expected questions as in {",
    ] {
        assert!(errors(&done).contains(words), "{words}: {}", errors(&done));
    }
    let done = desk.run(&["eval", "sessions", "--questions", "empty"]);
    assert_eq!((code(&done), errors(&done)), (2, "error: no questions in empty; expected .json files\n".to_owned()));
    let done = desk.run(&["eval", "sessions", "--questions", "nowhere"]);
    assert!(code(&done) == 2 && errors(&done).contains("cannot read nowhere"), "{}", errors(&done));
}
