//! What only a look inside the file can show.

use super::checkpoints::keep_fold;
use super::connection::open;
use super::expire::prune;
use super::get::get;
use super::index::index_some;
use super::migrate::{APPLICATION_ID, STEPS};
use super::put::put;
use super::sessions::{session, write};
use super::totals::totals;
use crate::address::Address;
use crate::conversation::{Key, NewCheckpoint, NewFold, Precedence, SessionRow};
use crate::error::Fault;
use crate::forget::{Cleaning, Forget, Forgotten};
use crate::keys::Keyring;
use crate::limits::{Limits, ROW_BYTES};
use crate::noise::noise;
use crate::object_store::{Looked, Objects, Placed};
use crate::opening::Absent;
use crate::original::{NewOriginal, Recall};
use crate::pack::pack;
use crate::seal::Vault;
use crate::search::{Query, Search, Whose};
use crate::sqlite::lock;
use crate::store::Store;
use foldline_core::reading::{Reach, Way};
use foldline_transcript::recall::Handle;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Mutex;
use tempfile::TempDir;

const NOW: i64 = 1_760_000_000_000;

struct Opened {
    folder: TempDir,
    writer: Mutex<Connection>,
    reader: Connection,
}

fn opened() -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits::default();
    let path = folder.path().join("o.db");
    let opened = open(&path, limits.wait, Absent::Create, &Keyring::none()).unwrap();
    Opened { folder, writer: Mutex::new(opened.writer), reader: opened.reader }
}

impl Opened {
    fn path(&self) -> PathBuf {
        self.folder.path().join("o.db")
    }

    fn put(&self, text: &str) -> Result<(), Fault> {
        let original = NewOriginal { handle: Handle::of(text), text, tool: "" };
        put(&self.writer, (&Vault::default(), &Limits::default()), NOW, "", &[original], &Placed::default()).map(drop)
    }

    fn get(&mut self, text: &str) -> Result<Recall, Fault> {
        match get(&mut self.reader, &Vault::default(), "", &Address::from(Handle::of(text)))? {
            Looked::Here(recall) => Ok(recall),
            Looked::Elsewhere(_) => panic!("nothing was given an object"),
        }
    }

    fn run(&self, sql: &str) {
        lock(&self.writer).execute_batch(sql).unwrap();
    }
}

fn fault(path: &std::path::Path) -> Fault {
    Store::open(path, Limits::default()).unwrap_err().fault
}

#[test]
fn a_commit_is_synced_and_logged_ahead() {
    let opened = opened();
    let writer = lock(&opened.writer);
    let pragma = |name| writer.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(pragma("synchronous"), 2, "FULL");
    assert_eq!(pragma("auto_vacuum"), 2, "INCREMENTAL");
    let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    assert!(rusqlite::version_number() >= 3_051_003);
}

#[test]
fn the_handle_column_agrees_with_handles() {
    let opened = opened();
    opened.put("text").unwrap();
    let sql = "SELECT handle FROM originals";
    let written: String = lock(&opened.writer).query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(written, Handle::of("text").to_string());
}

#[test]
fn a_file_of_a_later_release_is_refused_and_kept() {
    let opened = opened();
    opened.run("PRAGMA user_version = 99");
    let error = Store::open(&opened.path(), Limits::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::Newer { found: 99, .. }));
    let expected = format!("has format 99, this release reads up to {}", STEPS.len());
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn an_open_store_goes_on_while_a_later_release_adds_to_the_format() {
    let opened = opened();
    opened.put("before").unwrap();
    let other = Connection::open(opened.path()).unwrap();
    let later = "ALTER TABLE originals ADD COLUMN later INTEGER NOT NULL DEFAULT 0; CREATE TABLE later (id INTEGER);
                 PRAGMA user_version = 99";
    other.execute_batch(later).unwrap();
    opened.put("after").unwrap();
    let count: i64 = lock(&opened.writer).query_row("SELECT count(*) FROM originals", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2);
}

