//! Several processes on one file: writing at once, being killed, lacking permission or room.
//!
//! The processes are this test binary itself, running [`worker`] only.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod support;

use foldline_store::{Fault, Limits, Recall, Store};
use foldline_transcript::recall::Handle;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use support::{DAY, NOW, found, new, noise};

/// Tells a worker what to do: `path|name|puts|texts per put|bytes per text`.
const TASK: &str = "FOLDLINE_STORE_WORKER";

fn text(worker: &str, put: usize, index: usize, bytes: usize) -> String {
    format!("{worker} {put} {index} {}", noise(put as u64, bytes))
}

/// Puts and says so after each put; on an error, says that.
#[test]
fn worker() {
    let Ok(task) = std::env::var(TASK) else { return };
    let task: Vec<_> = task.split('|').collect();
    let [path, name, puts, texts, bytes] = task[..] else { panic!("a task has five fields") };
    let (puts, texts, bytes): (usize, usize, usize) =
        (puts.parse().unwrap(), texts.parse().unwrap(), bytes.parse().unwrap());
    let store = match Store::open(Path::new(path), Limits::default()) {
        Ok(store) => store,
        Err(error) => return println!("\nerror {error}"),
    };
    for put in 0..puts {
        let texts: Vec<_> = (0..texts).map(|index| text(name, put, index, bytes)).collect();
        let batch: Vec<_> = texts.iter().map(|text| new(text, name)).collect();
        match store.put(NOW, "", &batch) {
            Ok(_) => println!("\nstored {put}"),
            Err(error) => return println!("\nerror {error}"),
        }
    }
}

fn command(path: &Path, name: &str, puts: usize, texts: usize, bytes: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "worker", "--nocapture", "--test-threads=1"])
        .env(TASK, format!("{}|{name}|{puts}|{texts}|{bytes}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// What a worker says, whole lines only.
fn said(child: &mut Child) -> Vec<String> {
    let mut words = String::new();
    child.stdout.take().unwrap().read_to_string(&mut words).unwrap();
    let whole = words.rfind('\n').map_or("", |end| &words[..end]);
    whole.lines().map(str::to_owned).collect()
}

fn error_of(mut child: Child) -> String {
    let said = said(&mut child);
    child.wait().unwrap();
    said.iter().find_map(|line| line.strip_prefix("error ")).unwrap_or_else(|| panic!("{said:?}")).to_owned()
}

#[test]
fn four_processes_make_one_store_and_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/originals.db");
    let names = ["a", "b", "c", "d"];
    let workers: Vec<_> = names.iter().map(|name| command(&path, name, 25, 4, 2_000).spawn().unwrap()).collect();
    for mut worker in workers {
        let said = said(&mut worker);
        assert!(worker.wait().unwrap().success());
        assert_eq!(said.iter().filter(|line| line.starts_with("stored")).count(), 25, "{said:?}");
    }
    let store = Store::open_existing(&path, Limits::default()).unwrap();
    assert_eq!(store.stats().unwrap().originals, 4 * 25 * 4);
    for (name, put) in names.iter().flat_map(|name| (0..25).map(move |put| (name, put))) {
        for index in 0..4 {
            let text = text(name, put, index, 2_000);
            assert!(found(store.get(NOW, "", Handle::of(&text)).unwrap()).text == text);
        }
    }
    let counted = store.stats().unwrap();
    store.prune(NOW).unwrap();
    let recounted = store.stats().unwrap();
    assert_eq!(counted.stored_bytes, recounted.stored_bytes, "running sums are exact");
}

#[test]
fn what_a_killed_process_reported_is_there() {
    for round in 1..=5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("originals.db");
        let mut victim = command(&path, "v", 1_000_000, 3, 20_000).spawn().unwrap();
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let mut reported = Vec::new();
        let take = |line: String| line.strip_prefix("stored ").map(|put| put.parse::<usize>().unwrap());
        while reported.len() < 7 * round {
            reported.extend(take(lines.next().unwrap().unwrap()));
        }
        // SIGKILL, in the middle of some later put.
        victim.kill().unwrap();
        victim.wait().unwrap();
        let mut rest: Vec<_> = lines.map_while(Result::ok).collect();
        // The last line may be cut.
        rest.pop();
        reported.extend(rest.into_iter().filter_map(take));

        let store = Store::open_existing(&path, Limits::default()).unwrap();
        for put in reported {
            for index in 0..3 {
                let text = text("v", put, index, 20_000);
                assert!(found(store.get(NOW, "", Handle::of(&text)).unwrap()).text == text);
            }
        }
        let originals = store.stats().unwrap().originals;
        assert_eq!(originals % 3, 0, "a put is there as a whole or not at all");
        store.prune(NOW).unwrap();
        assert_eq!(store.stats().unwrap().originals, originals);
    }
}

#[test]
fn a_reader_does_not_wait_for_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    let impatient = Limits { wait: Duration::ZERO, ..Limits::default() };
    let store = Store::open(&path, impatient).unwrap();
    store.put(NOW, "", &[new("text", "")]).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Long after, so that the use should be noted: not possible at the moment, and no reason to fail.
    let later = NOW + DAY;
    assert_eq!(found(store.get(later, "", Handle::of("text")).unwrap()).text, "text");
    let error = store.put(NOW, "", &[new("more", "")]).unwrap_err();
    assert!(matches!(error.fault, Fault::Locked(_)) && error.is_retryable(), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    store.put(NOW, "", &[new("more", "")]).unwrap();
    assert!(matches!(store.get(NOW, "", Handle::of("less")).unwrap(), Recall::Unknown));
}

const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// Root may write anywhere, so a worker that must not is somebody else.
fn as_nobody(mut command: Command) -> Command {
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let path = folder.path().join("originals.db");
    let error = error_of(as_nobody(command(&path, "n", 1, 1, 1)).spawn().unwrap());
    assert!(error.starts_with(&format!("store {}: cannot be opened or created", path.display())), "{error}");
    assert!(error.contains("--store"), "{error}");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    drop(Store::open(&path, Limits::default()).unwrap());
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).unwrap();
    if is_root() {
        // A file of somebody else is refused for that reason.
        std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let error = error_of(as_nobody(command(&path, "n", 1, 1, 1)).spawn().unwrap());
    assert!(error.contains("originals.db: is read-only; make the file"), "{error}");
}

#[test]
fn a_disk_that_takes_no_more_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    let limited = |blocks: u32| {
        // A file size limit fails writes the way a full disk does; without the trap it would kill.
        let plain = command(&path, "w", 1_000, 1, 50_000);
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""))
            .arg(plain.get_program())
            .args(plain.get_args())
            .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        shell
    };
    let mut worker = limited(2_000).spawn().unwrap();
    let said = said(&mut worker);
    worker.wait().unwrap();
    let stored = said.iter().filter(|line| line.starts_with("stored")).count();
    assert!((1..1_000).contains(&stored), "{said:?}");
    assert!(said.iter().any(|line| line.contains("check the disk and its free space")), "{said:?}");
    let store = Store::open_existing(&path, Limits::default()).unwrap();
    for put in 0..stored {
        let text = text("w", put, 0, 50_000);
        assert!(found(store.get(NOW, "", Handle::of(&text)).unwrap()).text == text);
    }
    assert_eq!(store.stats().unwrap().originals, stored as u64);
}
