//! Encryption at rest: what a copy of the files tells, which keys open them, and changing keys while others work.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use foldline_core::reading::{Reach, Way};
use foldline_store::{
    EventRow, Fault, Key, Keyring, NewCheckpoint, NewFold, Opening, Precedence, Query, Recall, Search, SessionRow,
    Store, StoreError, Whose,
};
use foldline_transcript::recall::Handle;
use std::path::Path;
use support::{DAY, NOW, bytes_of, found, holds, new, noise};

const NAMESPACE: &str = "client";
/// Content, none of which may be found in the files. Long enough that no bytes agree by chance.
const PLANTED: &str = "planted-content";
const WORD: &str = "quizzaciously";
const TOOL: &str = "planted_tool_name";
const LABEL: &str = "planted label of a session";
const HANDOFF: &str = "planted text of a handoff";

fn key() -> String {
    Keyring::generate().unwrap()
}

fn open(path: &Path, keys: &str) -> Result<Store, StoreError> {
    let keys = if keys.is_empty() { Keyring::none() } else { Keyring::parse(keys).unwrap() };
    Store::open(path, Opening { keys, ..Opening::default() })
}

/// A text that does not shrink, so that its bytes would be seen if they were there.
fn text(number: u64) -> String {
    format!("{PLANTED} {number} {WORD} {}", noise(number, 3_000))
}

fn session(id: &str) -> SessionRow {
    let record = format!("{{\"label\":\"{LABEL} {id}\"}}");
    SessionRow { id: id.to_owned(), namespace: NAMESPACE.to_owned(), last_at: NOW, record }
}

fn root() -> Key {
    Key(*blake3_of("root"))
}

fn blake3_of(text: &str) -> Box<[u8; 32]> {
    // The digest of a text is what its handle begins with; any 32 bytes that are not alike will do.
    let digits = Handle::of(text).to_string();
    let mut bytes = [7; 32];
    bytes.iter_mut().zip(digits.bytes()).for_each(|(byte, digit)| *byte = digit);
    Box::new(bytes)
}

fn fill(store: &Store, number: u64) {
    let text = text(number);
    let key = Key(*blake3_of(&format!("key {number}")));
    let handoff = format!("{HANDOFF} {}", noise(number + 1_000, 2_000));
    let record = "{\"planted_facts\":1}";
    let checkpoint = NewCheckpoint { key, root: root(), position: number, record, text: &handoff };
    let session = session(&format!("fs-{number:016x}"));
    let originals = [new(&text, TOOL)];
    let precedence = Precedence::First;
    let fold = NewFold { namespace: NAMESPACE, originals: &originals, checkpoint, precedence, session: &session };
    store.keep_fold(NOW, &fold).unwrap();
    let event = EventRow { session: session.id.clone(), at: NOW, record: "{\"planted_event\":1}".to_owned() };
    store.write_sessions(NOW, &[], &[event]).unwrap();
}

/// Everything that was put there, as it comes back.
fn check(store: &Store, number: u64) {
    let text = text(number);
    let original = found(store.get(NOW, NAMESPACE, Handle::of(&text)).unwrap());
    assert!(original.text == text && original.tool == TOOL);
    let key = Key(*blake3_of(&format!("key {number}")));
    assert!(store.checkpoint_text(NOW, NAMESPACE, &key).unwrap().unwrap().starts_with(HANDOFF));
    assert!(store.checkpoints(NAMESPACE, &root(), 100).unwrap().iter().any(|entry| entry.key == key));
    let id = format!("fs-{number:016x}");
    assert_eq!(store.session(&id).unwrap(), Some(session(&id)));
    assert_eq!(store.events(&id, 10).unwrap().len(), 1);
    let query = Query::parse(&format!("{WORD} {number}")).unwrap();
    let search = Search { query: &query, whose: Whose::Namespace(NAMESPACE), session: Some(&id), limit: 10 };
    let findings = store.search(&search, &Way::of(Reach::Command)).unwrap();
    assert_eq!(findings.hits.len(), 1, "{findings:?}");
    assert_eq!(findings.hits[0].sessions, [id]);
}

/// What must not be found in the files.
fn planted(number: u64) -> Vec<Vec<u8>> {
    let text = text(number);
    let mut planted: Vec<Vec<u8>> = [PLANTED, WORD, TOOL, LABEL, HANDOFF, "planted", "quizzac", "aciously"]
        .into_iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    // The noise of the text in pieces, as packing may cut it; the digest that its handle begins; names of sessions.
    planted.extend(text.as_bytes().chunks(24).map(<[u8]>::to_vec));
    planted.push(Handle::of(&text).to_string().into_bytes());
    let digits = Handle::of(&text).to_string().replace("fl-", "");
    planted.push((0..12).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect());
    planted.push(format!("fs-{number:016x}").into_bytes());
    planted.push(root().0.to_vec());
    planted
}

/// What can be unpacked of the texts in a file.
fn unpacked(folder: &Path) -> Vec<Vec<u8>> {
    let file = rusqlite::Connection::open(folder.join("o.db")).unwrap();
    let mut statement = file.prepare("SELECT bytes FROM chunks UNION ALL SELECT bytes FROM checkpoints").unwrap();
    let blobs: Vec<Vec<u8>> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(blobs.len() > 1);
    blobs.iter().filter_map(|blob| zstd::stream::decode_all(blob.as_slice()).ok()).collect()
}

