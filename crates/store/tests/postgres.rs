//! The contract, on PostgreSQL, and what only a database shows.
#![cfg(all(unix, feature = "postgres"))]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

mod contract;
mod support;

use contract::Place;
use foldline_script::postgres::{Postgres, Stop};
use foldline_store::{Fault, FoldClaim, Key, Keyring, Limits, Opening, Recall, SessionRow, Store};
use foldline_transcript::recall::Handle;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;
use support::{NOW, found, new};

fn server() -> Option<Arc<Postgres>> {
    Postgres::shared().unwrap()
}

/// An empty database.
fn database(server: &Postgres) -> PathBuf {
    server.url(&server.database().unwrap())
}

fn place() -> Option<Place> {
    let server = server()?;
    let url = database(&server);
    Some(Box::new(move |limits| {
        let _stays = &server;
        Store::open(&url, limits).unwrap()
    }))
}

/// Every check of the contract that a place can be had for.
macro_rules! contract_here {
    ($place:expr; $($check:ident)*) => {
        $(#[test] fn $check() { if let Some(place) = $place() { crate::contract::$check(place); } })*
    };
}

contract::checks!(contract_here, place);

/// The same with a key.
mod encrypted {
    use super::contract::{self, Place};
    use super::{database, server};
    use foldline_store::{Keyring, Opening, Store};

    fn place() -> Option<Place> {
        let server = server()?;
        let url = database(&server);
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        Some(Box::new(move |limits| {
            let _stays = &server;
            let how = Opening { limits, keys: keys.clone(), ..Opening::default() };
            Store::open(&url, how).unwrap()
        }))
    }

    contract::checks!(contract_here, place);
}

/// The same with all texts in files.
mod files {
    use super::contract::{self, Place};
    use super::{database, server};
    use foldline_store::{ObjectPlace, Opening, Store};

    fn place() -> Option<Place> {
        let server = server()?;
        let url = database(&server);
        let folder = tempfile::tempdir().unwrap();
        Some(Box::new(move |limits| {
            let _stays = &server;
            let originals = ObjectPlace { url: format!("file://{}/texts", folder.path().display()), min_bytes: 0 };
            let how = Opening { limits, originals: Some(originals), ..Opening::default() };
            Store::open(&url, how).unwrap()
        }))
    }

    contract::checks!(contract_here, place);
}

/// What only texts in files show.
mod objects {
    use super::contract::objects::{self, Beside};
    use super::{database, server};
    use foldline_store::Store;

    fn beside() -> Option<Beside> {
        let server = server()?;
        let url = database(&server);
        let open = move |how| {
            let _stays = &server;
            Store::open(&url, how)
        };
        Some(Beside { open: Box::new(open), folder: tempfile::tempdir().unwrap() })
    }

    macro_rules! with_files {
        ($beside:expr; $($check:ident)*) => {
            $(#[test] fn $check() { if let Some(beside) = $beside() { objects::$check(beside); } })*
        };
    }

    objects::object_checks!(with_files, beside);
}

/// The same through pgbouncer in transaction mode, where every transaction may have another connection.
mod pooled {
    use super::contract::{self, Place};
    use super::server;
    use foldline_store::Store;

    fn place() -> Option<Place> {
        let server = server()?;
        let bouncer = server.bouncer().unwrap()?;
        let url = bouncer.url(&server.database().unwrap());
        Some(Box::new(move |limits| {
            let _stay = (&server, &bouncer);
            Store::open(&url, limits).unwrap()
        }))
    }

    contract::checks!(contract_here, place);
}

#[test]
fn mistakes_are_told_without_the_password() {
    let Some(server) = server() else { return };
    let word = format!("word{}", std::process::id());
    let folder = server.folder().display().to_string().replace('/', "%2F");
    let fault = |url: &str| {
        let error = Store::open(Path::new(url), Limits::default()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&word), "{error}");
        error.fault
    };
    let missing = fault(&format!("postgres://tests:{word}@{folder}/nothing"));
    assert!(matches!(missing, Fault::NoDatabase), "{missing}");
    let stranger = fault(&format!("postgres://stranger:{word}@{folder}/postgres"));
    assert!(matches!(stranger, Fault::Login(_)), "{stranger}");
    let nobody = fault(&format!("postgres://tests:{word}@127.0.0.1:1/postgres"));
    assert!(matches!(nobody, Fault::Unreachable(_)), "{nobody}");
    let wrong = fault(&format!("postgres://tests:{word}@{folder}/postgres?sslmode=perhaps"));
    assert!(matches!(wrong, Fault::BadUrl(_)), "{wrong}");
    assert!(matches!(fault(&format!("postgres://tests:{word}@{folder}")), Fault::BadUrl(_)));
    assert!(matches!(Store::open_existing(&database(&server), Limits::default()).unwrap_err().fault, Fault::Empty));
}

#[test]
fn nodes_prepare_one_database_and_fold_once() {
    const NODES: usize = 6;
    let Some(server) = server() else { return };
    let url = database(&server);
    let barrier = Barrier::new(NODES);
    let taken = Mutex::new(0);
    std::thread::scope(|scope| {
        for node in 0..NODES {
            let (url, barrier, taken) = (&url, &barrier, &taken);
            scope.spawn(move || {
                let store = Store::open(url, Limits::default());
                barrier.wait();
                let store = store.unwrap();
                for number in 0..20 {
                    let holder = [u8::try_from(node).unwrap(); 16];
                    let claim = FoldClaim { namespace: "a", root: Key([number; 32]), holder, until: NOW + 1_000 };
                    if store.claim_fold(NOW, &claim).unwrap() {
                        *taken.lock().unwrap() += 1;
                    }
                }
            });
        }
    });
    assert_eq!(*taken.lock().unwrap(), 20, "each is taken once");
    let store = Store::open(&url, Limits::default()).unwrap();
    let claim = |holder, until| FoldClaim { namespace: "a", root: Key([0; 32]), holder: [holder; 16], until };
    assert!(!store.claim_fold(NOW + 999, &claim(9, NOW + 2_000)).unwrap());
    assert!(store.claim_fold(NOW + 1_000, &claim(9, NOW + 2_000)).unwrap(), "one that was killed keeps nobody away");
    store.release_fold(&claim(8, 0)).unwrap();
    assert!(!store.claim_fold(NOW + 1_000, &claim(7, NOW + 2_000)).unwrap(), "only the holder gives it back");
    store.release_fold(&claim(9, 0)).unwrap();
    assert!(store.claim_fold(NOW + 1_000, &claim(7, NOW + 2_000)).unwrap());
}

#[test]
fn a_server_that_restarts_is_found_again() {
    let Some(server) = Postgres::start().unwrap() else { return };
    let impatient = Limits { restart: Duration::from_millis(300), ..Limits::default() };
    let store = Store::open(&database(&server), impatient).unwrap();
    store.put(NOW, "", &[new("before", "")]).unwrap();
    server.stop(Stop::Fast);
    let error = store.put(NOW, "", &[new("meanwhile", "")]).unwrap_err();
    assert!(matches!(error.fault, Fault::Unreachable(_)) && error.is_retryable(), "{error}");
    server.go().unwrap();
    store.put(NOW, "", &[new("after", "")]).unwrap();
    for text in ["before", "after"] {
        assert_eq!(found(store.get(NOW, "", Handle::of(text)).unwrap()).text, text);
    }
    assert_eq!(store.get(NOW, "", Handle::of("meanwhile")).unwrap(), Recall::Unknown);
}

#[test]
fn nobody_notices_a_restart_that_is_waited_for() {
    const CALLERS: usize = 12;
    let Some(server) = Postgres::start().unwrap() else { return };
    let limits = Limits { restart: Duration::from_secs(30), wait: Duration::from_millis(200), ..Limits::default() };
    let store = Store::open(&database(&server), limits).unwrap();
    let is_over = AtomicBool::new(false);
    let text = |caller: usize, number: usize| format!("text {number} of {caller}");
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (store, is_over, text) = (&store, &is_over, &text);
                scope.spawn(move || {
                    let mut number = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let written = text(caller, number);
                        store.put(NOW, &caller.to_string(), &[new(&written, "")]).unwrap();
                        number += 1;
                    }
                    number
                })
            })
            .collect();
        for how in [Stop::Fast, Stop::Crash, Stop::Fast, Stop::Crash] {
            std::thread::sleep(Duration::from_millis(200));
            server.stop(how);
            server.go().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    for (caller, count) in counts.into_iter().enumerate() {
        assert!(count > 0, "caller {caller} wrote nothing");
        for number in 0..count {
            let text = text(caller, number);
            assert_eq!(found(store.get(NOW, &caller.to_string(), Handle::of(&text)).unwrap()).text, text);
        }
    }
}

