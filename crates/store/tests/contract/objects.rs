//! What a store has to do whose large texts are files of a folder beside it.

use crate::support::{DAY, NOW, found, holds, new, noise};
use foldline_core::reading::{Reach, Way};
use foldline_store::{
    Cleaning, Cursor, Fault, Forget, Forgotten, Kept, Key, Keyring, Limits, NewCheckpoint, NewFold, ObjectPlace,
    Opening, Precedence, Query, Recall, Record, Search, SessionRow, Store, StoreError, Whose,
};
use foldline_transcript::recall::Handle;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Texts from here on are in files.
pub(crate) const LARGE: u64 = 2_000;

/// Opens a database in some way, as often as one likes.
pub(crate) type Open = Box<dyn Fn(Opening) -> Result<Store, StoreError>>;

/// A database, and a folder beside it.
pub(crate) struct Beside {
    pub(crate) open: Open,
    pub(crate) folder: tempfile::TempDir,
}

/// Hands every check to a macro, which makes a test of each.
macro_rules! object_checks {
    ($make:ident, $beside:expr) => {
        $make! { $beside;
            large_texts_are_files_and_small_ones_are_not
            names_tell_nothing_and_files_are_for_their_owner
            what_no_row_came_for_is_swept
            one_store_never_sweeps_another
            a_lost_object_is_told
            what_is_forgotten_leaves_no_file
            what_expires_leaves_no_file
            what_is_refused_leaves_no_file
            a_fold_that_is_known_leaves_no_file
            a_text_that_cannot_be_written_is_not_kept
            without_the_place_the_store_is_not_opened
            other_keys_make_other_files
            an_export_moves_in_and_out
        }
    };
}
pub(crate) use object_checks;

impl Beside {
    pub(crate) fn place(&self) -> ObjectPlace {
        ObjectPlace { url: format!("file://{}", self.files_folder().display()), min_bytes: LARGE }
    }

    fn files_folder(&self) -> PathBuf {
        self.folder.path().join("texts")
    }

    fn opening(&self) -> Opening {
        Opening { originals: Some(self.place()), ..Opening::default() }
    }

    fn store(&self) -> Store {
        (self.open)(self.opening()).unwrap()
    }

