//! Forgetting on request: what goes, what stays, and that it is gone from the files.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use foldline_store::{
    Cleaning, EventRow, Forget, Forgotten, Gone, Key, Keyring, NewCheckpoint, NewFold, Opening, Precedence, Recall,
    SessionRow, Store, Whose,
};
use foldline_transcript::recall::Handle;
use support::{DAY, NOW, bytes_of, holds, new, noise};
use tempfile::TempDir;

struct Kept {
    folder: TempDir,
    store: Store,
}

fn kept(keys: Keyring) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("o.db"), Opening { keys, ..Opening::default() }).unwrap();
    Kept { folder, store }
}

fn text(of: &str) -> String {
    format!("{of} removed xylophone{} {}", of.replace('-', ""), noise(seed(of), 2_000))
}

/// Noise that no other text has.
fn seed(of: &str) -> u64 {
    of.bytes().fold(7, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte))
}

impl Kept {
    /// A fold of a session that removed a text of its own and one that all share.
    fn fold(&self, namespace: &str, session: &str, at: i64) {
        let own = text(session);
        let originals = [new(&own, "bash"), new("shared by all sessions", "")];
        let mut key = [0; 32];
        key.iter_mut().zip(session.bytes().chain(namespace.bytes())).for_each(|(byte, from)| *byte = from);
        let handoff = format!("handoff of {session} {}", noise(seed(session) + 1, 500));
        let checkpoint = NewCheckpoint { key: Key(key), root: Key([1; 32]), position: 3, record: "{}", text: &handoff };
        let row = SessionRow {
            id: session.to_owned(),
            namespace: namespace.to_owned(),
            last_at: at,
            record: format!("{{\"label\":\"label of {session}\"}}"),
        };
        let precedence = Precedence::First;
        let fold = NewFold { namespace, originals: &originals, checkpoint, precedence, session: &row };
        self.store.keep_fold(at, &fold).unwrap();
        let event = EventRow { session: session.to_owned(), at, record: "{}".to_owned() };
        self.store.write_sessions(at, &[], &[event]).unwrap();
    }

    fn knows(&self, namespace: &str, session: &str) -> [bool; 4] {
        let knows = |text: &str| match self.store.get(NOW, namespace, Handle::of(text)).unwrap() {
            Recall::Found(_) => true,
            Recall::Unknown => false,
            other => panic!("{other:?}"),
        };
        let checkpoints = self.store.checkpoints(namespace, &Key([1; 32]), 100).unwrap();
        let own = checkpoints.iter().any(|entry| entry.key.0.starts_with(session.as_bytes()));
        [knows(&text(session)), knows("shared by all sessions"), own, self.store.session(session).unwrap().is_some()]
    }

    fn forget(&self, whose: Whose<'_>, what: Forgotten<'_>) -> Gone {
        let forget = Forget { whose, what };
        let counted = self.store.count_forgotten(&forget).unwrap();
        let before = self.store.forgotten().unwrap();
        let gone = self.store.forget(&forget, Cleaning::Gentle).unwrap();
        assert_eq!(gone, counted);
        assert_eq!(self.store.forgotten().unwrap(), before + 1);
        assert!(self.store.count_forgotten(&forget).unwrap().is_nothing());
        gone
    }

