//! Every seed of every fuzz target, and random mutations of them, with the ordinary toolchain.
#![allow(clippy::unwrap_used, reason = "tests")]

use foldline_lab::fuzz::{SLOWER, TARGETS};
use foldline_lab::generate::Dice;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The seeds of a target, by name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let corpus: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz", "corpus", target].iter().collect();
    let mut seeds: Vec<_> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn every_seed_holds() {
    let mut failed = Vec::new();
    for (target, body) in TARGETS.into_iter().chain(SLOWER) {
        let seeds = seeds(target);
        assert!(seeds.len() > 10, "{target} has hardly any seeds");
        for (name, bytes) in seeds {
            if std::panic::catch_unwind(|| body(&bytes)).is_err() {
                failed.push(format!("{target}/{name}"));
            }
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

/// The seeds that are JSON, parsed once.
fn documents() -> &'static [Value] {
    static DOCUMENTS: OnceLock<Vec<Value>> = OnceLock::new();
    DOCUMENTS
        .get_or_init(|| seeds("compress").iter().filter_map(|(_, bytes)| serde_json::from_slice(bytes).ok()).collect())
}

/// Damages a document somewhere: removes, repeats, swaps or replaces a value, and keeps it JSON.
fn damage(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Array(elements) if !elements.is_empty() => {
            let at = dice.below(elements.len());
            match dice.below(8) {
                0 => drop(elements.remove(at)),
                1 => {
                    let to = dice.below(elements.len());
                    elements.insert(to, elements[at].clone());
                }
                2 => {
                    let other = dice.below(elements.len());
                    elements.swap(at, other);
                }
                _ => damage(&mut elements[at], dice),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = dice.below(fields.len());
            let key = fields.keys().nth(at).unwrap().clone();
            match dice.below(8) {
                0 => drop(fields.shift_remove(&key)),
                1 => drop(fields.insert(key, odd(dice))),
                _ => damage(&mut fields[&key], dice),
            }
        }
        other => *other = odd(dice),
    }
}

fn odd(dice: &mut Dice) -> Value {
    let odd = [
        json!(null),
        json!(""),
        json!(" \n"),
        json!([]),
        json!({}),
        json!(0),
        json!(true),
        json!("user"),
        json!("assistant"),
        json!("tool"),
        json!("system"),
        json!("text"),
        json!("tool_use"),
        json!("tool_result"),
        json!("thinking"),
        json!("reasoning"),
        json!("function_call"),
        json!("a"),
        json!("日本語 🚚"),
        json!([{"type": "text", "text": "x"}]),
        json!("word ".repeat(600)),
        json!([null]),
        json!("{\"a\":1}"),
        json!(1e300),
    ];
    odd[dice.below(odd.len())].clone()
}

/// Cuts, repeats or overwrites bytes; mostly no JSON any more.
fn scramble(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        return;
    }
    let at = dice.below(bytes.len());
    let length = dice.below(24).min(bytes.len() - at);
    match dice.below(4) {
        0 => drop(bytes.drain(at..at + length)),
        1 => {
            let piece = bytes[at..at + length].to_vec();
            let to = dice.below(bytes.len());
            bytes.splice(to..to, piece);
        }
        2 => bytes[at] = *b"\"\\{}[],:0-e. \n\x00\xff".get(dice.below(16)).unwrap(),
        _ => bytes.truncate(at),
    }
}

/// Feeds all targets; a failure shows the input, which a seed of proptest does not.
fn hold(bytes: &[u8]) -> Result<(), TestCaseError> {
    for (target, body) in TARGETS {
        let held = std::panic::catch_unwind(|| body(bytes));
        prop_assert!(held.is_ok(), "{target} fails on: {}", String::from_utf8_lossy(bytes));
    }
    Ok(())
}

#[test]
fn scrambled_seeds_of_slower_targets_hold() {
    /// Each takes some milliseconds.
    const ROUNDS: u64 = 150;
    for (target, body) in SLOWER {
        let seeds = seeds(target);
        for round in 0..ROUNDS {
            let mut dice = Dice::new(round);
            let mut bytes = seeds[dice.below(seeds.len())].1.clone();
            (0..=dice.below(3)).for_each(|_| scramble(&mut bytes, &mut dice));
            let held = std::panic::catch_unwind(|| body(&bytes));
            assert!(held.is_ok(), "{target} fails on: {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// Cases are cheap; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(2_000), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn damaged_documents_hold(document in 0..1_000usize, damages in 1..6usize, seed: u64) {
        let documents = documents();
        let mut value = documents[document % documents.len()].clone();
        let mut dice = Dice::new(seed);
        (0..damages).for_each(|_| damage(&mut value, &mut dice));
        hold(value.to_string().as_bytes())?;
    }

    #[test]
    fn scrambled_bytes_hold(document in 0..1_000usize, damages in 1..4usize, seed: u64) {
        let documents = documents();
        let mut bytes = documents[document % documents.len()].to_string().into_bytes();
        let mut dice = Dice::new(seed);
        (0..damages).for_each(|_| scramble(&mut bytes, &mut dice));
        hold(&bytes)?;
    }
}
