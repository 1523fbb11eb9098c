//! The measure on transcripts of a few lines.

use super::*;
use foldline_core::tokens::{Measure, measure};
use foldline_transcript::wire;
use serde_json::{Value, json};

/// A conversation: a word of the user, then calls with their results, then what the agent says.
fn session(results: &[&str], said: &[&str]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "Please look into it."})];
    for (index, result) in results.iter().enumerate() {
        let id = format!("t{index}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "shell_exec", "input": {"command": "make"}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result}]}));
    }
    for words in said {
        messages.push(json!({"role": "assistant", "content": words}));
        messages.push(json!({"role": "user", "content": "Go on."}));
    }
    json!({"messages": messages}).to_string()
}

fn exam_at(document: &str, message: usize) -> Exam {
    let transcript = wire::read(document, None).unwrap();
    let page = Page::of(&transcript);
    Exam::at(&page, &Timeline::of(&page), message)
}

fn names(exam: &Exam) -> Vec<&str> {
    exam.facts().map(|fact| fact.name.as_str()).collect()
}

fn kept(exam: &Exam, text: &str) -> u64 {
    exam.score(text.lines()).total().kept
}

#[test]
fn a_fact_is_what_the_agent_writes_before_it_sees_it_again() {
    let first = "compile load_table failed\nother_name is unrelated\nseen_again stays visible";
    let document = session(&[first, "here is seen_again once more"], &["I fix load_table, seen_again and brand_new."]);
    assert_eq!(names(&exam_at(&document, 3)), ["load_table"]);
}

#[test]
fn a_name_that_comes_back_in_a_result_after_its_use_is_still_a_fact() {
    let document = session(&["compile load_table failed"], &["I fix load_table."]);
    let document = document.replace("Go on.", "load_table it is");
    assert_eq!(names(&exam_at(&document, 3)), ["load_table"]);
}

#[test]
fn values_handed_to_tools_count_as_use_and_their_keys_and_tools_do_not() {
    let call = json!({"type": "tool_use", "id": "x", "name": "read_file", "input": {"file_path": "/srv/app/main.py"}});
    let messages = json!([
        {"role": "user", "content": "read_file with file_path on /srv/app/main.py crashes"},
        {"role": "assistant", "content": "Looking."},
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "def main()"}]},
    ]);
    assert_eq!(names(&exam_at(&json!({"messages": messages}).to_string(), 3)), ["/srv/app/main.py"]);
}

#[test]
fn a_fact_needs_the_company_it_had() {
    let document = session(&["compile load_table failed with overflow"], &["I fix load_table."]);
    let exam = exam_at(&document, 3);
    assert_eq!(kept(&exam, "an overflow in load_table"), 1);
    assert_eq!(kept(&exam, "load_table"), 0, "alone");
    assert_eq!(kept(&exam, "load_table and strangers"), 0, "in other company");
    assert_eq!(kept(&exam, "overflow\nload_table"), 0, "on another line");
    assert_eq!(kept(&exam, "my_load_table overflow"), 0, "as a piece of another name");
}

#[test]
fn a_bare_list_of_names_scores_nothing_unless_it_stood_there() {
    let document = session(&["call load_table(row_count, page_size) now"], &["load_table row_count page_size"]);
    let exam = exam_at(&document, 3);
    assert_eq!(exam.len(), 3);
    assert_eq!(kept(&exam, "- load_table, row_count, `page_size`"), 0);
    assert_eq!(kept(&exam, "call load_table(row_count, page_size) now"), 3);
    let document = session(&["a_file b_file c_file"], &["c_file"]);
    assert_eq!(kept(&exam_at(&document, 3), "a_file b_file c_file"), 1);
}

#[test]
fn a_name_that_always_stood_alone_is_not_asked_for() {
    let document = session(&["load_table\nnothing else"], &["I fix load_table."]);
    assert!(exam_at(&document, 3).is_empty());
}

#[test]
fn a_path_is_no_company_for_its_own_file() {
    let document = session(&["edited src/store/cache_line.rs today"], &["Back to src/store/cache_line.rs."]);
    let exam = exam_at(&document, 3);
    assert_eq!(names(&exam), ["src/store/cache_line.rs"]);
    assert_eq!(kept(&exam, "src/store/cache_line.rs"), 0);
    assert_eq!(kept(&exam, "src/store/cache_line.rs was edited"), 1);
}

#[test]
fn lines_in_strings_are_the_decoded_lines() {
    let document = session(&["overflow here\nload_table there"], &["I fix load_table."]);
    let exam = exam_at(&document, 3);
    assert_eq!(kept(&exam, "overflow load_table"), 0, "they stood on two lines");
    assert_eq!(kept(&exam, "there: load_table"), 0, "filler is no company");
}

