//! The store: two connections to one SQLite file, and the calls on them.

use crate::address::Address;
use crate::conversation::{CheckpointEntry, EventRow, Kept, Key, NewFold, SessionRow, WindowRow};
use crate::error::{Fault, StoreError};
use crate::file_identity::OpenFiles;
use crate::forget::{Cleaning, Forget, Gone, Rekeyed};
use crate::keys::{KeyId, Keyring};
use crate::limits::{Limits, USE_GRAIN, millis};
use crate::original::{NewOriginal, Pruned, Recall, Stats, Stored};
use crate::seal::Vault;
use crate::search::Search;
use crate::sqlite::{self, Absent, Opened, lock};
use foldline_core::reading::{Findings, Way};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// A store of originals. Share it between threads by reference.
///
/// A lock around the writing connection does what a writer thread would do: callers wait until their
/// text is durable in any case, SQLite admits one writer at a time in any case, and a lock has no
/// channel to fill up and no thread to stop. A connection of its own lets recalls go on meanwhile.
#[derive(Debug)]
pub struct Store {
    place: PathBuf,
    limits: Limits,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    /// The file that the connections are to, and its log; absent when it could not be opened again.
    open: Mutex<OpenFiles>,
    keys: RwLock<Keyring>,
    vault: RwLock<Arc<Vault>>,
}

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// How much is kept, and for how long.
    pub limits: Limits,
    /// What it is encrypted with; not at all when there are none.
    pub keys: Keyring,
}

impl From<Limits> for Opening {
    fn from(limits: Limits) -> Opening {
        Opening { limits, keys: Keyring::none() }
    }
}

impl Store {
    /// Opens a store; makes the file, for its owner only, and its folders where they are missing.
    pub fn open(place: &Path, how: impl Into<Opening>) -> Result<Store, StoreError> {
        Store::connect(place, how.into(), Absent::Create)
    }

    /// Opens a store that exists already.
    pub fn open_existing(place: &Path, how: impl Into<Opening>) -> Result<Store, StoreError> {
        Store::connect(place, how.into(), Absent::Refuse)
    }

    fn connect(place: &Path, how: Opening, absent: Absent) -> Result<Store, StoreError> {
        let Opening { limits, keys } = how;
        let opened = sqlite::open(place, limits.wait, absent, &keys);
        let Opened { writer, reader, vault } = opened.map_err(|fault| fault.at(place, limits.wait))?;
        Ok(Store {
            place: place.to_owned(),
            limits,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            open: Mutex::new(OpenFiles::at(place)),
            keys: RwLock::new(keys),
            vault: RwLock::new(Arc::new(vault)),
        })
    }

