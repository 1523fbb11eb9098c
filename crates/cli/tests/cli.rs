//! The command as users meet it: what goes in, what comes out, which exit code says so.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

fn example(name: &str) -> PathBuf {
    Path::new(EXAMPLES).join(name)
}

#[test]
fn a_session_is_compacted_and_its_originals_can_be_recalled() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--report", "report.json", "-o", "out.json"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(desk.path("report.json")).unwrap()).unwrap();
    assert!(report["tokens"]["after"].as_u64() < report["tokens"]["before"].as_u64());
    let valid = desk.run(&["validate", "out.json"]);
    assert_eq!(code(&valid), 0, "{}", text(&valid));
    let handles: Vec<&str> =
        report["edits"].as_array().unwrap().iter().filter_map(|edit| edit["handle"].as_str()).collect();
    assert!(!handles.is_empty());
    for handle in handles {
        let recalled = desk.run(&["recall", handle, "--raw"]);
        assert_eq!(code(&recalled), 0, "{handle}: {}", errors(&recalled));
        assert_eq!(foldline_transcript::recall::Handle::of(&text(&recalled)).to_string(), handle);
    }
}

#[test]
fn a_fold_is_read_page_by_page_and_found_by_its_words() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--force", "--report", "report.json", "-o", "out.json"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(desk.path("report.json")).unwrap()).unwrap();
    let fold = report["edits"].as_array().unwrap().iter().find(|edit| edit["kind"] == "fold");
    let handle = fold.and_then(|fold| fold["handle"].as_str()).expect("a fold with a handle").to_owned();

    // The command at the end of each page leads to the next.
    let mut command: Vec<String> = ["recall", &handle].map(str::to_owned).to_vec();
    let mut pages = 0;
    loop {
        let page = desk.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(code(&page), 0, "{}", errors(&page));
        let page = text(&page);
        pages += 1;
        assert!(page.chars().count() <= 16_000 && !page.contains("\"signature\""), "{page}");
        match page.trim_end().rsplit_once("next: foldline ") {
            Some((_, next)) => command = next.trim_end_matches(']').split(' ').map(str::to_owned).collect(),
            None => break,
        }
    }
    assert!(pages > 1, "{pages}");
    let raw = text(&desk.run(&["recall", &handle, "--raw"]));
    assert!(raw.starts_with("{\"role\""), "{}", &raw[..80]);

    // What a search finds can be read with the command beside it.
    let found = desk.run(&["search", "tests"]);
    assert_eq!(code(&found), 0, "{}", errors(&found));
    let found = text(&found);
    let show = found.lines().find_map(|line| line.strip_prefix("  → foldline ")).expect("a way to read it");
    let words = found.lines().nth(1).unwrap().trim().trim_matches(['…', ' ']).to_owned();
    let shown = desk.run(&show.split(' ').collect::<Vec<_>>());
    assert_eq!(code(&shown), 0, "{}", errors(&shown));
    assert!(text(&shown).contains(&words), "{words}\n{}", text(&shown));
    let nothing = desk.run(&["search", "xyzzyplugh"]);
    assert_eq!(code(&nothing), 1);
    assert!(errors(&nothing).contains("matches `xyzzyplugh`; try fewer or other words"), "{}", errors(&nothing));
}

#[test]
fn recall_says_what_is_wrong_with_the_question() {
    let desk = Desk::new();
    for (args, words) in [
        (vec!["recall", "fl-0123456789ab", "--lines", "9:3"], "did you mean 3:9?"),
        (vec!["recall", "fl-0123456789ab", "--turn", "0"], "counting starts at 1"),
        (vec!["recall", "fl-0123456789ab", "--raw", "--turn", "1"], "cannot be used with"),
        (vec!["recall", "fl-0123456789ab"], "file not found"),
        (vec!["search", "word"], "file not found"),
        (vec!["search", "word", "--limit", "0"], "not in 1..=100"),
        (vec!["search"], "WORDS"),
    ] {
        let done = desk.run(&args);
        assert_eq!(code(&done), 2, "{args:?}");
        assert!(errors(&done).contains(words), "{args:?}: {}", errors(&done));
    }
}

