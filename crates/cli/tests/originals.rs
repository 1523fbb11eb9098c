//! Originals in an object store beside the store, as users meet them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SESSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/two-hour-session.anthropic.json");

/// Settings that put every original into a file of its own.
fn with_files() -> Desk {
    let desk = Desk::new();
    let url = format!("file://{}", desk.path("texts").display());
    desk.write("files.yaml", &format!("store:\n  originals: {url}\n  originals_min_bytes: 0\n"));
    desk
}

/// Folds the example; returns a handle.
fn fold(desk: &Desk) -> String {
    let args = ["compress", SESSION, "--force", "--report", "report.json", "-o", "out.json", "--config", "files.yaml"];
    let done = desk.run(&args);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let report: serde_json::Value = serde_json::from_str(&desk.read("report.json")).unwrap();
    let edits = report["edits"].as_array().unwrap();
    edits.iter().find_map(|edit| edit["handle"].as_str()).unwrap().to_owned()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let all = paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|file| !file.ends_with("clock")).collect()
}

#[test]
fn originals_are_files_until_they_are_forgotten() {
    let desk = with_files();
    let handle = fold(&desk);
    let run = |args: &[&str]| desk.run(&[args, &["--config", "files.yaml"]].concat());
    let texts = || files(&desk.path("texts"));
    let kept = texts().len();
    assert!(kept > 0, "nothing was folded");
    let recalled = run(&["recall", &handle]);
    assert_eq!(code(&recalled), 0, "{}", errors(&recalled));
    assert_eq!(code(&run(&["store", "check"])), 0);

    let without = desk.run(&["recall", &handle]);
    assert!(code(&without) == 2 && errors(&without).contains("set store.originals"), "{}", errors(&without));

    // What a process leaves that is killed before its row is there.
    let shard = texts()[0].parent().unwrap().to_owned();
    let name = format!("{}{}", shard.file_name().unwrap().to_str().unwrap(), "0".repeat(30));
    std::fs::write(shard.join(&name), "nobody names it").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    std::fs::File::options().write(true).open(shard.join(&name)).unwrap().set_modified(long_ago).unwrap();
    let swept = run(&["store", "vacuum"]);
    assert!(text(&swept).contains("deleted 1 object that no original needs"), "{}{}", text(&swept), errors(&swept));
    assert_eq!(texts().len(), kept);

    let forgotten = run(&["forget", "--all", "--yes"]);
    assert_eq!(code(&forgotten), 0, "{}", errors(&forgotten));
    assert_eq!(texts(), Vec::<PathBuf>::new());
}

#[test]
fn a_missing_file_is_told_and_the_rest_is_exported() {
    let desk = with_files();
    fold(&desk);
    let run = |args: &[&str]| desk.run(&[args, &["--config", "files.yaml"]].concat());
    let kept = files(&desk.path("texts"));
    std::fs::remove_file(&kept[0]).unwrap();
    let check = run(&["store", "check"]);
    assert_eq!(code(&check), 1, "{}", errors(&check));
    assert!(text(&check).contains("its object is missing from the object store"), "{}", text(&check));
    let export = run(&["store", "export"]);
    assert_eq!(code(&export), 1);
    assert!(errors(&export).contains("left out 1 original"), "{}", errors(&export));
    let originals = text(&export).lines().filter(|line| line.contains("\"kind\":\"original\"")).count();
    assert_eq!(originals, kept.len() - 1);
}
