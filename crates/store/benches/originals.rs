//! Storing and recalling originals of 20 KB, on the disk of the temporary folder.
#![allow(missing_docs, clippy::unwrap_used)]

use divan::counter::BytesCount;
use foldline_store::{Limits, NewOriginal, Store};
use foldline_transcript::recall::Handle;
use tempfile::TempDir;

const NOW: i64 = 1_760_000_000_000;
const COUNT: usize = 1_000;
const SIZE: usize = 20_000;

fn main() {
    divan::main();
}

/// Log-like text: shrinks about as much as tool output does.
fn text(seed: usize, size: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut text = String::with_capacity(size + 100);
    while text.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = state >> 40;
        text.push_str(&format!(
            "2026-11-15T12:{:02}:{:02} INFO worker-{} request {number:x} took {} ms, status 200\n",
            number % 60,
            number / 60 % 60,
            number % 8,
            number % 977
        ));
    }
    text.truncate(size);
    text
}

fn texts() -> Vec<String> {
    (0..COUNT).map(|seed| text(seed, SIZE)).collect()
}

fn batch(texts: &[String]) -> Vec<NewOriginal<'_>> {
    texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect()
}

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("originals.db"), Limits::default()).unwrap();
    (folder, store)
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn put_1000_in_one_transaction(bencher: divan::Bencher<'_, '_>) {
    let texts = texts();
    let batch = batch(&texts);
    bencher.counter(BytesCount::new(COUNT * SIZE)).with_inputs(store).bench_refs(|(_, store)| {
        store.put(NOW, "", &batch).unwrap();
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn put_1000_one_by_one(bencher: divan::Bencher<'_, '_>) {
    let texts = texts();
    let batch = batch(&texts);
    bencher.counter(BytesCount::new(COUNT * SIZE)).with_inputs(store).bench_refs(|(_, store)| {
        for original in &batch {
            store.put(NOW, "", std::slice::from_ref(original)).unwrap();
        }
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn put_1000_known(bencher: divan::Bencher<'_, '_>) {
    let texts = texts();
    let batch = batch(&texts);
    let (_folder, store) = store();
    store.put(NOW, "", &batch).unwrap();
    bencher.counter(BytesCount::new(COUNT * SIZE)).bench_local(|| store.put(NOW, "", &batch).unwrap());
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn put_1000_in_a_full_store(bencher: divan::Bencher<'_, '_>) {
    let texts = texts();
    let others: Vec<_> = (COUNT..2 * COUNT).map(|seed| text(seed, SIZE)).collect();
    let (batch, others) = (batch(&texts), batch(&others));
    let full = || {
        let (folder, store) = store();
        store.put(NOW, "", &others).unwrap();
        let max_bytes = store.stats().unwrap().stored_bytes;
        let limits = Limits { max_bytes, ..Limits::default() };
        let store = Store::open(store.place(), limits).unwrap();
        (folder, store)
    };
    bencher.counter(BytesCount::new(COUNT * SIZE)).with_inputs(full).bench_refs(|(_, store)| {
        store.put(NOW + 1, "", &batch).unwrap();
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn get_1000(bencher: divan::Bencher<'_, '_>) {
    let texts = texts();
    let batch = batch(&texts);
    let (_folder, store) = store();
    store.put(NOW, "", &batch).unwrap();
    bencher.counter(BytesCount::new(COUNT * SIZE)).bench_local(|| {
        for original in &batch {
            divan::black_box(store.get(NOW, "", original.handle).unwrap());
        }
    });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn put_one_of_100_mb(bencher: divan::Bencher<'_, '_>) {
    let texts = [text(0, 100_000_000)];
    let batch = batch(&texts);
    bencher.counter(BytesCount::new(100_000_000_usize)).with_inputs(store).bench_refs(|(_, store)| {
        store.put(NOW, "", &batch).unwrap();
    });
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn get_one_of_100_mb(bencher: divan::Bencher<'_, '_>) {
    let texts = [text(0, 100_000_000)];
    let batch = batch(&texts);
    let (_folder, store) = store();
    store.put(NOW, "", &batch).unwrap();
    bencher.counter(BytesCount::new(100_000_000_usize)).bench_local(|| {
        store.get(NOW, "", Handle::of(&texts[0])).unwrap();
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn open_existing(bencher: divan::Bencher<'_, '_>) {
    let (_folder, store) = store();
    bencher.bench_local(|| drop(Store::open_existing(store.place(), Limits::default()).unwrap()));
}
