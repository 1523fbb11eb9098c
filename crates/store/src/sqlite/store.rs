//! Two connections to one SQLite file, and the calls on them.

use crate::address::{Address, Digest};
use crate::backend::{Backend, Paged, Used};
use crate::conversation::{CheckpointEntry, EventRow, FoldClaim, Kept, Key, NewFold, Revise, SessionRow, WindowRow};
use crate::error::Fault;
use crate::forget::{Cleaning, Forget, Gone, Rekeyed};
use crate::keys::Keyring;
use crate::limits::Limits;
use crate::object_store::{Looked, ObjectName, Objects, Placed};
use crate::opening::{Absent, Opening};
use crate::original::{NewOriginal, Pruned, Stats, Stored};
use crate::seal::Vault;
use crate::search::Search;
use crate::sqlite::file_identity::OpenFiles;
use crate::sqlite::{self, Opened, lock};
use crate::transfer::{Cursor, Record};
use foldline_core::reading::{Findings, Way};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// A store in a SQLite file.
///
/// A lock around the writing connection does what a writer thread would do: callers wait until their
/// text is durable in any case, SQLite admits one writer at a time in any case, and a lock has no
/// channel to fill up and no thread to stop. A connection of its own lets recalls go on meanwhile.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    place: PathBuf,
    limits: Limits,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    /// The file that the connections are to, and its log; absent when it could not be opened again.
    open: Mutex<OpenFiles>,
    keys: RwLock<Keyring>,
    vault: RwLock<Arc<Vault>>,
    objects: Arc<Objects>,
}

/// How long work in many steps waits for its turn.
const WORKER_WAIT: Duration = Duration::from_secs(10);

impl SqliteStore {
    pub(crate) fn connect(
        place: &Path,
        how: Opening,
        absent: Absent,
        objects: Arc<Objects>,
    ) -> Result<SqliteStore, Fault> {
        let Opening { limits, keys, originals: _ } = how;
        let Opened { writer, reader, vault } = sqlite::open(place, limits.wait, absent, &keys)?;
        Ok(SqliteStore {
            place: place.to_owned(),
            limits,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            open: Mutex::new(OpenFiles::at(place)),
            keys: RwLock::new(keys),
            vault: RwLock::new(Arc::new(vault)),
            objects,
        })
    }

    /// Opens the place anew when the file that stands there is not the one that is open.
    fn refresh(&self) -> Result<(), Fault> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_there(&self.place) {
            return Ok(());
        }
        let (mut writer, mut reader) = (lock(&self.writer), lock(&self.reader));
        // The old connections go first: what SQLite keeps beside the file has the same name for both.
        let (no_writer, no_reader) = nothing()?;
        (*writer, *reader) = (no_writer, no_reader);
        std::mem::take(&mut *open).remove_log(&self.place);
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        let opened = sqlite::open(&self.place, self.limits.wait, Absent::Create, &keys)?;
        (*writer, *reader) = (opened.writer, opened.reader);
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened.vault);
        *open = OpenFiles::at(&self.place);
        Ok(())
    }

    pub(super) fn writer(&self) -> Result<&Mutex<Connection>, Fault> {
        self.refresh().map(|()| &self.writer)
    }

    pub(super) fn reader(&self) -> Result<MutexGuard<'_, Connection>, Fault> {
        self.refresh().map(|()| lock(&self.reader))
    }

    /// A connection for long work, which waits for others and lets them wait.
    fn worker(&self) -> Result<Connection, Fault> {
        self.refresh()?;
        sqlite::open_worker(&self.place, self.limits.wait.max(WORKER_WAIT))
    }
}

