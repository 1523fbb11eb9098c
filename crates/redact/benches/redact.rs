//! How fast secrets are found, and why some of it is written by hand.
//!
//! - `keywords`: all keywords in one automaton, walked as libraries do. The gate reads several stretches side by side; the
//!   whole search, gate included, takes half as long as this walk alone.
//! - `one_pattern_per_name`: what names and values would cost as one pattern with groups at each of five keywords, the way
//!   of most scanners, before anything is judged. On `password=` and on URLs it falls below 50 MB/s.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench is no part of the library")]

use aho_corasick::AhoCorasick;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use foldline_redact::{Mode, RULES, Stream, find, redact};
use regex::bytes::Regex;

fn main() {
    divan::main();
}

const SIZE: usize = 1 << 20;
const HOSTILE: [&str; 6] = [
    "password=",
    "curl -u a:",
    "\"token\": \"abc\", ",
    "the password is ",
    "https://a:b@c ",
    "{\\\"password\\\":\\\\\\\"",
];

/// Settings, prose and code in turns, with a secret now and then.
fn mixed() -> String {
    let parts = [
        "2024-05-01T12:00:00Z INFO request id=8f2c took 12 ms path=/v1/items?limit=20 status=200\n",
        "server:\n  host: db.internal\n  port: 5432\n  replicas: 3\n  labels: [a, b]\n",
        "fn parse(input: &str) -> Result<Vec<Token>, Error> {\n    let mut tokens = Vec::new();\n    tokens.push(next(input)?);\n    Ok(tokens)\n}\n",
        "The gate finds keywords; only where one stands is a pattern tried, so most of a text costs next to nothing.\n",
        "{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"it works\\\\nand goes on\\\"}\n",
        "export DB_PASSWORD=hunter2hunter2\n",
    ];
    parts
        .iter()
        .copied()
        .cycle()
        .scan(0, |total, part| {
            *total += part.len();
            (*total < SIZE).then_some(part)
        })
        .collect()
}

fn hostile(unit: &str) -> String {
    unit.repeat(SIZE / unit.len())
}

#[divan::bench]
fn mixed_text(bencher: Bencher) {
    let text = mixed();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| redact(black_box(&text), Mode::Text).len());
}

#[divan::bench]
fn mixed_stream(bencher: Bencher) {
    let text = mixed();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let mut stream = Stream::new(Mode::Text);
        let released: usize = text.as_bytes().chunks(1 << 16).map(|piece| stream.feed(piece).len()).sum();
        released + stream.finish().len()
    });
}

#[divan::bench(args = HOSTILE)]
fn hostile_text(bencher: Bencher, unit: &str) {
    let text = hostile(unit);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| redact(black_box(&text), Mode::Text).len());
}

#[divan::bench]
fn keywords(bencher: Bencher) {
    let text = mixed();
    let words: Vec<&str> = RULES.iter().flat_map(|rule| rule.keywords.iter().copied()).collect();
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words).unwrap();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| automaton.find_overlapping_iter(black_box(&text)).count());
}

#[divan::bench]
fn keywords_and_all_rules(bencher: Bencher) {
    let text = mixed();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| find(black_box(&text), Mode::Text).len());
}

#[divan::bench(args = HOSTILE)]
fn one_pattern_per_name(bencher: Bencher, unit: &str) {
    let text = hostile(unit);
    let names = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(["password", "token", "secret", "-u", "://"])
        .unwrap();
    let pattern =
        Regex::new(r#"(?i-u)\A[\w.-]{0,50}["']?\s{0,5}(?:=|:|is)\s{0,5}["']?([^\s"']{4,150})(?:["'\s;]|\z)"#).unwrap();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let window = |start: usize| &text.as_bytes()[start..text.len().min(start + 256)];
        names.find_iter(&text).filter(|name| pattern.captures(window(name.start())).is_some()).count()
    });
}