#[test]
fn scores_are_told_by_class() {
    let first = "commit 3fa9c1e changes parse_all in src/main/lexer.rs";
    let exam = exam_at(&session(&[first], &["3fa9c1e parse_all src/main/lexer.rs"]), 3);
    let score = exam.score(["commit 3fa9c1e changes parse_all"].into_iter());
    assert_eq!(score.hashes, Tally { kept: 1, of: 1 });
    assert_eq!(score.identifiers, Tally { kept: 1, of: 1 });
    assert_eq!(score.paths, Tally { kept: 0, of: 1 });
    assert_eq!(exam.lost(["nothing"].into_iter()).len(), 3);
}

#[test]
fn a_cut_leaves_pairs_whole_and_the_document_readable() {
    let document =
        session(&["x".repeat(100).as_str(), "y".repeat(100).as_str(), "z".repeat(300).as_str()], &["a", "b"]);
    let transcript = wire::read(&document, None).unwrap();
    let page = Page::of(&transcript);
    let cut = cut(&transcript, &page, SHARE).unwrap();
    let first = wire::read(&cut.first, None).unwrap();
    assert_eq!(first.messages.len(), cut.message);
    assert_eq!(cut.message, 7, "after the third result");
    let value: Value = serde_json::from_str(&cut.first).unwrap();
    assert!(value["messages"].is_array());
}

#[test]
fn an_output_that_is_most_of_the_text_leaves_two_parts() {
    let large = "z".repeat(3000);
    for (results, expected) in [(["a", "b", "c", "d", &large], 7), ([&large, "b", "c", "d", "e"], 5)] {
        let document = session(&results, &[]);
        let transcript = wire::read(&document, None).unwrap();
        assert_eq!(cut(&transcript, &Page::of(&transcript), SHARE).unwrap().message, expected);
    }
}

#[test]
fn a_session_of_few_messages_is_too_short_to_cut() {
    let document = session(&["x"], &[]);
    let transcript = wire::read(&document, None).unwrap();
    assert_eq!(cut(&transcript, &Page::of(&transcript), SHARE), Err(TooShort { messages: 3 }));
}

#[test]
fn baselines_stay_within_their_budget_and_keep_the_end() {
    let long: Vec<String> = (0..40).map(|n| format!("row {n} has value_{n} in it\n").repeat(20)).collect();
    let results: Vec<&str> = long.iter().map(String::as_str).collect();
    let document = session(&results, &["The end is near."]);
    let transcript = wire::read(&document, None).unwrap();
    let page = Page::of(&transcript);
    let counts = measure(&transcript, &Measure::default());
    for kind in Baseline::ALL {
        let lines = baseline(kind, &transcript, &page, &counts, counts.total() / 5);
        let tokens: u64 = lines.iter().map(|line| u64::from(foldline_core::tokens::estimate(line))).sum();
        assert!(tokens <= counts.total() / 5, "{kind:?}: {tokens}");
        assert!(lines.iter().any(|line| line == "The end is near."), "{kind:?}");
        assert!(lines.iter().any(|line| line.contains("value_39")), "{kind:?}");
    }
    let stubs = baseline(Baseline::Stubs, &transcript, &page, &counts, counts.total() / 5);
    assert!(stubs.iter().any(|line| line.starts_with("[shell_exec] ran `make`")), "{stubs:?}");
}

#[test]
fn a_line_without_end_is_read_in_linear_time() {
    let line = "load_table overflow ".repeat(20_000);
    let fact = Fact { name: "load_table".into(), class: Class::Identifier };
    let exam = Exam::on([fact], [line.as_str()].into_iter());
    assert_eq!(kept(&exam, &line), 1);
}

#[test]
fn who_reads_a_path_has_read_its_folders() {
    let first = "pytest /srv/app/billing/tests fails\nopen /srv/app/billing/tests/test_tax.py assertion";
    let document = session(&[first], &["I run all of /srv/app/billing/tests again."]);
    let exam = exam_at(&document, 3).relative_to(Some("/srv/app"));
    assert_eq!(names(&exam), ["/srv/app/billing/tests"]);
    assert_eq!(kept(&exam, "assertion fails in billing/tests/test_tax.py"), 1);
    assert_eq!(kept(&exam, "assertion fails in tests/test_tax.py"), 0);
    assert_eq!(kept(&exam, "assertion fails in /srv/app/billing/tests/test_tax.py"), 1);
}
