//! The contract, on SQLite.
#![allow(missing_docs, clippy::unwrap_used)]

mod contract;
mod support;

use contract::{Place, contract};
use foldline_store::Store;
use support::{NOW, new};

/// An empty folder, kept until the place is dropped.
fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Box::new(move |limits| Store::open(&folder.path().join("originals.db"), limits).unwrap())
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
            let how = Opening { limits, keys: keys.clone(), ..Opening::default() };
            Store::open(&folder.path().join("originals.db"), how).unwrap()
        })
    }

    contract::checks!(contract, place);
}

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

#[test]
#[cfg(unix)]
fn a_file_that_is_gone_or_is_another_one_is_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    let store = Store::open(&path, foldline_store::Limits::default()).unwrap();
    let put = |text: &str| store.put(NOW, "", &[new(text, "")]);
    let knows = |text: &str| match store.get(NOW, "", new(text, "").handle) {
        Ok(recall) => matches!(recall, foldline_store::Recall::Found(_)),
        Err(error) => panic!("{error}"),
    };
    put("first").unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(!knows("first"), "what was in the file is gone with it");
    put("second").unwrap();
    assert!(path.exists() && knows("second"), "what is kept is kept where others find it");
    let other = Store::open(&path, foldline_store::Limits::default()).unwrap();
    assert!(matches!(other.get(NOW, "", new("second", "").handle), Ok(foldline_store::Recall::Found(_))));
    drop(other);

    // Somebody puts another file in its place, and takes it away again.
    let strange = folder.path().join("strange");
    std::fs::write(&strange, "no database at all, and long enough to be looked at. ".repeat(100)).unwrap();
    std::fs::rename(&strange, &path).unwrap();
    let error = put("third").unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
    assert!(store.get(NOW, "", new("second", "").handle).is_err());
    std::fs::remove_file(&path).unwrap();
    put("third").unwrap();
    assert!(knows("third"));

    // The whole folder.
    std::fs::remove_dir_all(folder.path()).unwrap();
    put("fourth").unwrap();
    assert!(knows("fourth") && !knows("third"));
}

#[test]
#[cfg(unix)]
fn a_file_that_is_overwritten_is_a_fault_until_it_is_moved_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("originals.db");
    let store = Store::open(&path, foldline_store::Limits::default()).unwrap();
    let put = |text: &str| store.put(NOW, "", &[new(text, "")]);
    put(&"a long text ".repeat(100_000)).unwrap();
    for end in ["", "-wal", "-shm"] {
        let file = format!("{}{end}", path.display());
        std::fs::write(file, "garbage, garbage, garbage. ".repeat(10_000)).unwrap();
    }
    assert!(put("second").is_err());
    assert!(store.stats().is_err());
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{end}", path.display())).unwrap();
    }
    put("third").unwrap();
    assert!(store.stats().is_ok());
}
