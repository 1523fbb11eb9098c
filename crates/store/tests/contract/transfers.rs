//! What one store exports, another takes in.

use super::Place;
use crate::support::{DAY, NOW, found, new, noise};
use foldline_store::{
    Cursor, EventRow, Key, KeyDay, KeyScope, KeyTerms, KeyUsage, Limits, NewCheckpoint, NewFold, Precedence, Record,
    SessionRow, Store, WindowRow,
};
use foldline_transcript::recall::Handle;
use std::path::Path;

/// A store with something of every kind.
fn filled(place: &Path) -> Store {
    let store = Store::open(place, Limits::default()).unwrap();
    // So old that it expires with the next one.
    store.put(NOW - 100 * DAY, "a", &[new("an old one", "bash")]).unwrap();
    let session = SessionRow { id: "s".into(), namespace: "a".into(), last_at: NOW, record: "{\"at\":1}".into() };
    let long = noise(5, 600_000);
    let checkpoint =
        NewCheckpoint { key: Key([7; 32]), root: Key([8; 32]), position: 4, record: "{\"fact\":1}", text: "handoff" };
    let originals = [new("removed", "bash"), new(&long, "read")];
    let fold =
        NewFold { namespace: "a", originals: &originals, checkpoint, precedence: Precedence::First, session: &session };
    store.keep_fold(NOW, &fold).unwrap();
    let event = EventRow { session: "s".into(), at: NOW, record: "{\"kind\":\"fold\"}".into() };
    store.write_sessions(NOW, &[], &[event]).unwrap();
    let window = WindowRow { namespace: "a".into(), model: "m".into(), record: Some("{}".into()) };
    store.write_windows(NOW, &[window]).unwrap();
    store.claim(NOW, "a", &Key([9; 32])).unwrap();
    let terms = KeyTerms {
        scopes: [KeyScope::Generate].into(),
        upstream: vec![("openai".to_owned(), "OPENAI_API_KEY".to_owned())],
        expires_at: Some(NOW + DAY),
        tokens_per_day: Some(1_000),
        dollars_per_day: Some(0.1),
    };
    store.add_client_key(NOW, Key([1; 32]), "build", terms.clone()).unwrap().unwrap();
    store.revoke_client_key(NOW + 1, "build").unwrap();
    store.add_client_key(NOW + 2, Key([2; 32]), "build", terms).unwrap().unwrap();
    for (digest, day) in [([1; 32], 3), ([1; 32], 4), ([2; 32], 3)] {
        let usage = KeyUsage { requests: 1, tokens_in: 20, tokens_out: 3, dollars: 0.7 };
        let used = KeyDay { digest: Key(digest), day: KeyDay::of(NOW) - 9 + day, usage };
        store.book_keys(NOW, &[used], &[]).unwrap();
    }
    store
}

/// Every record as a line, in an order that does not depend on the store.
fn exported(store: &Store) -> Vec<String> {
    let mut cursor = Cursor::default();
    let mut lines = Vec::new();
    loop {
        let page = store.page(&mut cursor).unwrap();
        if page.is_empty() {
            lines.sort();
            return lines;
        }
        lines.extend(page.iter().map(Record::to_string));
    }
}

pub(crate) fn an_export_is_taken_in_whole_and_once(place: Place) {
    let folder = tempfile::tempdir().unwrap();
    let source = filled(&folder.path().join("source.db"));
    let lines = exported(&source);
    let kinds = ["original", "tombstone", "checkpoint", "session", "event", "window", "object"];
    for kind in kinds.iter().chain(&["client_key", "key_usage", "key_event"]) {
        assert!(lines.iter().any(|line| line.starts_with(&format!("{{\"kind\":\"{kind}\""))), "{kind} in {lines:?}");
    }
    let target = place(Limits::default());
    let records: Vec<Record> = lines.iter().map(|line| Record::parse(line).unwrap()).collect();
    assert_eq!(target.add(&records).unwrap(), records.len() as u64);
    assert_eq!(target.add(&records).unwrap(), 0, "a second time adds nothing");
    assert_eq!(exported(&target), lines);
    assert_eq!(found(target.get(NOW, "a", Handle::of("removed")).unwrap()).text, "removed");
    assert_eq!(target.client_keys().unwrap(), source.client_keys().unwrap());
    assert_eq!(target.key_usage(0).unwrap(), source.key_usage(0).unwrap());
    assert_eq!(target.key_events(10).unwrap(), source.key_events(10).unwrap());
    assert_eq!(target.check(&mut |_| {}).unwrap(), Vec::<String>::new());

    // The running sums are what counting gives.
    let sums = |store: &Store| {
        let stats = store.stats().unwrap();
        (stats.originals, stats.text_bytes, stats.stored_bytes, stats.tombstones)
    };
    let running = sums(&target);
    target.prune(NOW).unwrap();
    assert_eq!(sums(&target), running);
}

pub(crate) fn a_key_in_force_keeps_its_name_from_an_import(place: Place) {
    let folder = tempfile::tempdir().unwrap();
    let source = filled(&folder.path().join("source.db"));
    let target = place(Limits::default());
    let terms = KeyTerms { scopes: [KeyScope::Recall].into(), ..KeyTerms::default() };
    target.add_client_key(NOW, Key([5; 32]), "build", terms).unwrap().unwrap();
    let records: Vec<Record> = exported(&source).iter().map(|line| Record::parse(line).unwrap()).collect();
    target.add(&records).unwrap();
    let kept: Vec<_> = target.client_keys().unwrap().iter().map(|key| (key.digest, key.revoked_at)).collect();
    assert!(
        kept.contains(&(Key([5; 32]), None)) && !kept.iter().any(|(digest, _)| *digest == Key([2; 32])),
        "{kept:?}"
    );
}