#[test]
fn files_of_others_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("places.sqlite");
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "just a note").unwrap();
    let long_text = folder.path().join("notes.md");
    std::fs::write(&long_text, "just a note\n".repeat(5_000)).unwrap();

    for path in [&database, &text, &long_text] {
        let before = std::fs::read(path).unwrap();
        let fault = fault(path);
        assert!(matches!(fault, Fault::Foreign | Fault::NotADatabase), "{fault:?}");
        assert!(std::fs::read(path).unwrap() == before);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no logs are left beside them");
    assert!(matches!(fault(folder.path()), Fault::Denied(_)));
    let missing = Store::open_existing(&folder.path().join("missing.db"), Limits::default());
    assert!(matches!(missing.unwrap_err().fault, Fault::Missing));
}

#[test]
fn a_damaged_file_is_called_so() {
    let opened = opened();
    for turn in 0..200 {
        opened.put(&format!("text {turn} {}", "x".repeat(turn))).unwrap();
    }
    let path = opened.path();
    drop(opened.writer);
    drop(opened.reader);
    let mut bytes = std::fs::read(&path).unwrap();
    // Everything behind the first page.
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = 0xa5);
    std::fs::write(&path, bytes).unwrap();
    let opened = Store::open(&path, Limits::default());
    let error = opened.and_then(|store| store.get(NOW, "", Handle::of("text 0 "))).unwrap_err();
    assert!(matches!(error.fault, Fault::Corrupt(_)), "{error:?}");
    assert!(error.to_string().contains("o.db: is damaged (database disk image is malformed); move it away"));
}

#[test]
fn a_text_that_is_not_what_was_put_is_not_given_out() {
    let mut opened = opened();
    opened.put("aaaa").unwrap();
    opened.put("bbbb").unwrap();
    opened.run("UPDATE chunks SET bytes = (SELECT bytes FROM chunks WHERE original = 2) WHERE original = 1");
    assert!(matches!(opened.get("aaaa"), Err(Fault::Damaged(_))));
    assert!(matches!(opened.get("bbbb"), Ok(Recall::Found(_))));
    opened.run("UPDATE chunks SET bytes = x'00' WHERE original = 2");
    assert!(matches!(opened.get("bbbb"), Err(Fault::Damaged(_))));
    opened.run("UPDATE originals SET sealed = 1; INSERT INTO seals (key, in_use) VALUES (x'0102030405060708', 1)");
    assert!(matches!(opened.get("bbbb"), Err(Fault::Sealed(_))));
}

#[test]
fn a_full_disk_is_called_so_and_loses_nothing() {
    let mut opened = opened();
    opened.put("kept").unwrap();
    opened.run("PRAGMA max_page_count = 20");
    let large = noise(1, 200_000);
    assert!(matches!(opened.put(&large), Err(Fault::DiskFull)));
    assert!(matches!(opened.get("kept"), Ok(Recall::Found(_))));
    assert!(matches!(opened.get(&large), Ok(Recall::Unknown)));
    opened.run("PRAGMA max_page_count = 100000");
    opened.put(&large).unwrap();
}

#[test]
fn errors_never_repeat_a_text() {
    let opened = opened();
    opened.run("PRAGMA max_page_count = 20");
    let canary = "canary ".repeat(10) + &noise(1, 200_000);
    let fault = opened.put(&canary).unwrap_err();
    assert!(!format!("{fault} {fault:?}").contains("canary"));
}