    /// Texts as they stand in the file.
    fn blobs(&self) -> Vec<Vec<u8>> {
        let file = rusqlite::Connection::open(self.store.place()).unwrap();
        let sql = "SELECT bytes FROM chunks WHERE length(bytes) > 100 UNION ALL SELECT bytes FROM checkpoints";
        let mut statement = file.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn traces(&self, session: &str) -> Vec<String> {
        let bytes = bytes_of(self.folder.path());
        let text = text(session);
        let wanted = [
            format!("{session} removed"),
            format!("lophone{}", session.replace('-', "")),
            format!("handoff of {session}"),
            format!("label of {session}"),
            session.to_owned(),
            text[text.len() - 30..].to_owned(),
        ];
        wanted.into_iter().filter(|wanted| holds(&bytes, wanted)).collect()
    }
}

fn both(check: impl Fn(Keyring)) {
    check(Keyring::none());
    check(Keyring::parse(&Keyring::generate().unwrap()).unwrap());
}

#[test]
fn a_session_goes_with_all_that_only_it_removed() {
    both(|keys| {
        let kept = kept(keys.clone());
        kept.fold("a", "session-one", NOW);
        kept.fold("a", "session-two", NOW);
        kept.fold("b", "session-six", NOW);
        while kept.store.index(1 << 20).unwrap() > 0 {}
        if keys.is_empty() {
            assert!(kept.traces("session-one").len() > 2, "the search itself works");
        }
        let before = kept.blobs();
        let gone = kept.forget(Whose::Everybody, Forgotten::Session("session-one"));
        let (after, bytes) = (kept.blobs(), bytes_of(kept.folder.path()));
        assert_eq!(before.len(), after.len() + 2, "a text and a checkpoint");
        for blob in before {
            assert_eq!(holds(&bytes, &blob[20..60]), after.contains(&blob));
        }
        assert_eq!((gone.sessions, gone.originals, gone.checkpoints, gone.events), (1, 1, 1, 1));
        assert_eq!(kept.knows("a", "session-one"), [false, true, false, false], "what others removed, too, stays");
        assert_eq!(kept.knows("a", "session-two"), [true; 4]);
        assert_eq!(kept.knows("b", "session-six"), [true; 4]);
        assert!(kept.store.events("session-one", 10).unwrap().is_empty());
        assert_eq!(kept.traces("session-one"), [""; 0]);
        let totals = kept.store.stats().unwrap();
        assert_eq!((totals.originals, totals.tombstones), (4, 0));
    });
}

#[test]
fn nobody_forgets_what_is_anothers() {
    both(|keys| {
        let kept = kept(keys);
        kept.fold("a", "session-one", NOW);
        kept.fold("b", "session-six", NOW);
        assert!(kept.forget(Whose::Namespace("b"), Forgotten::Session("session-one")).is_nothing());
        let gone = kept.forget(Whose::Namespace("b"), Forgotten::All);
        assert_eq!((gone.sessions, gone.originals, gone.checkpoints, gone.events), (1, 2, 1, 1));
        assert_eq!(kept.knows("a", "session-one"), [true; 4]);
        assert_eq!(kept.knows("b", "session-six"), [false; 4]);
        assert_eq!(kept.store.events("session-one", 10).unwrap().len(), 1);
    });
}

#[test]
fn what_is_older_than_a_day_goes_unless_its_session_went_on() {
    both(|keys| {
        let kept = kept(keys);
        kept.fold("a", "session-old", NOW - 3 * DAY);
        kept.fold("a", "session-new", NOW);
        kept.store.put(NOW - 3 * DAY, "", &[new("of a command, long ago", "")]).unwrap();
        kept.store.put(NOW, "", &[new("of a command, just now", "")]).unwrap();
        let gone = kept.forget(Whose::Everybody, Forgotten::Before(NOW - DAY));
        assert_eq!((gone.sessions, gone.originals, gone.checkpoints, gone.events), (1, 2, 1, 1));
        assert_eq!(kept.knows("a", "session-old"), [false, true, false, false]);
        assert_eq!(kept.knows("a", "session-new"), [true; 4]);
        let get = |text| kept.store.get(NOW, "", Handle::of(text)).unwrap();
        assert_eq!(get("of a command, long ago"), Recall::Unknown);
        assert!(matches!(get("of a command, just now"), Recall::Found(_)));
    });
}

#[test]
fn all_of_it_leaves_an_empty_file() {
    both(|keys| {
        let kept = kept(keys);
        for number in 0..150 {
            kept.fold("a", &format!("session-{number:03}"), NOW);
        }
        while kept.store.index(1 << 20).unwrap() > 0 {}
        let full = kept.store.stats().unwrap().file_bytes;
        let gone = kept.forget(Whose::Everybody, Forgotten::All);
        assert_eq!((gone.sessions, gone.originals, gone.checkpoints, gone.events), (150, 151, 150, 150));
        assert_eq!(kept.traces("session-123"), [""; 0]);
        let empty = kept.store.stats().unwrap();
        assert!(empty.file_bytes < full / 5 && empty.originals == 0 && empty.stored_bytes == 0, "{empty:?} of {full}");
        kept.fold("a", "session-123", NOW);
        assert_eq!(kept.knows("a", "session-123"), [true; 4]);
        let everything = Forget { whose: Whose::Everybody, what: Forgotten::All };
        kept.store.forget(&everything, Cleaning::Thorough).unwrap();
        assert_eq!(kept.traces("session-123"), [""; 0]);
    });
}