#[test]
fn a_copy_without_the_key_holds_no_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.db");
    let store = open(&path, &key()).unwrap();
    for number in 0..20 {
        fill(&store, number);
    }
    check(&store, 3);
    // What expires leaves nothing either; the log is still there while the store is open.
    store.prune(NOW + DAY).unwrap();
    fill(&store, 20);
    for bytes in [bytes_of(folder.path()), {
        drop(store);
        bytes_of(folder.path())
    }] {
        assert!(bytes.len() > 100_000);
        assert!(unpacked(folder.path()).is_empty());
        for number in 0..=20 {
            for planted in planted(number) {
                assert!(!holds(&bytes, &planted), "{}", String::from_utf8_lossy(&planted));
            }
        }
    }
}

#[test]
fn the_same_search_for_content_finds_it_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("o.db"), "").unwrap();
    fill(&store, 3);
    check(&store, 3);
    let bytes = bytes_of(folder.path());
    for planted in [LABEL, TOOL, "planted_facts", "aciously", "fs-0000000000000003"] {
        assert!(holds(&bytes, planted), "{planted}");
    }
    assert!(unpacked(folder.path()).iter().any(|text| holds(text, PLANTED)));
}

#[test]
fn a_missing_or_wrong_key_is_called_so_and_nothing_is_written_in_the_clear() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.db");
    let (right, wrong) = (key(), key());
    // Open before anything is encrypted, and never given a key.
    let keyless = open(&path, "").unwrap();
    fill(&open(&path, &right).unwrap(), 1);

    let error = open(&path, "").unwrap_err();
    let id = Keyring::parse(&right).unwrap().ids()[0];
    assert!(matches!(error.fault, Fault::NoKey(needed) if needed == id), "{error}");
    assert!(error.to_string().contains("is encrypted, and no key was given; set store.key_file"), "{error}");
    let error = open(&path, &wrong).unwrap_err();
    assert!(matches!(error.fault, Fault::WrongKey { wanted, .. } if wanted == id), "{error}");
    assert!(!error.to_string().contains(&wrong) && !error.to_string().contains(&right), "{error}");

    assert!(matches!(keyless.put(NOW, "", &[new("plain", "")]).unwrap_err().fault, Fault::NoKey(_)));
    let sealed = keyless.get(NOW, NAMESPACE, Handle::of(&text(1)));
    assert!(matches!(sealed.unwrap_err().fault, Fault::Sealed(_)));
    assert_eq!(keyless.session("fs-0000000000000001").unwrap(), None);
    // One that was only tried is not needed afterwards.
    drop(open(&path, &format!("{wrong} {right}")).unwrap());
    check(&open(&path, &right).unwrap(), 1);
}

#[test]
fn keys_change_while_others_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.db");
    let (old, new_key) = (key(), key());
    let both = format!("{new_key}\n{old}");
    // A store that was begun without a key, went on with one, and is served meanwhile.
    fill(&open(&path, "").unwrap(), 1);
    let serving = open(&path, &old).unwrap();
    fill(&serving, 2);
    [1, 2].iter().for_each(|number| check(&serving, *number));

    let other = open(&path, &both).unwrap();
    serving.set_keys(Keyring::parse(&both).unwrap()).unwrap();
    fill(&serving, 3);
    fill(&other, 4);
    // Known texts and sessions are found under whatever key they have.
    fill(&serving, 2);
    assert_eq!(other.stats().unwrap().originals, 4);
    assert_eq!(other.sessions(Some(NAMESPACE), 10).unwrap().len(), 4);
    for store in [&serving, &other] {
        (1..=4).filter(|number| *number != 2).for_each(|number| check(store, number));
    }
    assert!(matches!(open(&path, &new_key).unwrap_err().fault, Fault::WrongKey { .. }), "the old one is still needed");

    assert!(other.outdated().unwrap() > 0);
    let mut told = 0;
    let done = other.rekey(&mut |rows| told += rows).unwrap();
    assert_eq!((done.damaged, done.retired), (0, 1), "{done:?}");
    assert!(done.originals >= 2 && done.checkpoints >= 2 && told > 4, "{done:?}");
    assert_eq!(other.outdated().unwrap(), 0);
    for store in [&serving, &other, &open(&path, &new_key).unwrap()] {
        [1, 3, 4].iter().for_each(|number| check(store, *number));
        assert_eq!(store.events("fs-0000000000000002", 10).unwrap().len(), 2);
    }
    assert!(matches!(open(&path, &old).unwrap_err().fault, Fault::WrongKey { .. }));
    // What was in the clear before is nowhere in the files.
    let bytes = bytes_of(folder.path());
    for planted in planted(1) {
        assert!(!holds(&bytes, &planted), "{}", String::from_utf8_lossy(&planted));
    }
}

#[test]
fn rows_cannot_be_exchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.db");
    let key = key();
    let store = open(&path, &key).unwrap();
    store.put(NOW, "a", &[new("one of a", "")]).unwrap();
    store.put(NOW, "b", &[new("one of b", "")]).unwrap();
    drop(store);
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch("UPDATE originals SET namespace = 'c' WHERE namespace = 'b'").unwrap();
    file.execute_batch("UPDATE originals SET namespace = 'b' WHERE namespace = 'a'").unwrap();
    drop(file);
    let store = open(&path, &key).unwrap();
    for (namespace, text) in [("b", "one of a"), ("b", "one of b"), ("a", "one of a")] {
        assert!(!matches!(store.get(NOW, namespace, Handle::of(text)), Ok(Recall::Found(_))), "{namespace}");
    }
}