#[test]
fn nothing_on_the_way_of_a_put_or_get_scans_a_table() {
    let opened = opened();
    let writer = lock(&opened.writer);
    for sql in [
        "SELECT id FROM originals WHERE namespace = ?1 AND digest = ?2",
        "SELECT id FROM originals WHERE namespace = ?1 AND digest BETWEEN ?2 AND ?3",
        "SELECT id, size, footprint FROM originals WHERE used_at < ?1 ORDER BY used_at, id LIMIT ?2",
        "DELETE FROM originals WHERE id = ?1",
        "DELETE FROM tombstones WHERE namespace = ?1 AND digest = ?2",
        "SELECT id FROM tombstones WHERE expired_at < ?1 ORDER BY expired_at LIMIT ?2",
        "SELECT bytes FROM chunks WHERE original = ?1 ORDER BY part",
        "UPDATE originals SET parts = ?3 WHERE id = ?1 AND digest = ?2 AND parts IS NULL",
        "SELECT id FROM namespaces WHERE name = ?1",
        "SELECT session FROM removals WHERE original = ?1 ORDER BY session LIMIT ?2",
        "SELECT 1 FROM removals WHERE session = ?1 AND original = ?2",
    ] {
        let mut plan = writer.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let blanks = rusqlite::params_from_iter(std::iter::repeat_n(0, plan.parameter_count()));
        let steps: Vec<String> = plan.query_map(blanks, |row| row.get(3)).unwrap().collect::<Result<_, _>>().unwrap();
        assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{sql}: {steps:?}");
    }
}

#[test]
fn the_footprint_covers_what_tiny_originals_take() {
    let opened = opened();
    let texts: Vec<_> = (0..5_000).map(|number| number.to_string()).collect();
    let batch: Vec<_> = texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect();
    put(&opened.writer, (&Vault::default(), &Limits::default()), NOW, "", &batch, &Placed::default()).unwrap();
    prune(&opened.writer, &Limits::default(), NOW).unwrap();
    let on_disk = std::fs::metadata(opened.path()).unwrap().len();
    let counted = totals(&opened.reader).unwrap().stored_bytes;
    assert!(counted > 5_000 * ROW_BYTES);
    assert!(on_disk < counted * 5 / 4, "{on_disk} on the disk, {counted} counted");
}

#[test]
fn a_prune_gives_space_back_to_the_disk() {
    let opened = opened();
    let empty = super::file_bytes(&opened.path());
    let large = noise(1, 1_000_000);
    opened.put(&large).unwrap();
    let before = super::file_bytes(&opened.path());
    let pruned = prune(&opened.writer, &Limits { max_bytes: 0, ..Limits::default() }, NOW).unwrap();
    assert_eq!(pruned.oversized, 1);
    let after = super::file_bytes(&opened.path());
    assert!(after < empty + 50_000 && before > empty + 500_000, "{empty} → {before} → {after}");
}

fn rows_in_the_index(opened: &Opened) -> i64 {
    lock(&opened.writer).query_row("SELECT count(*) FROM words_docsize", [], |row| row.get(0)).unwrap()
}

fn search(store: &Store, words: &str) -> foldline_core::reading::Findings {
    let query = Query::parse(words).unwrap();
    let search = Search { query: &query, whose: Whose::Everybody, session: None, limit: 10 };
    store.search(&search, &Way::of(Reach::Command)).unwrap()
}

/// A file as an earlier release left it, with one original of namespace ``.
fn earlier(format: usize, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = Connection::open(folder.path().join("o.db")).unwrap();
    STEPS[..format].iter().for_each(|step| file.execute_batch(step).unwrap());
    file.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {format}")).unwrap();
    let digest = crate::address::Digest::of(text);
    file.execute(
        "INSERT INTO originals (digest, created_at, used_at, size, footprint) VALUES (?1, ?2, ?2, ?3, 300)",
        rusqlite::params![digest.as_bytes(), NOW, text.len() as i64],
    )
    .unwrap();
    pack(text, |bytes| file.execute("INSERT INTO chunks VALUES (1, 0, ?1)", [bytes]).map(drop).map_err(Fault::from))
        .unwrap();
    folder
}

