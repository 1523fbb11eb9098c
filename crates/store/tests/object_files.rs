//! The contract, on SQLite with all texts in files beside it; and what only these show.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod contract;
mod support;

use contract::objects::{self, Beside};
use contract::{Place, contract};
use foldline_store::{ObjectPlace, Opening, Store};

/// Every text is a file, small ones too.
fn all_of(folder: &std::path::Path) -> ObjectPlace {
    ObjectPlace { url: format!("file://{}/texts", folder.display()), min_bytes: 0 }
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Box::new(move |limits| {
        let how = Opening { limits, originals: Some(all_of(folder.path())), ..Opening::default() };
        Store::open(&folder.path().join("originals.db"), how).unwrap()
    })
}

contract::checks!(contract, place);

/// The same with a key.
mod encrypted {
    use super::contract::{self, Place, contract};
    use foldline_store::{Keyring, Opening, Store};

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        Box::new(move |limits| {
            let originals = Some(super::all_of(folder.path()));
            Store::open(&folder.path().join("originals.db"), Opening { limits, keys: keys.clone(), originals }).unwrap()
        })
    }

    contract::checks!(contract, place);
}

fn beside() -> Beside {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    Beside { open: Box::new(move |how| Store::open(&path, how)), folder }
}

macro_rules! with_files {
    ($beside:expr; $($check:ident)*) => { $(#[test] fn $check() { objects::$check($beside()); })* };
}

objects::object_checks!(with_files, beside);

/// Processes that are killed: this test binary itself, running [`killed::worker`] only.
#[cfg(unix)]
mod killed {
    use super::all_of;
    use crate::support::{NOW, found, new, noise};
    use foldline_store::{Opening, Recall, Store};
    use foldline_transcript::recall::Handle;
    use std::io::{BufRead, BufReader};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, SystemTime};

    /// Tells a worker where to work.
    const FOLDER: &str = "FOLDLINE_OBJECTS_WORKER";

    fn store(folder: &Path) -> Store {
        let how = Opening { originals: Some(all_of(folder)), ..Opening::default() };
        Store::open(&folder.join("originals.db"), how).unwrap()
    }

    fn text(round: &str, number: usize) -> String {
        format!("{round} {number} {}", noise(number as u64, 60_000))
    }

    /// Puts, and says so after each put, until it is killed.
    #[test]
    fn worker() {
        let Ok(task) = std::env::var(FOLDER) else { return };
        let (round, folder) = task.split_once('|').unwrap();
        let store = store(Path::new(folder));
        for number in 0.. {
            store.put(NOW, "", &[new(&text(round, number), "")]).unwrap();
            println!("\nstored {number}");
        }
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    fn texts(folder: &Path) -> Vec<PathBuf> {
        let all = files(&folder.join("texts")).into_iter();
        all.filter(|file| !file.ends_with("clock")).collect()
    }

    /// Makes every file as old as those that nobody waits for.
    fn age(folder: &Path) {
        for file in texts(folder) {
            let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
            std::fs::File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
        }
    }

    fn start(folder: &Path, round: &str) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::worker", "--nocapture", "--test-threads=1"])
            .env(FOLDER, format!("{round}|{}", folder.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    #[test]
    fn an_object_whose_writer_dies_before_the_row_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let kept = noise(99, 60_000);
        let store = store(folder.path());
        store.put(NOW, "", &[new(&kept, "")]).unwrap();
        // Rows have to wait; objects do not.
        let busy = rusqlite::Connection::open(folder.path().join("originals.db")).unwrap();
        busy.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut worker = start(folder.path(), "never");
        while texts(folder.path()).len() < 2 {
            assert!(worker.try_wait().unwrap().is_none(), "it waits for its row");
            std::thread::sleep(Duration::from_millis(5));
        }
        worker.kill().unwrap();
        worker.wait().unwrap();
        busy.execute_batch("ROLLBACK").unwrap();
        assert_eq!(store.get(NOW, "", Handle::of(&text("never", 0))).unwrap(), Recall::Unknown);
        assert_eq!(store.vacuum().unwrap(), 0, "its row may still come");
        age(folder.path());
        assert_eq!(store.vacuum().unwrap(), 1);
        assert_eq!(texts(folder.path()).len(), 1);
        assert_eq!(found(store.get(NOW, "", Handle::of(&kept)).unwrap()).text, kept);
    }

    #[test]
    fn whoever_is_killed_loses_nothing_and_what_it_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let mut stored = 0;
        for round in 0..12 {
            let mut worker = start(folder.path(), &round.to_string());
            let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines().map(Result::unwrap);
            lines.by_ref().find(|line| line == "stored 2").unwrap();
            // Somewhere within a put, each time at another moment.
            std::thread::sleep(Duration::from_micros(700 * round));
            worker.kill().unwrap();
            worker.wait().unwrap();
            let more = lines.filter(|line| line.starts_with("stored ")).count();
            let store = store(folder.path());
            for number in 0..3 + more {
                let text = text(&round.to_string(), number);
                assert_eq!(found(store.get(NOW, "", Handle::of(&text)).unwrap()).text, text);
                stored += 1;
            }
        }
        let store = store(folder.path());
        age(folder.path());
        let before = texts(folder.path()).len();
        let swept = store.vacuum().unwrap();
        let originals = store.stats().unwrap().originals;
        assert!(originals >= stored, "{originals} of {stored}");
        assert_eq!(texts(folder.path()).len() as u64, originals, "{swept} of {before} were swept");
        assert_eq!(store.check(&mut |_| {}).unwrap(), Vec::<String>::new());
    }
}