    /// Opens the place anew when the file that stands there is not the one that is open.
    fn refresh(&self) -> Result<(), StoreError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_there(&self.place) {
            return Ok(());
        }
        let (mut writer, mut reader) = (lock(&self.writer), lock(&self.reader));
        // The old connections go first: what SQLite keeps beside the file has the same name for both.
        let (no_writer, no_reader) = self.told(nothing())?;
        (*writer, *reader) = (no_writer, no_reader);
        std::mem::take(&mut *open).remove_log(&self.place);
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        let opened = self.told(sqlite::open(&self.place, self.limits.wait, Absent::Create, &keys))?;
        (*writer, *reader) = (opened.writer, opened.reader);
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened.vault);
        *open = OpenFiles::at(&self.place);
        Ok(())
    }

    /// Other keys from now on: the first writes, all read. Refuses when one is missing that something is encrypted with.
    pub fn set_keys(&self, keys: Keyring) -> Result<(), StoreError> {
        let vault = self.told(sqlite::enter(self.writer()?, &keys))?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(vault);
        Ok(())
    }

    /// The names of the keys that it was given, the one that writes first.
    pub fn keys(&self) -> Vec<KeyId> {
        self.vault().ids()
    }

    fn vault(&self) -> Arc<Vault> {
        Arc::clone(&self.vault.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn writer(&self) -> Result<&Mutex<Connection>, StoreError> {
        self.refresh().map(|()| &self.writer)
    }

    fn reader(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        self.refresh().map(|()| lock(&self.reader))
    }

    /// The namespaces that know an address: for the owner of the file, never for a client.
    pub fn namespaces(&self, address: impl Into<Address>) -> Result<Vec<String>, StoreError> {
        self.told(sqlite::namespaces(&*self.reader()?, &self.vault(), &address.into()))
    }

    /// Keeps texts under a namespace, all or none. When it returns they are on the disk. Lets go of what
    /// exceeds the limits, but never of what it was just given.
    pub fn put(&self, now_ms: i64, namespace: &str, originals: &[NewOriginal<'_>]) -> Result<Stored, StoreError> {
        self.told(sqlite::put(self.writer()?, &self.vault(), &self.limits, now_ms, namespace, originals))
    }

    /// The original under a handle or a longer address. Notes that it was used.
    pub fn get(&self, now_ms: i64, namespace: &str, address: impl Into<Address>) -> Result<Recall, StoreError> {
        let address = address.into();
        let recall = self.told(sqlite::get(&mut *self.reader()?, &self.vault(), namespace, &address))?;
        if let Recall::Found(original) = &recall
            && original.used_at < now_ms.saturating_sub(millis(USE_GRAIN))
        {
            // The text is at hand: a disk that is full or read-only is no reason to withhold it.
            let _unnoted = sqlite::note_use(&lock(&self.writer), &self.vault(), now_ms, namespace, &original.digest);
        }
        Ok(recall)
    }

    /// Puts originals into the index that are not there yet, the newest first, until about `most_bytes` of text are done.
    /// Returns how many still wait. Others write in between.
    pub fn index(&self, most_bytes: u64) -> Result<u64, StoreError> {
        // Mostly there is nothing to do, and that is known at once.
        if self.told(sqlite::waiting(&*self.reader()?))? == 0 {
            return Ok(0);
        }
        let writer = self.writer()?;
        let mut reader = self.told(sqlite::open_reader(&self.place, self.limits.wait))?;
        let mut done = 0;
        while done < most_bytes {
            match self.told(sqlite::index_some(&mut reader, writer, &self.vault()))? {
                0 => return Ok(0),
                bytes => done += bytes,
            }
        }
        self.told(sqlite::waiting(&reader))
    }

    /// Finds originals by their words. What is not in the index yet is put there first, up to some seconds' worth.
    pub fn search(&self, search: &Search<'_>, way: &Way) -> Result<Findings, StoreError> {
        // A disk that is full or read-only is no reason to find nothing.
        let waiting = self.index(INDEXED_PER_SEARCH);
        self.refresh()?;
        let mut reader = self.told(sqlite::open_reader(&self.place, self.limits.wait))?;
        let waiting = waiting.or_else(|_| self.told(sqlite::waiting(&reader)))?;
        let found = self.told(sqlite::find(&mut reader, &self.vault(), search, way))?;
        Ok(Findings { waiting, ..found })
    }

    /// Keeps a fold, all or nothing. When it returns it is on the disk.
    pub fn keep_fold(&self, now_ms: i64, fold: &NewFold<'_>) -> Result<Kept, StoreError> {
        self.told(sqlite::keep_fold(self.writer()?, &self.vault(), &self.limits, now_ms, fold))
    }

    /// The checkpoints under a root, the latest used first.
    pub fn checkpoints(&self, namespace: &str, root: &Key, most: usize) -> Result<Vec<CheckpointEntry>, StoreError> {
        self.told(sqlite::entries(&*self.reader()?, &self.vault(), namespace, root, most))
    }

    /// What a checkpoint puts in place of its messages. Notes that it was used.
    pub fn checkpoint_text(&self, now_ms: i64, namespace: &str, key: &Key) -> Result<Option<String>, StoreError> {
        let found = self.told(sqlite::text(&*self.reader()?, &self.vault(), namespace, key))?;
        let Some((text, used_at)) = found else {
            return Ok(None);
        };
        // As with originals: a store that cannot be written is no reason to withhold what it has.
        let _unnoted = sqlite::note_checkpoint_use(&self.writer, &self.vault(), now_ms, namespace, key, used_at);
        Ok(Some(text))
    }

    /// Writes sessions and events, all or none, and forgets those beyond the age limit.
    pub fn write_sessions(&self, now_ms: i64, sessions: &[SessionRow], events: &[EventRow]) -> Result<(), StoreError> {
        let rows = (sessions, events);
        self.told(sqlite::write(self.writer()?, &self.vault(), &self.limits, now_ms, rows, None)).map(drop)
    }

    /// The same for copies that somebody holds in memory: nothing is written, and the answer is no, when something was
    /// forgotten on request since [`Store::forgotten`] said `known`.
    pub fn write_copies(
        &self,
        now_ms: i64,
        sessions: &[SessionRow],
        events: &[EventRow],
        known: u64,
    ) -> Result<bool, StoreError> {
        let rows = (sessions, events);
        self.told(sqlite::write(self.writer()?, &self.vault(), &self.limits, now_ms, rows, Some(known)))
    }

    /// One session.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, StoreError> {
        self.told(sqlite::session(&*self.reader()?, &self.vault(), id))
    }

    /// The latest sessions, newest first; of one namespace, or of all.
    pub fn sessions(&self, namespace: Option<&str>, most: usize) -> Result<Vec<SessionRow>, StoreError> {
        self.told(sqlite::sessions(&*self.reader()?, &self.vault(), namespace, most))
    }

    /// The latest events of a session, newest first.
    pub fn events(&self, session: &str, most: usize) -> Result<Vec<EventRow>, StoreError> {
        self.told(sqlite::events(&*self.reader()?, &self.vault(), session, most))
    }

    /// Writes down what was learnt about the windows of models.
    pub fn write_windows(&self, now_ms: i64, rows: &[WindowRow]) -> Result<(), StoreError> {
        self.told(sqlite::write_windows(self.writer()?, &self.limits, now_ms, rows))
    }

    /// What a namespace has learnt about the window of a model.
    pub fn window(&self, namespace: &str, model: &str) -> Result<Option<String>, StoreError> {
        self.told(sqlite::window(&*self.reader()?, namespace, model))
    }

    /// Takes note of whose an object is that a provider keeps under a shared key. The first claim counts.
    pub fn claim(&self, now_ms: i64, namespace: &str, object: &Key) -> Result<(), StoreError> {
        self.told(sqlite::claim(self.writer()?, &self.limits, now_ms, namespace, object))
    }

    /// Whose an object is that a provider keeps under a shared key.
    pub fn owner(&self, object: &Key) -> Result<Option<String>, StoreError> {
        self.told(sqlite::owner(&*self.reader()?, object))
    }

    /// Whether the store can be used: by reading, and by writing. Each knows what the other may still have in memory.
    pub fn probe(&self) -> Result<(), StoreError> {
        self.told(sqlite::sessions(&*self.reader()?, &self.vault(), None, 1))?;
        self.told(sqlite::probe(self.writer()?))
    }

    /// What the store holds, without a scan.
    pub fn stats(&self) -> Result<Stats, StoreError> {
        let totals = self.told(sqlite::totals(&*self.reader()?))?;
        Ok(Stats { file_bytes: sqlite::file_bytes(&self.place), ..totals })
    }

    /// Lets go of everything that exceeds the limits and gives free pages back to the disk.
    pub fn prune(&self, now_ms: i64) -> Result<Pruned, StoreError> {
        self.told(sqlite::prune(self.writer()?, &self.limits, now_ms))
    }

    /// What would be forgotten.
    pub fn count_forgotten(&self, forget: &Forget<'_>) -> Result<Gone, StoreError> {
        let mut worker = self.worker()?;
        self.told(sqlite::count_forgotten(&mut worker, &self.vault(), forget))
    }

    /// Forgets on request. When it returns, the bytes are gone from the file and its log.
    pub fn forget(&self, forget: &Forget<'_>, cleaning: Cleaning) -> Result<Gone, StoreError> {
        let mut worker = self.worker()?;
        self.told(sqlite::forget(&mut worker, &self.vault(), forget, cleaning))
    }

    /// How often something was forgotten on request, by whatever process. Who holds copies of what is kept looks again
    /// when it changes.
    pub fn forgotten(&self) -> Result<u64, StoreError> {
        self.told(sqlite::forgotten(&*self.reader()?))
    }

    /// Encrypts everything that is there with the first of the keys, and cleans the file of how it was before. Others read
    /// and write meanwhile. Tells how many rows were done each time that some were.
    pub fn rekey(&self, tell: &mut dyn FnMut(u64)) -> Result<Rekeyed, StoreError> {
        let mut worker = self.worker()?;
        let vault = self.vault();
        let done = self.told(sqlite::rekey(&mut worker, &vault, tell))?;
        self.told(sqlite::clean(&worker, Cleaning::Thorough))?;
        // What was encrypted anew is in no index.
        while self.index(INDEXED_PER_SEARCH)? > 0 {}
        Ok(done)
    }

    /// Rows that are not encrypted with the first of the keys.
    pub fn outdated(&self) -> Result<u64, StoreError> {
        self.told(sqlite::outdated(&*self.reader()?, &self.vault()))
    }

    /// A connection for long work, which waits for others and lets them wait.
    fn worker(&self) -> Result<Connection, StoreError> {
        self.refresh()?;
        self.told(sqlite::open_worker(&self.place, self.limits.wait.max(WORKER_WAIT)))
    }

    /// Where it is.
    pub fn place(&self) -> &Path {
        &self.place
    }

    fn told<T>(&self, result: Result<T, Fault>) -> Result<T, StoreError> {
        result.map_err(|fault| fault.at(&self.place, self.limits.wait))
    }
}

/// Text that a search puts into the index before it begins: two or three seconds of work, and more than a month of one
/// agent's.
const INDEXED_PER_SEARCH: u64 = 64 << 20;

/// How long work in many steps waits for its turn.
const WORKER_WAIT: Duration = Duration::from_secs(10);

/// Connections to nothing, for as long as there is no file to connect to.
fn nothing() -> Result<(Connection, Connection), Fault> {
    Ok((Connection::open_in_memory()?, Connection::open_in_memory()?))
}
