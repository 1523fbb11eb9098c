use super::*;
use foldline_store::{Limits, NewOriginal};
use foldline_transcript::recall::Handle;

const NOW: i64 = 1_760_000_000_000;
const OUTPUT: &str = "waiting for the lock\nconnection refused by db\n";

fn store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    let original = NewOriginal { handle: Handle::of(OUTPUT), text: OUTPUT, tool: "bash" };
    Store::open(&path, Limits::default()).unwrap().put(NOW, "some client", &[original]).unwrap();
    (folder, path)
}

fn args(words: &[&str]) -> SearchArgs {
    SearchArgs {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        session: None,
        limit: 10,
        json: false,
        store: None,
        config: None,
    }
}

#[test]
fn places_are_told_with_the_command_that_reads_them() {
    let (_folder, path) = store();
    let handle = Handle::of(OUTPUT);
    let (_, told) = search(&args(&["connection refused", "DB"]), &path, Limits::default()).unwrap();
    assert_eq!(told, format!("{handle} of bash, line 2\n  connection refused by db\n  → foldline recall {handle}\n"));
    let named = SearchArgs { store: Some(PathBuf::from("my store.db")), ..args(&["lock"]) };
    let (_, told) = search(&named, &path, Limits::default()).unwrap();
    assert!(told.ends_with(&format!("→ foldline recall {handle} --store 'my store.db'\n")), "{told}");
}

#[test]
fn machines_get_json() {
    let (_folder, path) = store();
    let (_, told) = search(&SearchArgs { json: true, ..args(&["lock"]) }, &path, Limits::default()).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["hits"][0]["handle"], Handle::of(OUTPUT).to_string());
    assert_eq!((told["fit"].as_str(), told["places"].as_u64()), (Some("all"), Some(1)));
}

#[test]
fn no_answer_says_what_may_help() {
    let (_folder, path) = store();
    let asked = args(&["nowhere"]);
    let (findings, _) = search(&asked, &path, Limits::default()).unwrap();
    let words = nothing(&asked, &findings, &path);
    assert!(
        words.starts_with("no original in /") && words.contains("matches `nowhere`; try fewer or other words"),
        "{words}"
    );
    let asked = SearchArgs { session: Some("fs-1".to_owned()), ..args(&["lock"]) };
    let (findings, _) = search(&asked, &path, Limits::default()).unwrap();
    assert_eq!(findings.hits.len(), 0);
    assert!(nothing(&asked, &findings, &path).ends_with("or leave --session out"));
    let error = search(&args(&["?!"]), &path, Limits::default()).unwrap_err();
    assert_eq!(error.code, 2);
    assert!(error.message.starts_with("`?!` contains no word to search for"), "{}", error.message);
    let error = search(&args(&["lock"]), &path.with_file_name("missing.db"), Limits::default()).unwrap_err();
    assert_eq!((error.code, error.message.contains("file not found")), (2, true));
}