#[test]
fn keys_change_and_nothing_is_left_in_the_clear() {
    let Some(server) = server() else { return };
    let url = database(&server);
    let open = |keys: &str| {
        let keys = if keys.is_empty() { Keyring::none() } else { Keyring::parse(keys).unwrap() };
        Store::open(&url, Opening { keys, ..Opening::default() })
    };
    let (old, fresh) = (Keyring::generate().unwrap(), Keyring::generate().unwrap());
    open("").unwrap().put(NOW, "a", &[new("first words", "bash")]).unwrap();
    open(&old).unwrap().put(NOW, "a", &[new("second words", "bash")]).unwrap();
    assert!(matches!(open("").unwrap_err().fault, Fault::NoKey(_)));
    let both = open(&format!("{fresh} {old}")).unwrap();
    assert_eq!(both.outdated().unwrap(), 2);
    let done = both.rekey(&mut |_| {}).unwrap();
    assert_eq!((done.originals, done.damaged, done.retired), (2, 0, 1), "{done:?}");
    assert!(matches!(open(&old).unwrap_err().fault, Fault::WrongKey { .. }));
    let store = open(&fresh).unwrap();
    for text in ["first words", "second words"] {
        assert_eq!(found(store.get(NOW, "a", Handle::of(text)).unwrap()).text, text);
    }
    assert_eq!(store.check(&mut |_| {}).unwrap(), Vec::<String>::new());
}