    /// The files of all texts.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = below(&self.files_folder());
        files.retain(|file| file.file_name().unwrap() != "clock");
        files
    }

    /// Makes every file as old as those that nobody waits for.
    fn age(&self) {
        for file in self.files() {
            let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
            std::fs::File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

fn put(store: &Store, namespace: &str, text: &str) {
    store.put(NOW, namespace, &[new(text, "bash")]).unwrap();
}

fn get(store: &Store, namespace: &str, text: &str) -> Result<Recall, StoreError> {
    store.get(NOW, namespace, Handle::of(text))
}

fn exported(store: &Store) -> (Vec<Record>, u64) {
    let mut cursor = Cursor::default();
    let mut records = Vec::new();
    loop {
        let page = store.page(&mut cursor).unwrap();
        if page.is_empty() {
            return (records, cursor.left_out());
        }
        records.extend(page);
    }
}

fn finds(store: &Store, word: &str) -> usize {
    let query = Query::parse(word).unwrap();
    let search = Search { query: &query, whose: Whose::Namespace("a"), session: None, limit: 5 };
    store.search(&search, &Way::of(Reach::Command)).unwrap().hits.len()
}

pub(crate) fn large_texts_are_files_and_small_ones_are_not(beside: Beside) {
    let store = beside.store();
    let large = noise(1, 100_000);
    put(&store, "a", "small");
    assert_eq!(beside.files().len(), 0);
    put(&store, "a", &large);
    put(&store, "a", &large);
    assert_eq!(beside.files().len(), 1, "what is known is not written again");
    let size = beside.files()[0].metadata().unwrap().len();
    assert!(size > LARGE && size < 100_000, "{size}");
    for text in ["small", &large] {
        assert_eq!(found(get(&store, "a", text).unwrap()).text, *text);
        assert_eq!(get(&store, "b", text).unwrap(), Recall::Unknown, "one client never sees another");
    }
    // What it takes counts as in the database, and a second client has a text of its own.
    let taken = store.stats().unwrap().stored_bytes;
    assert!(taken > size && taken < size + 2_000, "{taken}");
    put(&store, "b", &large);
    assert_eq!(beside.files().len(), 2);
    store.probe().unwrap();
    assert_eq!(store.check(&mut |_| {}).unwrap(), Vec::<String>::new());
    beside.age();
    assert_eq!(store.vacuum().unwrap(), 0, "all of them are needed");
    assert_eq!(found(get(&store, "b", &large).unwrap()).text, large);
}

pub(crate) fn names_tell_nothing_and_files_are_for_their_owner(beside: Beside) {
    let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
    let store = (beside.open)(Opening { keys, ..beside.opening() }).unwrap();
    let text = format!("a word that nobody guesses {}", noise(2, 10_000));
    put(&store, "somebody", &text);
    let digest = found(get(&store, "somebody", &text).unwrap()).digest.to_string();
    let [file] = &beside.files()[..] else { panic!("one text, one file") };
    let name = file.display().to_string();
    assert!(!name.contains("somebody") && !name.contains(&digest[..12]), "{name}");
    assert!(!holds(&std::fs::read(file).unwrap(), "a word that nobody guesses"));
    #[cfg(unix)]
    for path in file.ancestors().take_while(|path| *path != beside.folder.path()) {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

pub(crate) fn what_no_row_came_for_is_swept(beside: Beside) {
    let store = beside.store();
    let (kept, lost) = (noise(1, 20_000), noise(2, 20_000));
    put(&store, "a", &kept);
    let [file] = &beside.files()[..] else { panic!("one text, one file") };
    // As a process leaves it that is killed before its row is there.
    let shard = file.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let orphan = file.with_file_name(format!("{shard}{}", "0".repeat(30)));
    std::fs::write(&orphan, &lost).unwrap();
    assert_eq!(store.vacuum().unwrap(), 0, "somebody may be about to commit its row");
    beside.age();
    assert_eq!(store.vacuum().unwrap(), 1);
    assert!(!orphan.exists());
    assert_eq!(found(get(&store, "a", &kept).unwrap()).text, kept);
}

pub(crate) fn one_store_never_sweeps_another(beside: Beside) {
    let store = beside.store();
    put(&store, "a", &noise(1, 20_000));
    let folder = tempfile::tempdir().unwrap();
    let other = Store::open(&folder.path().join("other.db"), beside.opening()).unwrap();
    put(&other, "a", &noise(2, 20_000));
    beside.age();
    assert_eq!((store.vacuum().unwrap(), other.vacuum().unwrap()), (0, 0));
    assert_eq!(beside.files().len(), 2);
}

pub(crate) fn a_lost_object_is_told(beside: Beside) {
    let store = beside.store();
    let text = format!("needle {}", noise(1, 20_000));
    put(&store, "a", "small");
    put(&store, "a", &text);
    assert_eq!(finds(&store, "needle"), 1);
    let [file] = &beside.files()[..] else { panic!("one text, one file") };
    let bytes = std::fs::read(file).unwrap();
    std::fs::remove_file(file).unwrap();
    let error = get(&store, "a", &text).unwrap_err();
    assert!(matches!(error.fault, Fault::MissingObject(_)), "{error}");
    assert!(error.to_string().contains("missing from the object store"), "{error}");
    let wrong = store.check(&mut |_| {}).unwrap();
    assert!(matches!(&wrong[..], [line] if line.contains("its object is missing")), "{wrong:?}");
    let (records, left_out) = exported(&store);
    assert_eq!((records.len(), left_out), (1, 1), "the other one is exported");
    assert_eq!(finds(&store, "needle"), 0, "a search passes it over");
    assert_eq!(found(get(&store, "a", "small").unwrap()).text, "small");

    std::fs::write(file, b"something else").unwrap();
    assert!(matches!(get(&store, "a", &text).unwrap_err().fault, Fault::Damaged(_)));
    assert!(store.check(&mut |_| {}).unwrap()[0].contains("is damaged"));
    std::fs::write(file, bytes).unwrap();
    assert_eq!(found(get(&store, "a", &text).unwrap()).text, text, "restored");
}

pub(crate) fn what_is_forgotten_leaves_no_file(beside: Beside) {
    let store = beside.store();
    put(&store, "a", &noise(1, 20_000));
    put(&store, "b", &noise(2, 20_000));
    let forget = Forget { whose: Whose::Namespace("a"), what: Forgotten::All };
    assert_eq!(store.forget(&forget, Cleaning::Gentle).unwrap().originals, 1);
    assert_eq!(beside.files().len(), 1, "that of somebody else");

    // A file that cannot be deleted is no reason to forget it.
    let folder = beside.files()[0].parent().unwrap().to_owned();
    let file = beside.files()[0].clone();
    std::fs::rename(&file, folder.join("away")).unwrap();
    std::fs::create_dir_all(file.join("in the way")).unwrap();
    let forget = Forget { whose: Whose::Everybody, what: Forgotten::All };
    let error = store.forget(&forget, Cleaning::Gentle).unwrap_err();
    assert!(matches!(error.fault, Fault::ObjectsLeft(_)), "{error}");
    assert!(store.vacuum().is_err(), "still in the way");
    std::fs::remove_dir_all(&file).unwrap();
    std::fs::rename(folder.join("away"), &file).unwrap();
    assert_eq!(store.vacuum().unwrap(), 1);
    assert_eq!(beside.files().len(), 0);
}

pub(crate) fn what_expires_leaves_no_file(beside: Beside) {
    let store = beside.store();
    put(&store, "a", &noise(1, 20_000));
    // By age, as a put does it; files go when nobody waits.
    store.put(NOW + 31 * DAY, "a", &[new(&noise(2, 20_000), "")]).unwrap();
    store.index(1 << 20).unwrap();
    assert_eq!(beside.files().len(), 1);
    store.prune(NOW + 90 * DAY).unwrap();
    assert_eq!(beside.files().len(), 0);
    // By size.
    let limits = Limits { max_bytes: 50_000, ..Limits::default() };
    let store = (beside.open)(Opening { limits, ..beside.opening() }).unwrap();
    for (seed, at) in (10..20).zip(NOW + 91 * DAY..) {
        store.put(at, "a", &[new(&noise(seed, 20_000), "")]).unwrap();
    }
    store.index(1 << 20).unwrap();
    let kept = usize::try_from(store.stats().unwrap().originals).unwrap();
    assert!(kept < 10 && beside.files().len() == kept, "{kept} of {:?}", beside.files());
}

pub(crate) fn what_is_refused_leaves_no_file(beside: Beside) {
    let limits = Limits { max_bytes: 50_000, ..Limits::default() };
    let store = (beside.open)(Opening { limits, ..beside.opening() }).unwrap();
    let text = noise(1, 200_000);
    let error = store.put(NOW, "a", &[new(&text, "")]).unwrap_err();
    assert!(matches!(error.fault, Fault::TooLarge { .. }), "{error}");
    store.index(1 << 20).unwrap();
    assert_eq!(beside.files().len(), 0);
    assert_eq!(get(&store, "a", &text).unwrap(), Recall::Unknown);
}

pub(crate) fn a_fold_that_is_known_leaves_no_file(beside: Beside) {
    let store = beside.store();
    let session = SessionRow { id: "s".into(), namespace: "a".into(), last_at: NOW, record: "{}".into() };
    let checkpoint =
        NewCheckpoint { key: Key([7; 32]), root: Key([8; 32]), position: 4, record: "{}", text: "handoff" };
    let keep = |text: &str| {
        let originals = [new(text, "bash")];
        let precedence = Precedence::First;
        let fold = NewFold { namespace: "a", originals: &originals, checkpoint, precedence, session: &session };
        store.keep_fold(NOW, &fold).unwrap()
    };
    let (first, second) = (noise(1, 20_000), noise(2, 20_000));
    assert!(matches!(keep(&first), Kept::Written));
    assert!(matches!(keep(&second), Kept::Known));
    assert!(matches!(keep(&first), Kept::Known));
    store.index(1 << 20).unwrap();
    assert_eq!(beside.files().len(), 1);
    assert_eq!(found(get(&store, "a", &first).unwrap()).text, first);
    assert_eq!(get(&store, "a", &second).unwrap(), Recall::Unknown);
}

pub(crate) fn a_text_that_cannot_be_written_is_not_kept(beside: Beside) {
    let store = beside.store();
    std::fs::write(beside.files_folder(), "no folder").unwrap();
    let text = noise(1, 20_000);
    let error = store.put(NOW, "a", &[new("small", ""), new(&text, "")]).unwrap_err();
    assert!(error.to_string().contains("the object store file://"), "{error}");
    assert!(store.probe().is_err());
    for text in ["small", &text] {
        assert_eq!(get(&store, "a", text).unwrap(), Recall::Unknown, "all or nothing");
    }
    put(&store, "a", "small");
    std::fs::remove_file(beside.files_folder()).unwrap();
    put(&store, "a", &text);
    assert_eq!(found(get(&store, "a", &text).unwrap()).text, text);
}

pub(crate) fn without_the_place_the_store_is_not_opened(beside: Beside) {
    drop((beside.open)(Opening::default()).unwrap());
    let store = beside.store();
    put(&store, "a", "small");
    drop((beside.open)(Opening::default()).unwrap());
    put(&store, "a", &noise(1, 20_000));
    let error = (beside.open)(Opening::default()).unwrap_err();
    assert!(matches!(error.fault, Fault::NoObjects), "{error}");
    assert!(error.to_string().contains("set store.originals"), "{error}");
}

pub(crate) fn other_keys_make_other_files(beside: Beside) {
    let text = format!("a word that nobody guesses {}", noise(1, 20_000));
    let store = beside.store();
    put(&store, "a", &text);
    put(&store, "a", "small");
    let before = beside.files();
    let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
    store.set_keys(keys).unwrap();
    assert_eq!(found(get(&store, "a", &text).unwrap()).text, text, "under no key");
    let done = store.rekey(&mut |_| {}).unwrap();
    assert_eq!((done.originals, done.damaged), (2, 0));
    assert!(beside.files().len() == 1 && beside.files() != before, "{before:?} {:?}", beside.files());
    assert!(!holds(&std::fs::read(&beside.files()[0]).unwrap(), "a word that nobody guesses"));
    assert_eq!(found(get(&store, "a", &text).unwrap()).text, text);
    assert_eq!(finds(&store, "guesses"), 1);
    assert_eq!(store.check(&mut |_| {}).unwrap(), Vec::<String>::new());
}

pub(crate) fn an_export_moves_in_and_out(beside: Beside) {
    let store = beside.store();
    let (large, larger) = (noise(1, 20_000), noise(2, 900_000));
    for text in ["small", &large, &larger] {
        put(&store, "a", text);
    }
    let (records, left_out) = exported(&store);
    assert_eq!((records.len(), left_out), (3, 0));
    let folder = tempfile::tempdir().unwrap();
    let plain = Store::open(&folder.path().join("plain.db"), Limits::default()).unwrap();
    assert_eq!(plain.add(&records).unwrap(), 3);
    assert_eq!(exported(&plain).0, records);
    let mixed = Opening { originals: Some(beside.place()), ..Opening::default() };
    let mixed = Store::open(&folder.path().join("mixed.db"), mixed).unwrap();
    assert_eq!((mixed.add(&records).unwrap(), mixed.add(&records).unwrap()), (3, 0));
    assert_eq!(exported(&mixed).0, records);
    assert_eq!(beside.files().len(), 4, "two texts of two stores; what is known is not written again");
    for store in [&plain, &mixed] {
        for text in ["small", &large, &larger] {
            assert_eq!(found(get(store, "a", text).unwrap()).text, *text);
        }
        assert_eq!(store.check(&mut |_| {}).unwrap(), Vec::<String>::new());
    }
    assert_eq!(plain.stats().unwrap().stored_bytes, mixed.stats().unwrap().stored_bytes, "they take the same");
}