#[test]
fn originals_of_earlier_formats_are_searched() {
    for format in 1..STEPS.len() {
        let folder = earlier(format, "written by an earlier release");
        let store = Store::open(&folder.path().join("o.db"), Limits::default()).unwrap();
        assert_eq!(search(&store, "earlier").hits.len(), 1);
        assert_eq!(store.index(u64::MAX).unwrap(), 0, "nothing waits");
    }
}

#[test]
fn checkpoints_of_an_earlier_format_are_forgotten_with_their_session() {
    let folder = earlier(6, "text");
    let path = folder.path().join("o.db");
    let root = "0a".repeat(32);
    Connection::open(&path)
        .unwrap()
        .execute_batch(&format!(
            "INSERT INTO sessions VALUES ('s', 'a', 1, '{{\"lanes\":[{{\"root\":\"{root}\"}}]}}'), ('t', 'a', 1, 'no JSON');
             INSERT INTO checkpoints (namespace, key, root, position, record, size, bytes, created_at, used_at)
             VALUES ('a', x'{}', x'{root}', 1, '', 0, x'', 1, 1), ('a', x'{}', x'{}', 1, '', 0, x'', 1, 1)",
            "01".repeat(32),
            "02".repeat(32),
            "0b".repeat(32),
        ))
        .unwrap();
    let store = Store::open(&path, Limits::default()).unwrap();
    let forget = Forget { whose: Whose::Namespace("a"), what: Forgotten::Session("s") };
    let gone = store.forget(&forget, Cleaning::Thorough).unwrap();
    assert_eq!((gone.sessions, gone.checkpoints), (1, 1));
}

#[test]
fn an_original_that_goes_leaves_the_index() {
    let mut opened = opened();
    for text in ["one", "two", "three"] {
        opened.put(text).unwrap();
    }
    while index_some(&mut opened.reader, &opened.writer, &Vault::default(), &Objects::default()).unwrap() > 0 {}
    assert_eq!(rows_in_the_index(&opened), 3);
    opened.run("DELETE FROM originals WHERE id = 2");
    assert_eq!(rows_in_the_index(&opened), 2);
    let store = Store::open(&opened.path(), Limits::default()).unwrap();
    assert!(search(&store, "two").hits.is_empty());
    assert_eq!(search(&store, "three").hits.len(), 1);
    prune(&opened.writer, &Limits { max_bytes: 0, ..Limits::default() }, NOW).unwrap();
    assert_eq!(rows_in_the_index(&opened), 0);
    opened.run("CREATE VIRTUAL TABLE temp.left_over USING fts5vocab (main, words, row)");
    let left: i64 = lock(&opened.writer).query_row("SELECT count(*) FROM left_over", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "not even the words are left");
}

#[test]
fn rows_of_one_original_are_deleted_without_a_scan() {
    let opened = opened();
    let writer = lock(&opened.writer);
    let sql = "EXPLAIN QUERY PLAN SELECT rowid FROM words WHERE rowid BETWEEN ?1 AND ?2";
    let step: String = writer.query_row(sql, [0, 1], |row| row.get(3)).unwrap();
    assert!(step.contains("VIRTUAL TABLE INDEX 0:<>") || step.contains("VIRTUAL TABLE INDEX 0:><"), "{step}");
}

#[test]
fn encrypted_and_damaged_originals_are_passed_over() {
    let mut opened = opened();
    opened.put("sealed words").unwrap();
    opened.run("UPDATE originals SET sealed = 1");
    opened.put("damaged words").unwrap();
    opened.run("UPDATE chunks SET bytes = x'00' WHERE original = 2");
    opened.put("sound words").unwrap();
    while index_some(&mut opened.reader, &opened.writer, &Vault::default(), &Objects::default()).unwrap() > 0 {}
    let store = Store::open(&opened.path(), Limits::default()).unwrap();
    let found = search(&store, "words");
    assert_eq!((found.hits.len(), found.hits[0].text.as_str(), found.waiting), (1, "sound words", 0));
}

