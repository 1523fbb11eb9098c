//! What encryption costs a fold of usual size: some outputs, a handoff, a session. On a disk in memory where there is one, so that
//! the disk has no part in it.
#![allow(missing_docs, clippy::unwrap_used)]

use foldline_store::{Key, Keyring, NewCheckpoint, NewFold, NewOriginal, Opening, Precedence, SessionRow, Store};
use foldline_transcript::recall::Handle;
use std::path::Path;
use tempfile::TempDir;

const NOW: i64 = 1_760_000_000_000;
const ORIGINALS: u64 = 12;

fn main() {
    divan::main();
}

/// Text that does not shrink.
fn noise(seed: u64, size: usize) -> String {
    let mut state = seed + 1;
    let mut digit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + (state >> 33) as u8 % 90)
    };
    (0..size).map(|_| digit()).collect()
}

fn store(keys: Keyring) -> (TempDir, Store) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let store = Store::open(&folder.path().join("o.db"), Opening { keys, ..Opening::default() }).unwrap();
    (folder, store)
}

#[divan::bench(args = ["without a key", "with a key"], sample_count = 200, sample_size = 1)]
fn keep_a_fold(bencher: divan::Bencher<'_, '_>, key: &str) {
    let keys = match key {
        "with a key" => Keyring::parse(&Keyring::generate().unwrap()).unwrap(),
        _ => Keyring::none(),
    };
    let (_folder, store) = store(keys);
    let texts: Vec<String> = (0..ORIGINALS).map(|seed| noise(seed, 30_000)).collect();
    let originals: Vec<_> =
        texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect();
    let handoff = noise(ORIGINALS, 40_000);
    let mut number = 0_u64;
    bencher
        .with_inputs(|| {
            number += 1;
            number
        })
        .bench_local_values(|number| {
            let mut key = [0; 32];
            key.iter_mut().zip(number.to_le_bytes()).for_each(|(to, from)| *to = from);
            let namespace = format!("n{number}");
            let session =
                SessionRow { id: "s".to_owned(), namespace: namespace.clone(), last_at: NOW, record: "{}".to_owned() };
            let checkpoint =
                NewCheckpoint { key: Key(key), root: Key([7; 32]), position: 1, record: "{}", text: &handoff };
            let precedence = Precedence::First;
            let fold =
                NewFold { namespace: &namespace, originals: &originals, checkpoint, precedence, session: &session };
            store.keep_fold(NOW, &fold).unwrap();
        });
}