#[test]
fn standard_input_becomes_standard_output_in_every_format() {
    let desk = Desk::new();
    for name in [
        "two-hour-session.anthropic.json",
        "two-hour-session.openai-chat.json",
        "two-hour-session.openai-responses.json",
        "claude-code-session.jsonl",
        "trajectory.sharegpt.json",
    ] {
        let input = std::fs::read(example(name)).unwrap();
        let done = desk.feed(&["compress", "--target-tokens", "9000", "--quiet"], &input);
        assert_eq!(code(&done), 0, "{name}: {}", errors(&done));
        assert!(errors(&done).is_empty(), "{name}: quiet means quiet");
        let valid = desk.feed(&["validate"], &done.stdout);
        assert_eq!(code(&valid), 0, "{name}: {}", text(&valid));
    }
}

#[test]
fn a_plan_is_printed_and_nothing_is_written() {
    let desk = Desk::new();
    let input = example("two-hour-session.openai-chat.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--dry-run", "--force", "-o", "out.json"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    assert!(text(&done).contains("## Active Task"));
    assert!(text(&done).contains("fl-"), "the handles that a run would give");
    assert!(!desk.path("out.json").exists());
    assert!(!desk.path("data").join("foldline").join("originals.db").exists());
}

#[test]
fn a_plan_counts_as_the_session_has_learnt_to() {
    let desk = Desk::new();
    desk.write("state.json", r#"{"calibration":2.0}"#);
    let input = example("two-hour-session.openai-chat.json");
    let tokens = |args: &[&str]| -> u64 {
        let plan =
            desk.run(&[&["compress", input.to_str().unwrap(), "--dry-run", "--window", "1000000"], args].concat());
        let rows: Vec<String> = text(&plan).lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect();
        rows.iter().filter_map(|row| row.split_whitespace().nth(3)?.parse::<u64>().ok()).sum()
    };
    let (blank, learnt) = (tokens(&[]), tokens(&["--state", "state.json"]));
    assert!(learnt * 10 > blank * 19 && learnt * 10 < blank * 21, "{blank} and {learnt}");
}

#[test]
fn an_inspection_predicts_what_a_plan_does() {
    let desk = Desk::new();
    for name in ["two-hour-session.anthropic.json", "damaged.anthropic.json"] {
        let input = example(name);
        let input = input.to_str().unwrap();
        let found = desk.run(&["inspect", input, "--json", "--window", "20000"]);
        let found: serde_json::Value = serde_json::from_str(&text(&found)).unwrap();
        let plan = text(&desk.run(&["compress", input, "--dry-run", "--window", "20000"]));
        let tokens = plan.lines().find_map(|line| line.strip_prefix("tokens")).unwrap().trim().to_owned();
        let would = found["would"].as_str().unwrap().replace(',', "");
        assert!(
            would.contains(&tokens) || tokens.starts_with(&format!("{} → {}", found["tokens"], found["tokens"])),
            "{name}: {would} / {tokens}"
        );
    }
}

#[test]
fn damage_is_shown_where_it_is_and_repairs_are_told() {
    let desk = Desk::new();
    let input = example("damaged.anthropic.json");
    let input = input.to_str().unwrap();
    let plan = desk.run(&["compress", input, "--dry-run", "--force", "--window", "2000"]);
    let rows = text(&plan).lines().take_while(|line| !line.is_empty()).count();
    let given: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(input).unwrap()).unwrap();
    assert_eq!(rows, given["messages"].as_array().unwrap().len(), "a row for each message that came in");
    assert!(text(&plan).contains("repair  message 6: dropped tool results without matching calls"), "{}", text(&plan));
    let done = desk.run(&["compress", input, "--force", "--window", "2000", "-o", "out.json"]);
    assert!(errors(&done).contains("violated the provider's rules: 8 repairs"), "{}", errors(&done));
    assert_eq!(code(&desk.run(&["validate", "out.json"])), 0);
}

#[test]
fn input_that_is_no_transcript_is_refused_with_its_place() {
    let desk = Desk::new();
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{}}}]}}", "[".repeat(5_000));
    let cases: [(&str, &[u8], &str); 10] = [
        ("an empty file", b"", "empty"),
        ("white space", b" \n ", "empty"),
        ("a truncated body", br#"{"messages":[{"role":"user","content":"hel"#, "line 1, column"),
        ("prose", b"hello there", "expected a JSON value"),
        ("a number", b"42", "expected an object or array, found a number"),
        ("a foreign object", br#"{"name":"x"}"#, "messages"),
        ("messages that are no list", br#"{"messages":{"role":"user"}}"#, "messages"),
        ("a message without a role", br#"{"messages":[{"role":"user","content":"a"},{"content":"x"}]}"#, "messages[1]"),
        ("deep nesting", deep.as_bytes(), "column"),
        ("deep nesting inside a message", nested.as_bytes(), "nested deeper"),
    ];
    for (what, input, expected) in cases {
        for verb in ["compress", "inspect", "validate"] {
            let done = desk.feed(&[verb], input);
            assert_eq!(code(&done), 2, "{what}, {verb}: {}", errors(&done));
            assert!(errors(&done).starts_with("error: "), "{what}: {}", errors(&done));
            assert!(errors(&done).contains(expected), "{what}: {} should say {expected}", errors(&done));
            assert!(done.stdout.is_empty(), "{what}: nothing but the result goes to standard output");
        }
    }
}

#[test]
fn a_format_that_the_content_contradicts_is_refused() {
    let desk = Desk::new();
    let examples = [
        ("small.anthropic.json", "anthropic"),
        ("small.openai-chat.json", "openai-chat"),
        ("small.openai-responses.json", "openai-responses"),
        ("trajectory.sharegpt.json", "sharegpt"),
        ("claude-code-session.jsonl", "claude-code"),
    ];
    for (file, format) in examples {
        let file = example(file);
        for said in ["openai-chat", "openai-responses", "anthropic", "claude-code", "sharegpt", "gemini"] {
            for verb in ["compress", "inspect", "validate"] {
                let done = desk.run(&[verb, file.to_str().unwrap(), "--format", said]);
                match said == format {
                    true => assert_eq!(code(&done), 0, "{}", errors(&done)),
                    false => {
                        assert_eq!(code(&done), 2, "{verb} {format} as {said}");
                        assert!(
                            errors(&done).contains(&format!("the content is in {format} format, not {said}")),
                            "{done:?}"
                        );
                        assert!(done.stdout.is_empty());
                    }
                }
            }
        }
    }
    let said = r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#;
    for format in ["openai-chat", "anthropic"] {
        let done = desk.feed(&["compress", "--format", format], said.as_bytes());
        assert_eq!((code(&done), text(&done)), (0, said.to_owned()), "plain texts may be either");
    }
}

#[test]
fn a_conversation_without_a_message_stays_as_it_is() {
    let desk = Desk::new();
    for empty in ["[]", r#"{"messages":[]}"#, r#"{"model":"gpt-5","input":[]}"#, r#"{"contents":[]}"#] {
        for more in [&[][..], &["--force"]] {
            let done = desk.feed(&[&["compress"], more].concat(), empty.as_bytes());
            assert_eq!((code(&done), text(&done)), (0, empty.to_owned()), "{}", errors(&done));
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_any_work() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    std::fs::create_dir(desk.path("folder")).unwrap();
    for flag in ["--report", "--output", "--state"] {
        for place in ["nowhere/file.json", "folder"] {
            let done = desk.run(&["compress", input.to_str().unwrap(), flag, place]);
            assert_eq!(code(&done), 2, "{flag} {place}");
            assert!(errors(&done).contains(&format!("cannot write {place}")), "{}", errors(&done));
            assert!(done.stdout.is_empty() && !desk.path("data").exists(), "{flag}: nothing was done");
        }
    }
    let done = desk.run(&["compress", input.to_str().unwrap(), "--report", "report.json", "-o", "out.json"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let left: Vec<_> = std::fs::read_dir(desk.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");
}

#[test]
fn numbers_of_tokens_may_be_short() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    let short = desk.run(&["compress", input.to_str().unwrap(), "--target-tokens", "40k"]);
    let long = desk.run(&["compress", input.to_str().unwrap(), "--target-tokens", "40000"]);
    assert_eq!(code(&short), 0, "{}", errors(&short));
    assert_eq!(text(&short), text(&long));
    let wrong = desk.run(&["compress", input.to_str().unwrap(), "--target-tokens", "many"]);
    assert_eq!(code(&wrong), 2);
    assert!(errors(&wrong).contains("a number of tokens"), "{}", errors(&wrong));
}

#[test]
fn binary_data_is_refused_with_the_first_byte_that_is_no_text() {
    let desk = Desk::new();
    let done = desk.feed(&["compress"], b"{\"messages\":\xff\xfe\x00");
    assert_eq!(code(&done), 2);
    assert!(errors(&done).contains("invalid UTF-8 at byte 12"), "{}", errors(&done));
}

#[test]
fn a_missing_file_is_named() {
    let done = Desk::new().run(&["inspect", "nowhere.json"]);
    assert_eq!(code(&done), 2);
    assert!(errors(&done).contains("nowhere.json"), "{}", errors(&done));
}

#[test]
fn a_target_that_cannot_be_met_is_told_with_numbers() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--target-tokens", "500"]);
    assert_eq!(code(&done), 3, "{}", errors(&done));
    assert!(errors(&done).contains("500 tokens"), "{}", errors(&done));
    assert!(done.stdout.is_empty());
}

#[test]
fn settings_that_are_wrong_are_named_with_their_range() {
    let desk = Desk::new();
    let input = example("small.anthropic.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--set", "threshold=1.4"]);
    assert_eq!(code(&done), 2);
    let said = errors(&done);
    assert!(said.contains("compression.threshold") && said.contains("1.4") && said.contains("0.95"), "{said}");
    std::fs::write(desk.path("foldline.yaml"), "compression:\n  treshold: 0.5\n").unwrap();
    let done = desk.run(&["config", "check", "foldline.yaml"]);
    assert_eq!(code(&done), 1);
    assert!(text(&done).contains("threshold"), "a likely name is suggested: {}", text(&done));
}

#[test]
fn the_state_of_a_session_survives_between_calls() {
    let desk = Desk::new();
    let input = example("two-hour-session.openai-chat.json");
    let args = ["compress", input.to_str().unwrap(), "--window", "64000", "--state", "state.json", "-o", "out.json"];
    assert_eq!(code(&desk.run(&args)), 0);
    let state = std::fs::read_to_string(desk.path("state.json")).unwrap();
    assert!(state.contains("\"awaiting_usage\": true"), "{state}");
    let again = desk.run(&["compress", "out.json", "--window", "64000", "--state", "state.json", "-o", "again.json"]);
    assert_eq!(code(&again), 0);
    assert_eq!(std::fs::read(desk.path("out.json")).unwrap(), std::fs::read(desk.path("again.json")).unwrap());
}

#[test]
fn without_a_store_no_handle_is_shown() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--store", "none", "--quiet"]);
    assert_eq!(code(&done), 0);
    assert!(!text(&done).contains("fl-"), "a handle that leads nowhere");
    assert!(!desk.path("data").exists());
}

#[test]
fn a_store_that_cannot_be_had_costs_the_handles_and_not_the_work() {
    let desk = Desk::new();
    std::fs::write(desk.path("broken.db"), "this is no database, whatever its name says").unwrap();
    let input = example("two-hour-session.anthropic.json");
    let done = desk.run(&["compress", input.to_str().unwrap(), "--store", "broken.db"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    assert!(errors(&done).contains("originals are not stored"), "{}", errors(&done));
    assert!(!text(&done).contains("fl-"));
}

#[test]
fn inspect_shows_where_the_tokens_are() {
    let desk = Desk::new();
    let input = example("two-hour-session.anthropic.json");
    let shown = desk.run(&["inspect", input.to_str().unwrap()]);
    for word in ["Tokens by source", "tool results", "Largest outputs", "Zones", "shell_exec", "%"] {
        assert!(text(&shown).contains(word), "{word} is missing:\n{}", text(&shown));
    }
    let json = desk.run(&["inspect", input.to_str().unwrap(), "--json"]);
    let found: serde_json::Value = serde_json::from_str(&text(&json)).unwrap();
    let shares: f64 =
        found["by_source"].as_array().unwrap().iter().map(|share| share["percent"].as_f64().unwrap()).sum();
    assert!((shares - 100.0).abs() < 0.5, "the sources add up to the whole: {shares}");
}