#[test]
fn a_search_goes_on_when_the_index_cannot_be_written() {
    let opened = opened();
    opened.put("first words").unwrap();
    let store = Store::open(&opened.path(), Limits { wait: std::time::Duration::ZERO, ..Limits::default() }).unwrap();
    store.index(u64::MAX).unwrap();
    opened.put("second words").unwrap();
    opened.run("BEGIN IMMEDIATE");
    let found = search(&store, "words");
    assert_eq!((found.hits.len(), found.waiting), (1, 1));
    assert!(found.told(|_| String::new()).contains("1 older original not searched yet"));
    opened.run("ROLLBACK");
    assert_eq!(search(&store, "words").hits.len(), 2);
}

/// Bytes that a namespace takes, by the running sums and counted anew.
fn taken(opened: &Opened, namespace: &str) -> (i64, i64) {
    let sum = "SELECT originals + checkpoints + sessions FROM tenants WHERE namespace = ?1";
    let count = "SELECT (SELECT coalesce(sum(footprint), 0) FROM originals WHERE namespace = ?1)
                      + (SELECT coalesce(sum(length(bytes) + 256), 0) FROM checkpoints WHERE namespace = ?1)
                      + (SELECT coalesce(sum(length(record) + 256), 0) FROM sessions WHERE namespace = ?1)";
    let ask = |sql| lock(&opened.writer).query_row(sql, [namespace], |row| row.get(0)).unwrap_or(0);
    (ask(sum), ask(count))
}

fn fold(opened: &Opened, limits: &Limits, now: i64, namespace: &str, number: u8, original: &str) -> Result<(), Fault> {
    let session = SessionRow {
        id: format!("{namespace}-{number}"),
        namespace: namespace.to_owned(),
        last_at: now,
        record: "{}".repeat(200),
    };
    let text = noise(u64::from(number) + 1_000, 20_000);
    let checkpoint =
        NewCheckpoint { key: Key([number; 32]), root: Key([0; 32]), position: 1, record: "{}", text: &text };
    let originals = [NewOriginal { handle: Handle::of(original), text: original, tool: "bash" }];
    let fold =
        NewFold { namespace, originals: &originals, checkpoint, precedence: Precedence::Latest, session: &session };
    keep_fold(&opened.writer, (&Vault::default(), limits), now, &fold, None, &Placed::default()).map(drop)
}

#[test]
fn one_client_cannot_crowd_out_another() {
    let mut opened = opened();
    let limits = Limits { max_bytes: 2_000_000, ..Limits::default() };
    let mine: Vec<String> = (0..3).map(|n| noise(n, 100_000)).collect();
    for (n, text) in (0..).zip(&mine) {
        fold(&opened, &limits, NOW, "a", n, text).unwrap();
    }
    let (before, _) = taken(&opened, "a");
    for n in 0..30 {
        fold(&opened, &limits, NOW + 1_000 + i64::from(n), "b", n, &noise(100 + u64::from(n), 200_000)).unwrap();
    }
    assert_eq!(taken(&opened, "a"), (before, before), "not a byte is gone");
    let (theirs, counted) = taken(&opened, "b");
    assert_eq!(theirs, counted, "running sums are right");
    assert!(theirs + before <= 2_000_000, "all together keep to the limit: {theirs} and {before}");
    let found = get(&mut opened.reader, &Vault::default(), "a", &Address::from(Handle::of(&mine[0]))).unwrap();
    assert!(matches!(found, Looked::Here(Recall::Found(_))));
}

