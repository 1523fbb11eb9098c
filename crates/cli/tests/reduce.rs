//! `foldline reduce` as hooks call it: shorter with a way back, or exactly what went in.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use serde_json::Value;

fn log() -> String {
    let mut log = String::from("$ make all\n");
    (0..400).for_each(|part| log.push_str(&format!("cc -O2 -c src/part_{part}.c -o build/part_{part}.o\n")));
    log + "src/last.c:17:5: error: unknown type name 'size'\nmake: *** [build/last.o] Error 1\n"
}

#[test]
fn an_output_is_reduced_and_comes_back_by_the_way_that_its_first_line_names() {
    let desk = Desk::new();
    let log = log();
    let done = desk.feed(&["reduce", "--tool", "bash", "--arg", "command=make all"], log.as_bytes());
    assert_eq!((code(&done), errors(&done).as_str()), (0, ""));
    let short = text(&done);
    assert!(short.len() < log.len() / 4 && short.contains("unknown type name"), "{short}");
    let first = short.lines().next().unwrap();
    let handle = first.trim_end_matches(']').rsplit_once("all of it: foldline recall ").unwrap().1;
    let recalled = desk.run(&["recall", handle, "--raw"]);
    assert_eq!(text(&recalled), log);
    // The same output is the same text the next time, and is not reduced twice.
    assert_eq!(
        text(&desk.feed(&["reduce", "--tool", "bash", "--args", r#"{"command":"make all"}"#], log.as_bytes())),
        short
    );
    assert_eq!(text(&desk.feed(&["reduce"], short.as_bytes())), short);
}

#[test]
fn a_marker_names_only_what_the_agent_has() {
    let desk = Desk::new();
    let log = log();
    let first = |args: &[&str]| text(&desk.feed(args, log.as_bytes())).lines().next().unwrap().to_owned();
    let by_tool = first(&["reduce", "--recall", "tool:mcp__foldline__foldline_recall"]);
    assert!(by_tool.contains("all of it: mcp__foldline__foldline_recall handle=fl-"), "{by_tool}");
    assert!(!by_tool.contains("foldline recall"), "{by_tool}");
    let by_nothing = first(&["reduce", "--recall", "none"]);
    assert!(by_nothing.contains("reduced as build, fl-") && !by_nothing.contains("all of it"), "{by_nothing}");
    let unkept = first(&["reduce", "--store", "none"]);
    assert!(!unkept.contains("fl-"), "{unkept}");
    assert_eq!(code(&desk.feed(&["reduce", "--recall", "tool:grep"], b"")), 2);
}

#[test]
fn what_gains_nothing_or_is_small_enough_or_is_no_text_comes_out_as_it_went_in() {
    let desk = Desk::new();
    for input in [&b""[..], b"ok\n", b"\xff\xfe binary \x00 bytes", b"no newline"] {
        let done = desk.feed(&["reduce", "--tool", "bash"], input);
        assert_eq!((code(&done), done.stdout.as_slice()), (0, input));
    }
    let log = log();
    assert_eq!(text(&desk.feed(&["reduce", "--above", "100k"], log.as_bytes())), log);
    assert!(!desk.path("data").exists(), "nothing was removed, so nothing is kept");
    let json: Value = serde_json::from_slice(&desk.feed(&["reduce", "--json"], b"ok\n").stdout).unwrap();
    assert_eq!((json["reduced"].as_bool(), json["text"].as_str()), (Some(false), Some("ok\n")));
    let json: Value = serde_json::from_slice(&desk.feed(&["reduce", "--json"], log.as_bytes()).stdout).unwrap();
    assert_eq!((json["reduced"].as_bool(), json["kind"].as_str()), (Some(true), Some("build")));
    assert!(
        json["handle"].as_str().unwrap().starts_with("fl-")
            && json["tokens_after"].as_u64() < json["tokens_before"].as_u64()
    );
}

#[test]
fn a_store_or_settings_that_fail_lose_no_output() {
    let desk = Desk::new();
    let log = log();
    desk.write("not-a-folder", "");
    for args in [&["reduce", "--store", "not-a-folder/x/originals.db"][..], &["reduce", "--config", "missing.yaml"]] {
        let done = desk.feed(args, log.as_bytes());
        assert_eq!((code(&done), text(&done) == log), (0, true), "{args:?}");
        assert!(errors(&done).starts_with("foldline reduce: the output is left as it is: "), "{}", errors(&done));
    }
}
