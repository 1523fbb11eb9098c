//! Client keys as operators meet them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use serde_json::Value;

fn json(desk: &Desk, args: &[&str]) -> Value {
    let done = desk.run(args);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    serde_json::from_str(&text(&done)).unwrap()
}

#[test]
fn a_key_is_shown_once_and_is_nowhere_in_the_store() {
    let desk = Desk::new();
    let added = desk.run(&["keys", "add", "alice", "--expires", "30d", "--tokens-per-day", "1M"]);
    assert_eq!(code(&added), 0, "{}", errors(&added));
    let key = text(&added).trim().to_owned();
    assert!(key.starts_with("foldline-") && key.len() == 52, "the key and nothing else: {key}");
    assert!(errors(&added).contains("only time") && !errors(&added).contains(&key), "{}", errors(&added));
    let other = json(&desk, &["keys", "add", "bob", "--scope", "operator", "--json"]);
    assert_eq!(other["name"], "bob");
    assert_ne!(other["key"].as_str().unwrap(), key);

    let list = text(&desk.run(&["keys", "list"]));
    assert!(list.contains("alice") && list.contains("generate,recall") && list.contains("0 of 1000000"), "{list}");
    let list = json(&desk, &["keys", "list", "--json"]);
    let keys = list["keys"].as_array().unwrap();
    let alice = keys.iter().find(|key| key["name"] == "alice").unwrap();
    assert_eq!((&alice["status"], &alice["tokens_per_day"]), (&"active".into(), &1_000_000.into()));
    assert!(alice["expires_at"].as_str().is_some() && alice["last_used_at"].is_null());
    for entry in std::fs::read_dir(desk.path("data/foldline")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&key["foldline-".len()..]));
    }
}

#[test]
fn a_key_is_revoked_by_name_and_the_log_says_so() {
    let desk = Desk::new();
    assert_eq!(code(&desk.run(&["keys", "add", "ci"])), 0);
    let twice = desk.run(&["keys", "add", "ci"]);
    assert_eq!(code(&twice), 2);
    assert!(errors(&twice).contains("a key with this name exists"), "{}", errors(&twice));
    let revoked = desk.run(&["keys", "revoke", "ci"]);
    assert_eq!(code(&revoked), 0, "{}", errors(&revoked));
    let again = desk.run(&["keys", "revoke", "ci"]);
    assert_eq!(code(&again), 1);
    assert!(errors(&again).contains("foldline keys list"), "{}", errors(&again));
    assert!(text(&desk.run(&["keys", "list"])).contains("revoked"));
    let audit = json(&desk, &["keys", "audit", "--json"]);
    let events: Vec<_> = audit["events"].as_array().unwrap().iter().map(|event| event["event"].clone()).collect();
    assert_eq!(events, ["revoked", "added"]);
    assert!(text(&desk.run(&["keys", "audit"])).contains("  ci  revoked\n"));
}

#[test]
fn mistakes_are_told() {
    let desk = Desk::new();
    for (args, words) in [
        (&["keys", "add", "a b"][..], "letters, digits"),
        (&["keys", "add", "a", "--expires", "yesterday"], "30d"),
        (&["keys", "add", "a", "--scope", "all"], "generate, recall or operator"),
        (&["keys", "add", "a", "--upstream", "openai=value"], "environment variable"),
        (&["keys", "add", "a", "--dollars-per-day", "0"], "above 0"),
    ] {
        let done = desk.run(args);
        assert_eq!(code(&done), 2, "{args:?}");
        assert!(errors(&done).contains(words), "{args:?}: {}", errors(&done));
    }
    let help = text(&desk.run(&["keys", "--help"]));
    assert!(help.contains("foldline keys add alice --expires 30d"), "{help}");
}
