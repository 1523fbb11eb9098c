//! The index of words and what it costs: 10,000 originals of about 20 KB, log-like and unlike each other.
#![allow(missing_docs, clippy::unwrap_used)]

use divan::counter::BytesCount;
use foldline_core::reading::{Reach, Way};
use foldline_store::{Limits, NewOriginal, Query, Search, Store, Whose};
use foldline_transcript::recall::Handle;
use std::sync::LazyLock;
use tempfile::TempDir;

const NOW: i64 = 1_760_000_000_000;
const COUNT: usize = 10_000;
const SIZE: usize = 20_000;

fn main() {
    divan::main();
}

/// Words as they are in work: few are common, most are rare.
fn text(seed: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut text = String::with_capacity(SIZE + 100);
    while text.len() < SIZE {
        let rank = 1 << next(17);
        let word = next(rank);
        text.push_str(&format!("{} the store{} ", ["error in", "reads", "writes", "src/"][next(4) as usize], word));
        if next(8) == 0 {
            text.push('\n');
        }
    }
    text
}

fn store_of(count: usize) -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("originals.db"), Limits::default()).unwrap();
    for start in (0..count).step_by(500) {
        let texts: Vec<String> = (start..(start + 500).min(count)).map(text).collect();
        let batch: Vec<_> =
            texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect();
        store.put(NOW, "", &batch).unwrap();
    }
    (folder, store)
}

static FULL: LazyLock<(TempDir, Store)> = LazyLock::new(|| {
    let (folder, store) = store_of(COUNT);
    while store.index(1 << 30).unwrap() > 0 {}
    (folder, store)
});

fn search(bencher: divan::Bencher<'_, '_>, words: &str) {
    let (_, store) = &*FULL;
    let query = Query::parse(words).unwrap();
    let search = Search { query: &query, whose: Whose::Namespace(""), session: None, limit: 10 };
    bencher.bench_local(|| store.search(&search, &Way::of(Reach::Command)).unwrap());
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn index_1000(bencher: divan::Bencher<'_, '_>) {
    bencher.counter(BytesCount::new(1_000 * SIZE)).with_inputs(|| store_of(1_000)).bench_refs(|(_, store)| {
        assert_eq!(store.index(u64::MAX).unwrap(), 0);
    });
}

/// Lets go of 1,000 originals that are in the index.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn put_1000_in_a_full_store(bencher: divan::Bencher<'_, '_>) {
    let texts: Vec<String> = (COUNT..COUNT + 1_000).map(text).collect();
    let batch: Vec<_> = texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect();
    let full = || {
        let (folder, store) = store_of(1_000);
        store.index(u64::MAX).unwrap();
        let max_bytes = store.stats().unwrap().stored_bytes;
        let store = Store::open(store.place(), Limits { max_bytes, ..Limits::default() }).unwrap();
        (folder, store)
    };
    bencher.counter(BytesCount::new(1_000 * SIZE)).with_inputs(full).bench_refs(|(_, store)| {
        store.put(NOW + 1, "", &batch).unwrap();
    });
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn a_rare_word(bencher: divan::Bencher<'_, '_>) {
    search(bencher, "store65123");
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn a_rare_word_and_a_common_one(bencher: divan::Bencher<'_, '_>) {
    search(bencher, "store61234 error");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn a_word_that_is_everywhere(bencher: divan::Bencher<'_, '_>) {
    search(bencher, "error");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn a_phrase_of_common_words(bencher: divan::Bencher<'_, '_>) {
    search(bencher, "\"error in the\"");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn words_that_are_nowhere(bencher: divan::Bencher<'_, '_>) {
    search(bencher, "nowhere to be found");
}