#[test]
fn a_quota_holds_although_there_is_room() {
    let opened = opened();
    let limits = Limits { max_bytes: 50_000_000, max_bytes_per_namespace: Some(500_000), ..Limits::default() };
    for n in 0..20 {
        fold(&opened, &limits, NOW + i64::from(n), "b", n, &noise(u64::from(n), 100_000)).unwrap();
    }
    let (taken, counted) = taken(&opened, "b");
    assert!(taken == counted && taken <= 500_000, "{taken} {counted}");
    let too_large = fold(&opened, &limits, NOW + 100, "b", 99, &noise(7, 2_000_000)).unwrap_err();
    assert!(matches!(too_large, Fault::TooLarge { limit: 500_000, .. }), "{too_large}");
}

#[test]
fn sessions_count_and_the_oldest_go() {
    let opened = opened();
    let limits = Limits { max_bytes: 1_600_000, ..Limits::default() };
    let row = |n: i64| SessionRow {
        id: format!("s{n}"),
        namespace: "b".to_owned(),
        last_at: NOW + n,
        record: "x".repeat(744),
    };
    for start in (0..500).step_by(50) {
        let rows: Vec<SessionRow> = (start..start + 50).map(row).collect();
        write(&opened.writer, &Vault::default(), &limits, NOW + 500, (&rows, &[]), None).unwrap();
    }
    let (taken, counted) = taken(&opened, "b");
    assert!(taken == counted && taken <= 100_000, "{taken} {counted}");
    assert!(
        session(&opened.reader, &Vault::default(), "s499").unwrap().is_some()
            && session(&opened.reader, &Vault::default(), "s0").unwrap().is_none()
    );
}

#[test]
fn a_clock_that_is_ahead_for_a_while_costs_nothing() {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let mut opened = opened();
    let limits = Limits::of(1_000_000_000, 30);
    let put_at = |opened: &Opened, now: i64, text: &str| {
        let original = NewOriginal { handle: Handle::of(text), text, tool: "" };
        put(&opened.writer, (&Vault::default(), &limits), now, "", &[original], &Placed::default()).unwrap();
        let row = SessionRow { id: text.to_owned(), namespace: String::new(), last_at: now, record: "{}".to_owned() };
        write(&opened.writer, &Vault::default(), &limits, now, (&[row], &[]), None).unwrap();
    };
    put_at(&opened, NOW, "old");
    // A year ahead, for two hours.
    for minutes in [0, 30, 120] {
        put_at(&opened, NOW + 365 * DAY + minutes * 60_000, "meanwhile");
        prune(&opened.writer, &limits, NOW + 365 * DAY + minutes * 60_000).unwrap();
    }
    put_at(&opened, NOW + DAY / 2, "right again");
    assert!(matches!(opened.get("old").unwrap(), Recall::Found(_)));
    assert!(session(&opened.reader, &Vault::default(), "old").unwrap().is_some());
    // Time that really passes: a store that rests for long, and is used again.
    put_at(&opened, NOW + 40 * DAY, "after a rest");
    assert!(matches!(opened.get("old").unwrap(), Recall::Found(_)), "not at once");
    put_at(&opened, NOW + 41 * DAY, "a day later");
    assert!(matches!(opened.get("old").unwrap(), Recall::Expired { .. }));
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_taken_from_them() {
    use std::os::unix::fs::PermissionsExt;
    let opened = opened();
    let mode = |mode: u32| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(opened.path(), mode(0o644)).unwrap();
    Store::open(&opened.path(), Limits::default()).unwrap();
    assert_eq!(std::fs::metadata(opened.path()).unwrap().permissions().mode() & 0o777, 0o600);
    let link = opened.folder.path().join("link.db");
    std::os::unix::fs::symlink(opened.path(), &link).unwrap();
    assert!(matches!(fault(&link), Fault::Link));
    std::fs::set_permissions(opened.folder.path(), mode(0o777)).unwrap();
    assert!(matches!(fault(&opened.path()), Fault::OpenFolder(0o777)));
    std::fs::set_permissions(opened.folder.path(), mode(0o1777)).unwrap();
    Store::open(&opened.path(), Limits::default()).unwrap();
}