impl Backend for SqliteStore {
    fn place(&self) -> &Path {
        &self.place
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn vault(&self) -> Arc<Vault> {
        Arc::clone(&self.vault.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_keys(&self, keys: Keyring) -> Result<(), Fault> {
        let vault = sqlite::enter(self.writer()?, &keys)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(vault);
        Ok(())
    }

    fn probe(&self) -> Result<(), Fault> {
        sqlite::sessions(&*self.reader()?, &self.vault(), None, 1)?;
        sqlite::probe(self.writer()?)
    }

    fn put(&self, now: i64, namespace: &str, originals: &[NewOriginal<'_>], placed: &Placed) -> Result<Stored, Fault> {
        sqlite::put(self.writer()?, (&self.vault(), &self.limits), now, namespace, originals, placed)
    }

    fn get(&self, namespace: &str, address: &Address) -> Result<Looked, Fault> {
        sqlite::get(&mut *self.reader()?, &self.vault(), namespace, address)
    }

    fn note_use(&self, now: i64, namespace: &str, digest: &Digest) -> Result<(), Fault> {
        sqlite::note_use(&lock(&self.writer), &self.vault(), now, namespace, digest)
    }

    fn namespaces(&self, address: &Address) -> Result<Vec<String>, Fault> {
        sqlite::namespaces(&*self.reader()?, &self.vault(), address)
    }

    fn index(&self, most_bytes: u64) -> Result<u64, Fault> {
        // Mostly there is nothing to do, and that is known at once.
        if sqlite::waiting(&*self.reader()?)? == 0 {
            return Ok(0);
        }
        let writer = self.writer()?;
        let mut reader = sqlite::open_reader(&self.place, self.limits.wait)?;
        let mut done = 0;
        while done < most_bytes {
            match sqlite::index_some(&mut reader, writer, &self.vault(), &self.objects)? {
                0 => return Ok(0),
                bytes => done += bytes,
            }
        }
        sqlite::waiting(&reader)
    }

    fn waiting(&self) -> Result<u64, Fault> {
        sqlite::waiting(&*self.reader()?)
    }

    fn find(&self, search: &Search<'_>, way: &Way) -> Result<Findings, Fault> {
        self.refresh()?;
        let mut reader = sqlite::open_reader(&self.place, self.limits.wait)?;
        sqlite::find(&mut reader, &self.vault(), &self.objects, search, way)
    }

    fn claim_fold(&self, now: i64, claim: &FoldClaim<'_>) -> Result<bool, Fault> {
        sqlite::claim_fold(self.writer()?, now, claim)
    }

    fn release_fold(&self, claim: &FoldClaim<'_>) -> Result<(), Fault> {
        sqlite::release_fold(self.writer()?, claim)
    }

    fn keep_fold(
        &self,
        now: i64,
        fold: &NewFold<'_>,
        revise: Option<Revise<'_>>,
        placed: &Placed,
    ) -> Result<Kept, Fault> {
        sqlite::keep_fold(self.writer()?, (&self.vault(), &self.limits), now, fold, revise, placed)
    }

    fn checkpoints(&self, namespace: &str, root: &Key, most: usize) -> Result<Vec<CheckpointEntry>, Fault> {
        sqlite::entries(&*self.reader()?, &self.vault(), namespace, root, most)
    }

    fn checkpoint_text(&self, namespace: &str, key: &Key) -> Result<Option<Used<String>>, Fault> {
        sqlite::text(&*self.reader()?, &self.vault(), namespace, key)
    }

    fn note_checkpoint_use(&self, now: i64, namespace: &str, key: &Key, used_at: i64) -> Result<(), Fault> {
        sqlite::note_checkpoint_use(&self.writer, &self.vault(), now, namespace, key, used_at)
    }

    fn write(&self, now: i64, rows: (&[SessionRow], &[EventRow]), known: Option<u64>) -> Result<bool, Fault> {
        sqlite::write(self.writer()?, &self.vault(), &self.limits, now, rows, known)
    }

    fn revise_session(
        &self,
        now: i64,
        session: &SessionRow,
        revise: Revise<'_>,
        known: u64,
    ) -> Result<Option<SessionRow>, Fault> {
        sqlite::revise_session(self.writer()?, &self.vault(), &self.limits, now, (session, revise), known)
    }

    fn session(&self, id: &str) -> Result<Option<SessionRow>, Fault> {
        sqlite::session(&*self.reader()?, &self.vault(), id)
    }

    fn sessions(&self, namespace: Option<&str>, most: usize) -> Result<Vec<SessionRow>, Fault> {
        sqlite::sessions(&*self.reader()?, &self.vault(), namespace, most)
    }

    fn events(&self, session: &str, most: usize) -> Result<Vec<EventRow>, Fault> {
        sqlite::events(&*self.reader()?, &self.vault(), session, most)
    }

    fn write_windows(&self, now: i64, rows: &[WindowRow]) -> Result<(), Fault> {
        sqlite::write_windows(self.writer()?, &self.limits, now, rows)
    }

    fn window(&self, namespace: &str, model: &str) -> Result<Option<String>, Fault> {
        sqlite::window(&*self.reader()?, namespace, model)
    }

    fn claim(&self, now: i64, namespace: &str, object: &Key) -> Result<(), Fault> {
        sqlite::claim(self.writer()?, &self.limits, now, namespace, object)
    }

    fn owner(&self, object: &Key) -> Result<Option<String>, Fault> {
        sqlite::owner(&*self.reader()?, object)
    }

    fn stats(&self) -> Result<Stats, Fault> {
        let totals = sqlite::totals(&*self.reader()?)?;
        Ok(Stats { file_bytes: sqlite::file_bytes(&self.place), ..totals })
    }

    fn prune(&self, now: i64) -> Result<Pruned, Fault> {
        sqlite::prune(self.writer()?, &self.limits, now)
    }

    fn count_forgotten(&self, forget: &Forget<'_>) -> Result<Gone, Fault> {
        sqlite::count_forgotten(&mut self.worker()?, &self.vault(), forget)
    }

    fn forget(&self, forget: &Forget<'_>, cleaning: Cleaning) -> Result<Gone, Fault> {
        sqlite::forget(&mut self.worker()?, &self.vault(), forget, cleaning)
    }

    fn forgotten(&self) -> Result<u64, Fault> {
        sqlite::forgotten(&*self.reader()?)
    }

    fn rekey(&self, tell: &mut dyn FnMut(u64)) -> Result<Rekeyed, Fault> {
        let mut worker = self.worker()?;
        let done = sqlite::rekey(&mut worker, &self.vault(), &self.objects, tell)?;
        sqlite::clean(&worker, Cleaning::Thorough)?;
        Ok(done)
    }

    fn outdated(&self) -> Result<u64, Fault> {
        sqlite::outdated(&*self.reader()?, &self.vault())
    }

    fn check(&self) -> Result<Vec<String>, Fault> {
        sqlite::check(&self.worker()?)
    }

    fn vacuum(&self) -> Result<(), Fault> {
        sqlite::clean(&self.worker()?, Cleaning::Thorough)
    }

    fn page(&self, after: &mut Cursor) -> Result<Vec<Paged>, Fault> {
        sqlite::page(&mut *self.reader()?, after)
    }

    fn add(&self, records: &[Record], placed: &[Option<ObjectName>]) -> Result<u64, Fault> {
        sqlite::add(&mut self.worker()?, records, placed)
    }
}

/// Connections to nothing, for as long as there is no file to connect to.
fn nothing() -> Result<(Connection, Connection), Fault> {
    Ok((Connection::open_in_memory()?, Connection::open_in_memory()?))
}
