//! The store: the calls on whatever database it is.

mod client_keys;
mod texts;

use crate::address::Address;
use crate::backend::Backend;
use crate::check::{missing_key, missing_text, wrong_with};
use crate::conversation::{CheckpointEntry, EventRow, FoldClaim, Kept, Key, NewFold, Revise, SessionRow, WindowRow};
use crate::error::{Fault, StoreError};
use crate::forget::{Cleaning, Forget, Gone, Rekeyed};
use crate::keys::{KeyId, Keyring};
use crate::limits::{USE_GRAIN, millis};
use crate::object_store::Objects;
use crate::opening::{Absent, Opening};
use crate::original::{NewOriginal, Pruned, Recall, Stats, Stored};
use crate::seal::Scope;
use crate::search::Search;
use crate::sqlite::SqliteStore;
use crate::transfer::{Cursor, Record};
use crate::url::{Url, shown};
use foldline_core::reading::{Findings, Way};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A store of originals, in a file of SQLite or in a PostgreSQL database. Share it between threads by reference.
#[derive(Debug)]
pub struct Store {
    backend: Box<dyn Backend>,
    /// Texts that are not in the database.
    objects: Arc<Objects>,
    wait: Duration,
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
        let wait = how.limits.wait;
        let at = |fault: Fault| fault.at(&shown(place), wait);
        let objects = Arc::new(Objects::open(how.originals.as_ref(), wait).map_err(at)?);
        let own = Arc::clone(&objects);
        let backend: Box<dyn Backend> = match Url::of(place) {
            None => Box::new(SqliteStore::connect(place, how, absent, own).map_err(at)?),
            Some(url) => database(&url, how, absent, own).map_err(at)?,
        };
        let store = Store { backend, objects, wait };
        // As with a key that is missing: what cannot be read is told at once, and not mistaken for damage.
        if !store.objects.are_open() && store.told(store.backend.has_objects())? {
            return store.told(Err(Fault::NoObjects));
        }
        Ok(store)
    }

    /// Whether others may write to it between two calls, on other machines too: what was read from it is then true for a
    /// moment only.
    pub fn is_shared(&self) -> bool {
        self.backend.is_shared()
    }

    /// Other keys from now on: the first writes, all read. Refuses when one is missing that something is encrypted with.
    pub fn set_keys(&self, keys: Keyring) -> Result<(), StoreError> {
        self.told(self.backend.set_keys(keys))
    }

    /// The names of the keys that it was given, the one that writes first.
    pub fn keys(&self) -> Vec<KeyId> {
        self.backend.vault().ids()
    }

    /// The namespaces that know an address: for the owner of the file, never for a client.
    pub fn namespaces(&self, address: impl Into<Address>) -> Result<Vec<String>, StoreError> {
        self.told(self.backend.namespaces(&address.into()))
    }

    /// Keeps texts under a namespace, all or none. When it returns they are on the disk. Lets go of what
    /// exceeds the limits, but never of what it was just given.
    pub fn put(&self, now_ms: i64, namespace: &str, originals: &[NewOriginal<'_>]) -> Result<Stored, StoreError> {
        let placed = self.placed(namespace, originals)?;
        let stored = self.backend.put(now_ms, namespace, originals, &placed);
        self.told(self.unlink_refused(stored, &placed))
    }

    /// The original under a handle or a longer address. Notes that it was used.
    pub fn get(&self, now_ms: i64, namespace: &str, address: impl Into<Address>) -> Result<Recall, StoreError> {
        let address = address.into();
        let recall = self.told(self.recall(namespace, &address))?;
        if let Recall::Found(original) = &recall
            && original.used_at < now_ms.saturating_sub(millis(USE_GRAIN))
        {
            // The text is at hand: a disk that is full or read-only is no reason to withhold it.
            let _unnoted = self.backend.note_use(now_ms, namespace, &original.digest);
        }
        Ok(recall)
    }

    /// Puts originals into the index that are not there yet, the newest first, until about `most_bytes` of text are done.
    /// Returns how many still wait. Others write in between.
    pub fn index(&self, most_bytes: u64) -> Result<u64, StoreError> {
        let waiting = self.told(self.backend.index(most_bytes))?;
        // At this moment nobody waits. What cannot be deleted now is tried again next time.
        let _later = self.delete_some_unlinked();
        Ok(waiting)
    }

    /// Finds originals by their words. What is not in the index yet is put there first, up to some seconds' worth.
    pub fn search(&self, search: &Search<'_>, way: &Way) -> Result<Findings, StoreError> {
        // A disk that is full or read-only is no reason to find nothing.
        let indexed = self.backend.index(INDEXED_PER_SEARCH);
        let waiting = self.told(indexed.or_else(|_| self.backend.waiting()))?;
        let found = self.told(self.backend.find(search, way))?;
        Ok(Findings { waiting, ..found })
    }

    /// Takes the right to fold a conversation, unless somebody else has it. It ends at the time it says, or with
    /// [`Store::release_fold`].
    pub fn claim_fold(&self, now_ms: i64, claim: &FoldClaim<'_>) -> Result<bool, StoreError> {
        self.told(self.backend.claim_fold(now_ms, &self.sealed(claim)))
    }

    /// Gives the right to fold back, if it is still held.
    pub fn release_fold(&self, claim: &FoldClaim<'_>) -> Result<(), StoreError> {
        self.told(self.backend.release_fold(&self.sealed(claim)))
    }

    /// A claim as it is written: where content is encrypted, a root tells nothing.
    fn sealed<'c>(&self, claim: &FoldClaim<'c>) -> FoldClaim<'c> {
        let root = self.backend.vault().writing(Scope::Namespace(claim.namespace)).key(&claim.root);
        FoldClaim { root, ..*claim }
    }

    /// Keeps a fold, all or nothing. When it returns it is on the disk.
    pub fn keep_fold(&self, now_ms: i64, fold: &NewFold<'_>) -> Result<Kept, StoreError> {
        self.keep(now_ms, fold, None)
    }

    /// As [`Store::keep_fold`], where other nodes may have written the session meanwhile: `revise` is given what is there,
    /// and nobody writes until what it returns is kept. It may be called again.
    pub fn keep_fold_with(&self, now_ms: i64, fold: &NewFold<'_>, revise: Revise<'_>) -> Result<Kept, StoreError> {
        self.keep(now_ms, fold, Some(revise))
    }

    fn keep(&self, now_ms: i64, fold: &NewFold<'_>, revise: Option<Revise<'_>>) -> Result<Kept, StoreError> {
        let placed = self.placed(fold.namespace, fold.originals)?;
        let kept = self.backend.keep_fold(now_ms, fold, revise, &placed);
        self.told(self.unlink_refused(kept, &placed))
    }

    /// The checkpoints under a root, the latest used first.
    pub fn checkpoints(&self, namespace: &str, root: &Key, most: usize) -> Result<Vec<CheckpointEntry>, StoreError> {
        self.told(self.backend.checkpoints(namespace, root, most))
    }

    /// What a checkpoint puts in place of its messages. Notes that it was used.
    pub fn checkpoint_text(&self, now_ms: i64, namespace: &str, key: &Key) -> Result<Option<String>, StoreError> {
        let found = self.told(self.backend.checkpoint_text(namespace, key))?;
        let Some((text, used_at)) = found else {
            return Ok(None);
        };
        // As with originals: a store that cannot be written is no reason to withhold what it has.
        let _unnoted = self.backend.note_checkpoint_use(now_ms, namespace, key, used_at);
        Ok(Some(text))
    }

    /// Writes sessions and events, all or none, and forgets those beyond the age limit.
    pub fn write_sessions(&self, now_ms: i64, sessions: &[SessionRow], events: &[EventRow]) -> Result<(), StoreError> {
        let rows = (sessions, events);
        self.told(self.backend.write(now_ms, rows, None)).map(drop)
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
        self.told(self.backend.write(now_ms, rows, Some(known)))
    }

    /// Writes a session that other nodes may have written meanwhile, and says what was written: what `revise` makes of the
    /// one that is there, or `session` if there is none. Nothing as with [`Store::write_copies`].
    pub fn revise_session(
        &self,
        now_ms: i64,
        session: &SessionRow,
        revise: Revise<'_>,
        known: u64,
    ) -> Result<Option<SessionRow>, StoreError> {
        self.told(self.backend.revise_session(now_ms, session, revise, known))
    }

    /// One session.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, StoreError> {
        self.told(self.backend.session(id))
    }

    /// The latest sessions, newest first; of one namespace, or of all.
    pub fn sessions(&self, namespace: Option<&str>, most: usize) -> Result<Vec<SessionRow>, StoreError> {
        self.told(self.backend.sessions(namespace, most))
    }

    /// The latest events of a session, newest first.
    pub fn events(&self, session: &str, most: usize) -> Result<Vec<EventRow>, StoreError> {
        self.told(self.backend.events(session, most))
    }

    /// Writes down what was learnt about the windows of models.
    pub fn write_windows(&self, now_ms: i64, rows: &[WindowRow]) -> Result<(), StoreError> {
        self.told(self.backend.write_windows(now_ms, rows))
    }

    /// What a namespace has learnt about the window of a model.
    pub fn window(&self, namespace: &str, model: &str) -> Result<Option<String>, StoreError> {
        self.told(self.backend.window(namespace, model))
    }

    /// Takes note of whose an object is that a provider keeps under a shared key. The first claim counts.
    pub fn claim(&self, now_ms: i64, namespace: &str, object: &Key) -> Result<(), StoreError> {
        self.told(self.backend.claim(now_ms, namespace, object))
    }

    /// Whose an object is that a provider keeps under a shared key.
    pub fn owner(&self, object: &Key) -> Result<Option<String>, StoreError> {
        self.told(self.backend.owner(object))
    }

    /// Whether the store can be used: by reading, and by writing. Each knows what the other may still have in memory.
    pub fn probe(&self) -> Result<(), StoreError> {
        self.told(self.backend.probe())?;
        self.told(self.probe_objects())
    }

    /// What the store holds, without a scan.
    pub fn stats(&self) -> Result<Stats, StoreError> {
        self.told(self.backend.stats())
    }

    /// Lets go of everything that exceeds the limits and gives free pages back to the disk.
    pub fn prune(&self, now_ms: i64) -> Result<Pruned, StoreError> {
        let pruned = self.told(self.backend.prune(now_ms))?;
        let _later = self.delete_unlinked();
        Ok(pruned)
    }

    /// What would be forgotten.
    pub fn count_forgotten(&self, forget: &Forget<'_>) -> Result<Gone, StoreError> {
        self.told(self.backend.count_forgotten(forget))
    }

    /// Forgets on request. When it returns, the bytes are gone from the file and its log, and from the object store.
    pub fn forget(&self, forget: &Forget<'_>, cleaning: Cleaning) -> Result<Gone, StoreError> {
        let gone = self.told(self.backend.forget(forget, cleaning))?;
        self.told(self.delete_unlinked())?;
        Ok(gone)
    }

    /// How often something was forgotten on request, by whatever process. Who holds copies of what is kept looks again
    /// when it changes.
    pub fn forgotten(&self) -> Result<u64, StoreError> {
        self.told(self.backend.forgotten())
    }

    /// Encrypts everything that is there with the first of the keys, and cleans the file of how it was before. Others read
    /// and write meanwhile. Tells how many rows were done each time that some were.
    pub fn rekey(&self, tell: &mut dyn FnMut(u64)) -> Result<Rekeyed, StoreError> {
        let done = self.told(self.backend.rekey(tell))?;
        // As they were before, under the old key.
        self.told(self.delete_unlinked())?;
        // What was encrypted anew is in no index.
        while self.index(INDEXED_PER_SEARCH)? > 0 {}
        Ok(done)
    }

    /// Rows that are not encrypted with the first of the keys.
    pub fn outdated(&self) -> Result<u64, StoreError> {
        self.told(self.backend.outdated())
    }

    /// Checks everything that is kept; what is wrong with it, one line each. Tells how many rows were looked at each time
    /// that some were.
    pub fn check(&self, tell: &mut dyn FnMut(u64)) -> Result<Vec<String>, StoreError> {
        let mut wrong = self.told(self.backend.check())?;
        let vault = self.backend.vault();
        let mut cursor = Cursor::default();
        let mut missing = BTreeSet::new();
        loop {
            let (records, lost) = self.told(self.filled_page(&mut cursor))?;
            if records.is_empty() && lost.is_empty() {
                break;
            }
            wrong.extend(lost.iter().map(missing_text));
            wrong.extend(records.iter().filter_map(|record| wrong_with(record, &vault)));
            missing.extend(records.iter().filter_map(|record| missing_key(record, &vault)));
            tell((records.len() + lost.len()) as u64);
        }
        wrong.extend(missing.into_iter().map(|key| format!("some of it needs key {key}, which was not given")));
        Ok(wrong)
    }

    /// Gives room that is free back to the system, and deletes objects that no row names. Says how many these were.
    pub fn vacuum(&self) -> Result<u64, StoreError> {
        self.told(self.backend.vacuum())?;
        self.told(self.sweep())
    }

    /// The records after a cursor, which moves on; none when all are through. An original whose text is missing from the
    /// object store is left out, and the cursor counts it.
    pub fn page(&self, after: &mut Cursor) -> Result<Vec<Record>, StoreError> {
        loop {
            let (records, lost) = self.told(self.filled_page(after))?;
            after.lost += lost.len() as u64;
            // None at all would mean that all are through.
            if !records.is_empty() || lost.is_empty() {
                return Ok(records);
            }
        }
    }

    /// Adds records of another store, all or none. What is there stays. Says how many were added.
    pub fn add(&self, records: &[Record]) -> Result<u64, StoreError> {
        self.told(self.add_placed(records))
    }

    /// Where it is; a URL comes without its password.
    pub fn place(&self) -> &Path {
        self.backend.place()
    }

    fn told<T>(&self, result: Result<T, Fault>) -> Result<T, StoreError> {
        result.map_err(|fault| fault.at(self.backend.place(), self.wait))
    }
}

#[cfg(feature = "postgres")]
fn database(url: &Url, how: Opening, absent: Absent, objects: Arc<Objects>) -> Result<Box<dyn Backend>, Fault> {
    Ok(Box::new(crate::postgres::PostgresStore::connect(url, how, absent, objects)?))
}

#[cfg(not(feature = "postgres"))]
fn database(_: &Url, _: Opening, _: Absent, _: Arc<Objects>) -> Result<Box<dyn Backend>, Fault> {
    Err(Fault::Other("this build has no PostgreSQL; name a file with --store, or use one that has".into()))
}

/// Text that a search puts into the index before it begins: two or three seconds of work, and more than a month of one
/// agent's.
const INDEXED_PER_SEARCH: u64 = 64 << 20;
