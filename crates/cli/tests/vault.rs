//! Encryption of the store and forgetting, as users meet them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Desk, code, errors, text};
use std::path::Path;

const SESSION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/two-hour-session.anthropic.json");

/// Settings that name a key file.
fn with_key() -> Desk {
    let desk = Desk::new();
    let made = desk.run(&["store", "key", "store.key"]);
    assert_eq!(code(&made), 0, "{}", errors(&made));
    assert!(!text(&made).contains(desk.read("store.key").trim()), "the key itself is not shown");
    desk.write("with-key.yaml", &format!("store:\n  key_file: {}\n", desk.path("store.key").display()));
    desk
}

/// Folds the example; returns a handle.
fn fold(desk: &Desk, args: &[&str]) -> String {
    let base = ["compress", SESSION, "--force", "--report", "report.json", "-o", "out.json"];
    let done = desk.run(&[&base, args].concat());
    assert_eq!(code(&done), 0, "{}", errors(&done));
    assert!(!errors(&done).contains("store"), "{}", errors(&done));
    let report: serde_json::Value = serde_json::from_str(&desk.read("report.json")).unwrap();
    let edits = report["edits"].as_array().unwrap();
    edits.iter().find_map(|edit| edit["handle"].as_str()).unwrap().to_owned()
}

/// Whether something in the file of the store is not encrypted.
fn is_plain(desk: &Desk) -> bool {
    let file = rusqlite::Connection::open(desk.path("data/foldline/originals.db")).unwrap();
    let sql = "SELECT count(*) FROM originals WHERE sealed = 0";
    file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0
}

#[cfg(unix)]
fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
#[cfg(unix)]
fn what_is_kept_is_read_with_the_key_only() {
    let desk = with_key();
    let config = ["--config", "with-key.yaml"];
    let handle = fold(&desk, &config);
    let recall = |args: &[&str]| desk.run(&[&["recall", handle.as_str()], args].concat());
    assert_eq!(code(&recall(&config)), 0, "{}", errors(&recall(&config)));
    let found = desk.run(&["search", "test", "--config", "with-key.yaml"]);
    assert_eq!(code(&found), 0, "{}", errors(&found));
    assert!(!is_plain(&desk));

    let without = recall(&[]);
    assert_eq!(code(&without), 2);
    assert!(
        errors(&without).contains("is encrypted, and no key was given; set store.key_file"),
        "{}",
        errors(&without)
    );
    // The same key from the environment, and from a command.
    let key = desk.read("store.key");
    let from_environment = desk.command(&["recall", &handle]).env("FOLDLINE_STORE_KEY", key.trim()).output().unwrap();
    assert_eq!(code(&from_environment), 0, "{}", errors(&from_environment));
    desk.write("command.yaml", "store:\n  key_command: /bin/cat store.key\n");
    assert_eq!(code(&recall(&["--config", "command.yaml"])), 0);
    desk.write("command.yaml", "store:\n  key_command: echo no key; exit 3\n");
    let failed = recall(&["--config", "command.yaml"]);
    assert!(code(&failed) == 2 && errors(&failed).contains("store.key_command"), "{}", errors(&failed));

    mode(&desk.path("store.key"), 0o644);
    let exposed = recall(&config);
    assert!(code(&exposed) == 2 && errors(&exposed).contains("chmod 600"), "{}", errors(&exposed));
    mode(&desk.path("store.key"), 0o600);
    desk.write("store.key", "a pass phrase\n");
    let wrong = recall(&config);
    assert!(code(&wrong) == 2 && errors(&wrong).contains("its key 1 is invalid"), "{}", errors(&wrong));
    assert!(!errors(&wrong).contains("phrase"), "{}", errors(&wrong));
}

#[test]
fn a_store_is_encrypted_later_and_with_other_keys() {
    let desk = with_key();
    let handle = fold(&desk, &[]);
    assert_eq!(code(&desk.run(&["search", "test"])), 0);
    assert!(is_plain(&desk), "what is not encrypted is seen");
    let doctor = text(&desk.run(&["doctor", "--config", "with-key.yaml"]));
    assert!(doctor.contains("run `foldline store rekey`"), "{doctor}");
    for rotations in 0..2 {
        if rotations > 0 {
            assert_eq!(code(&desk.run(&["store", "key", "store.key"])), 2, "no key is overwritten");
            assert_eq!(code(&desk.run(&["store", "key", "--rotate", "store.key"])), 0);
            assert_eq!(desk.read("store.key").lines().count(), 2);
        }
        let done = desk.run(&["store", "rekey", "--config", "with-key.yaml", "--json"]);
        assert_eq!(code(&done), 0, "{}", errors(&done));
        let done: serde_json::Value = serde_json::from_str(&text(&done)).unwrap();
        assert!(done["originals"].as_u64() > Some(0) && done["keys_retired"] == rotations, "{done}");
        assert!(!is_plain(&desk));
        let only = desk.read("store.key").lines().next().unwrap().to_owned();
        desk.write("store.key", &only);
        let status = text(&desk.run(&["store", "status", "--config", "with-key.yaml"]));
        assert!(status.contains("encrypted with key") && !status.contains("rekey"), "{status}");
        assert_eq!(code(&desk.run(&["recall", &handle, "--config", "with-key.yaml"])), 0);
    }
}

#[test]
fn what_is_forgotten_is_gone() {
    let desk = Desk::new();
    let handle = fold(&desk, &[]);
    assert_eq!(code(&desk.run(&["search", "test"])), 0);
    assert!(is_plain(&desk));
    let would = desk.run(&["forget", "--all", "--dry-run", "--json"]);
    let would: serde_json::Value = serde_json::from_str(&text(&would)).unwrap();
    assert!(would["dry_run"] == true && would["originals"].as_u64() > Some(0), "{would}");
    assert_eq!(code(&desk.run(&["recall", &handle])), 0, "nothing went");
    let unknown = desk.run(&["forget", "fs-0123456789abcdef", "--yes"]);
    assert!(
        code(&unknown) == 1 && errors(&unknown).contains("session fs-0123456789abcdef not found"),
        "{}",
        errors(&unknown)
    );
    let old = desk.run(&["forget", "--before", "2020-01-01", "--yes"]);
    assert!(text(&old).contains("deleted: 0 sessions, 0 originals"), "{}", text(&old));
    for wrong in [vec!["forget"], vec!["forget", "--before", "soon"], vec!["forget", "x", "--all"]] {
        assert_eq!(code(&desk.run(&wrong)), 2, "{wrong:?}");
    }
    let done = desk.run(&["forget", "--all", "--yes"]);
    assert!(code(&done) == 0 && text(&done).starts_with("deleted: "), "{}", errors(&done));
    assert!(!is_plain(&desk));
    assert_eq!(code(&desk.run(&["recall", &handle])), 1);
}
