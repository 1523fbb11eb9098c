//! What a database has to do for the store. Every answer is final: what returned from a writing call is durable, and
//! visible to whoever asks next, on any node.

use crate::address::{Address, Digest};
use crate::client_keys::KeyBackend;
use crate::conversation::{CheckpointEntry, EventRow, FoldClaim, Kept, Key, NewFold, Revise, SessionRow, WindowRow};
use crate::error::Fault;
use crate::forget::{Cleaning, Forget, Gone, Rekeyed};
use crate::keys::Keyring;
use crate::object_store::{Looked, ObjectName, ObjectRows, Placed};
use crate::original::{NewOriginal, Pruned, Stats, Stored};
use crate::seal::Vault;
use crate::search::Search;
use crate::transfer::{Cursor, Record};
use foldline_core::reading::{Findings, Way};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A text and when it was last used.
pub(crate) type Used<T> = (T, i64);

/// A record, and the object that its text is in: its pieces are not in the record then.
pub(crate) type Paged = (Record, Option<ObjectName>);

pub(crate) trait Backend: KeyBackend + ObjectRows + fmt::Debug + Send + Sync {
    /// Where it is, without a password.
    fn place(&self) -> &Path;
    /// Whether others may write to it between two calls, on other machines too.
    fn is_shared(&self) -> bool;
    fn vault(&self) -> Arc<Vault>;
    fn set_keys(&self, keys: Keyring) -> Result<(), Fault>;
    fn probe(&self) -> Result<(), Fault>;

    /// `placed`: texts that are in objects already. Those of them that no row comes to name are noted as unlinked.
    fn put(&self, now: i64, namespace: &str, originals: &[NewOriginal<'_>], placed: &Placed) -> Result<Stored, Fault>;
    fn get(&self, namespace: &str, address: &Address) -> Result<Looked, Fault>;
    fn note_use(&self, now: i64, namespace: &str, digest: &Digest) -> Result<(), Fault>;
    fn namespaces(&self, address: &Address) -> Result<Vec<String>, Fault>;

    fn index(&self, most_bytes: u64) -> Result<u64, Fault>;
    fn waiting(&self) -> Result<u64, Fault>;
    fn find(&self, search: &Search<'_>, way: &Way) -> Result<Findings, Fault>;

    fn claim_fold(&self, now: i64, claim: &FoldClaim<'_>) -> Result<bool, Fault>;
    fn release_fold(&self, claim: &FoldClaim<'_>) -> Result<(), Fault>;
    /// `revise` makes the session that is kept out of the one that is there. `placed` as with [`Backend::put`].
    fn keep_fold(
        &self,
        now: i64,
        fold: &NewFold<'_>,
        revise: Option<Revise<'_>>,
        placed: &Placed,
    ) -> Result<Kept, Fault>;
    fn checkpoints(&self, namespace: &str, root: &Key, most: usize) -> Result<Vec<CheckpointEntry>, Fault>;
    fn checkpoint_text(&self, namespace: &str, key: &Key) -> Result<Option<Used<String>>, Fault>;
    fn note_checkpoint_use(&self, now: i64, namespace: &str, key: &Key, used_at: i64) -> Result<(), Fault>;

    /// `known`: nothing is written when something was forgotten on request since that count.
    fn write(&self, now: i64, rows: (&[SessionRow], &[EventRow]), known: Option<u64>) -> Result<bool, Fault>;
    /// Writes a session, revised if one is there, and says what was written; nothing as with [`Backend::write`].
    fn revise_session(
        &self,
        now: i64,
        session: &SessionRow,
        revise: Revise<'_>,
        known: u64,
    ) -> Result<Option<SessionRow>, Fault>;
    fn session(&self, id: &str) -> Result<Option<SessionRow>, Fault>;
    fn sessions(&self, namespace: Option<&str>, most: usize) -> Result<Vec<SessionRow>, Fault>;
    fn events(&self, session: &str, most: usize) -> Result<Vec<EventRow>, Fault>;
    fn write_windows(&self, now: i64, rows: &[WindowRow]) -> Result<(), Fault>;
    fn window(&self, namespace: &str, model: &str) -> Result<Option<String>, Fault>;
    fn claim(&self, now: i64, namespace: &str, object: &Key) -> Result<(), Fault>;
    fn owner(&self, object: &Key) -> Result<Option<String>, Fault>;

    fn stats(&self) -> Result<Stats, Fault>;
    fn prune(&self, now: i64) -> Result<Pruned, Fault>;
    fn count_forgotten(&self, forget: &Forget<'_>) -> Result<Gone, Fault>;
    fn forget(&self, forget: &Forget<'_>, cleaning: Cleaning) -> Result<Gone, Fault>;
    fn forgotten(&self) -> Result<u64, Fault>;
    fn rekey(&self, tell: &mut dyn FnMut(u64)) -> Result<Rekeyed, Fault>;
    fn outdated(&self) -> Result<u64, Fault>;

    /// What is wrong with the database as such, one line each.
    fn check(&self) -> Result<Vec<String>, Fault>;
    fn vacuum(&self) -> Result<(), Fault>;
    /// The records after a cursor, which moves on; none when all are through.
    fn page(&self, after: &mut Cursor) -> Result<Vec<Paged>, Fault>;
    /// Adds records, all or none; says how many were not there before. `placed` names the object that the text of each
    /// record is in, if it is in one.
    fn add(&self, records: &[Record], placed: &[Option<ObjectName>]) -> Result<u64, Fault>;
}
