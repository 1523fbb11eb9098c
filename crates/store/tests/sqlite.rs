//! The contract, on SQLite.
#![allow(missing_docs, clippy::unwrap_used)]

mod contract;
mod support;

use contract::Place;
use foldline_store::Store;
use support::{NOW, new};

/// An empty folder, kept until the place is dropped.
fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Box::new(move |limits| Store::open(&folder.path().join("originals.db"), limits).unwrap())
}

contract::contract!(place);

#[test]
#[cfg(unix)]
fn files_and_folders_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/originals.db");
    let store = Store::open(&path, foldline_store::Limits::default()).unwrap();
    store.put(NOW, "", &[new("text", "")]).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut files = 0;
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
        files += 1;
    }
    assert_eq!(files, 3, "the file, its log and its index");
    assert_eq!(mode(path.parent().unwrap()), 0o700);
}