#[test]
fn what_two_nodes_write_about_one_session_is_not_lost() {
    const NODES: usize = 4;
    const EACH: usize = 25;
    let Some(server) = server() else { return };
    let url = database(&server);
    let session = |record: String| SessionRow { id: "s".into(), namespace: "a".into(), last_at: NOW, record };
    // Each adds one to the number that is there.
    let revise = |there: &SessionRow| session((there.record.parse::<usize>().unwrap() + 1).to_string());
    std::thread::scope(|scope| {
        for _ in 0..NODES {
            scope.spawn(|| {
                let store = Store::open(&url, Limits::default()).unwrap();
                for _ in 0..EACH {
                    assert!(store.revise_session(NOW, &session("1".into()), &revise, 0).unwrap().is_some());
                }
            });
        }
    });
    let store = Store::open(&url, Limits::default()).unwrap();
    assert_eq!(store.session("s").unwrap().unwrap().record, (NODES * EACH).to_string());
    assert_eq!(store.revise_session(NOW, &session("1".into()), &revise, 1).unwrap(), None, "something was forgotten");
}

/// What a later release may do to the database while this one runs: add.
const LATER: &str = "ALTER TABLE foldline.originals ADD COLUMN later BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE foldline.sessions ADD COLUMN later TEXT;
    CREATE TABLE foldline.later (id BIGINT PRIMARY KEY);
    UPDATE foldline.format SET number = 99";

#[test]
fn a_node_goes_on_while_a_later_release_adds_to_the_format_and_one_can_start() {
    let Some(server) = server() else { return };
    let name = server.database().unwrap();
    let url = server.url(&name);
    let works = |store: &Store, text: &str| {
        store.put(NOW, "a", &[new(text, "bash")]).unwrap();
        assert_eq!(found(store.get(NOW, "a", Handle::of(text)).unwrap()).text, text);
        let row = SessionRow { id: text.into(), namespace: "a".into(), last_at: NOW, record: "{}".into() };
        store.write_sessions(NOW, std::slice::from_ref(&row), &[]).unwrap();
        assert_eq!(store.session(text).unwrap(), Some(row));
    };
    let running = Store::open(&url, Limits::default()).unwrap();
    works(&running, "before");
    server.answer(&name, LATER).unwrap();
    works(&running, "meanwhile");
    let fresh = Store::open(&url, Limits::default()).unwrap();
    works(&fresh, "after");
    let format = server.answer(&name, "SELECT number FROM foldline.format").unwrap();
    assert_eq!(format, "99", "an earlier release does not take the format back");
}

#[test]
fn a_database_that_only_later_releases_can_use_is_refused_and_left_alone() {
    let Some(server) = server() else { return };
    let name = server.database().unwrap();
    let url = server.url(&name);
    drop(Store::open(&url, Limits::default()).unwrap());
    server.answer(&name, "UPDATE foldline.format SET number = 99, readable_from = 99").unwrap();
    let error = Store::open(&url, Limits::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::Newer { found: 99, .. }), "{error}");
}
