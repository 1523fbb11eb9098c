//! Prepares requests before they are forwarded: identity, checkpoints, folds. No HTTP.
//!
//! Clients send their whole history each time. [`Conversations::prepare`] recognises how it begins
//! (`parsed`), swaps what an earlier fold has replaced (`checkpoint`), and folds when it is time
//! (`schedule`, `fold`): at once without a model, or beside the conversation with one. What was rewritten
//! once is rewritten to the same bytes for ever, because it is on the disk before it is first used.

mod checkpoint;
mod compacted;
mod cost;
mod error;
mod fold;
mod fold_details;
mod folds;
mod incoming;
mod left_alone;
mod memory;
mod observe;
mod overflow;
mod parsed_request;
mod prepare;
mod prepared;
mod purpose;
mod reject;
mod request_context;
mod rewriter;
mod schedule;
mod sessions;
mod settings;
mod shared;
mod state;
mod task;
#[cfg(test)]
mod tests;
mod token_counts;
mod undo;
mod unkept;
mod windows;

pub use crate::refusal::{RefusalKind, SizeRefusal, read_refusal};
pub use compacted::{Compacted, CompactionKind};
pub use error::PrepareError;
pub use fold_details::{EditDetails, FoldDetails, KeptText};
pub use incoming::{
    Bypass, CredentialId, Dialect, IncomingTurn, PurposeHint, SessionId, SummariserAt, Timestamp, Whom,
};

pub use foldline_transcript::wire::reply::ReportedUsage;
pub use folds::{FoldText, FoldView};
pub use prepared::{Durability, Outcome, Prepared, Turn};
pub use purpose::is_compaction;
pub use rewriter::Rewriter;
pub use sessions::{SessionView, Sums, Totals, TurnEvent};
pub use settings::{ConversationSettings, Mode};
pub use task::{FoldTask, Planned};
pub use undo::Undo;

use foldline_core::ledger::Held;
use foldline_core::models::{ApiFamily, ModelTable};
use foldline_core::reading::{Findings, Way};
use foldline_core::summary::Summary;
use foldline_store::{Address, Forget, Gone, Key, Keyring, NewOriginal, Query, Recall, Search, StoreError, Whose};
use memory::Bounds;
use prepare::Reach;
use shared::Shared;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of originals that are put into the index at once: a moment's work, between which books are kept.
const INDEXED_AT_ONCE: u64 = 1 << 20;

/// All conversations that pass through the gateway. Cheap to clone. Every method is synchronous and
/// bounded in time, and belongs on a thread that may block.
#[derive(Clone, Debug)]
pub struct Conversations {
    shared: Arc<Shared>,
}

impl Conversations {
    /// Opens the store and starts with what it knows.
    pub fn open(settings: ConversationSettings) -> Result<Conversations, PrepareError> {
        Ok(Conversations { shared: Arc::new(Shared::open(settings)?) })
    }

    /// Opens the store, or goes on without it until it can be opened.
    pub fn open_or_wait(settings: ConversationSettings) -> Conversations {
        Conversations { shared: Arc::new(Shared::open_or_wait(settings)) }
    }

    /// Why nothing is kept although it should be.
    pub fn trouble(&self) -> Option<String> {
        self.shared.trouble()
    }

    /// Whether other gateways use the same store.
    pub fn shares_store(&self) -> bool {
        self.shared.store().is_some_and(foldline_store::Store::is_shared)
    }

    /// How long a request may wait for a database that restarts.
    pub fn longest_restart(&self) -> Duration {
        self.shared.longest_restart()
    }

    /// The store, where there is one and it is open: for client keys, which belong to no conversation.
    pub fn store(&self) -> Option<&foldline_store::Store> {
        self.shared.store()
    }

    /// Other settings from the next request on. The store stays the one that was opened.
    pub fn reload(&self, settings: ConversationSettings) {
        self.shared.reload(settings);
    }

    /// Other keys for the store from now on. On an error the old ones stay in force.
    pub fn set_keys(&self, keys: &Keyring) -> Result<(), StoreError> {
        self.shared.set_keys(keys)
    }

    /// Forgets what belongs to a session, or all that belongs to somebody; also what is in memory.
    pub fn forget(&self, forget: &Forget<'_>) -> Result<Gone, StoreError> {
        self.shared.forget(forget)
    }

    /// Makes a request ready to be forwarded. On a fault, forward it as it came.
    pub fn prepare<'a>(&self, ask: &IncomingTurn<'a>) -> Result<Prepared<'a>, PrepareError> {
        prepare::prepare(&self.shared, ask, Reach::Store)?.ok_or(PrepareError::NoConversation)
    }

    /// Makes a request ready with what is in memory, on a thread that must not block. `None` where that is not enough, or
    /// it cannot be read, or a fold is due.
    pub fn prepare_at_once<'a>(&self, ask: &IncomingTurn<'a>) -> Option<Prepared<'a>> {
        prepare::prepare(&self.shared, ask, Reach::Memory).ok().flatten()
    }

    /// Takes note of what the provider reported for a forwarded request.
    pub fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
        observe::observe(&self.shared, turn, usage, now);
    }

    /// The same on a thread that must not block. `false` where it would have to be written down at once: nothing is noted.
    pub fn observe_at_once(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) -> bool {
        observe::observe_at_once(&self.shared, turn, usage, now)
    }

    /// Folds a request harder that the provider refused for its size. `attempt` is 1, then 2; `None` when
    /// nothing is left to give: then the provider's error goes to the client.
    pub fn overflow<'a>(
        &self,
        ask: &IncomingTurn<'a>,
        turn: &Turn,
        refusal: &SizeRefusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, PrepareError> {
        overflow::overflow(&self.shared, ask, turn, refusal, attempt)
    }

    /// Drops what stands for the beginning of a conversation: the provider rejected this turn, and not for its size,
    /// but minds nothing in the request as it came.
    pub fn reject(&self, turn: &Turn) {
        reject::reject(&self.shared, turn);
    }

    /// Plans a fold in the background: first step, on a blocking thread.
    pub fn plan(&self, task: &mut FoldTask) -> Result<Planned, PrepareError> {
        task.plan(&self.shared)
    }

    /// Finishes a fold in the background with a model's words, its failure, or without one. The next
    /// request of the conversation finds it. Returns what was done, if anything was.
    pub fn run(
        &self,
        task: FoldTask,
        summary: Option<Summary>,
        now: Timestamp,
    ) -> Result<Option<Compacted>, PrepareError> {
        task.run(&self.shared, summary, now)
    }

    /// Adds what a summary cost to a session's account, and says how many dollars it was.
    pub fn charge_summary(&self, session: &SessionId, model: &str, usage: ReportedUsage) -> f64 {
        let rules = self.shared.rules();
        let table = rules.job.models.as_ref().unwrap_or(ModelTable::embedded());
        let summaries = cost::charged(&table.profile(model, ApiFamily::OpenAi), &usage);
        self.shared.memory().add(session, &Sums { summaries, ..Sums::default() });
        summaries
    }

    /// Asks for a fold: the next request of that session is folded, with a focus if there is one. `false`
    /// when no such session is known.
    pub fn compact_now(&self, session: &SessionId, focus: Option<&str>) -> Result<bool, StoreError> {
        if !self.hold(session)? {
            return Ok(false);
        }
        if let Some(session) = self.shared.memory().session(session) {
            session.ask_for_fold(Some(focus.map(str::to_owned)));
        }
        // Its next request may come to another node.
        self.shared.share(session, self.shared.now());
        Ok(true)
    }

    /// Undoes the latest prune or fold of a session: its next request is forwarded without it, if it fits.
    pub fn undo(&self, session: &SessionId, now: Timestamp) -> Result<Undo, StoreError> {
        if !self.hold(session)? {
            return Ok(Undo::NoSession);
        }
        undo::undo(&self.shared, session, now)
    }

    /// The remembered prunes and folds of a session, the latest first.
    pub fn folds(&self, session: &SessionId) -> Result<Vec<FoldView>, StoreError> {
        folds::list(&self.shared, session)
    }

    /// One of them with its text, if it belongs to this credential and is still stored.
    pub fn fold(
        &self,
        credential: &CredentialId,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<FoldText>, StoreError> {
        folds::one(&self.shared, credential, session, id)
    }

    /// Whether a session is known; loads it into memory.
    fn hold(&self, session: &SessionId) -> Result<bool, StoreError> {
        // Another node may have folded it since.
        self.shared.renew(session, self.shared.now());
        if self.shared.memory().session(session).is_some() {
            return Ok(true);
        }
        let stored = match self.shared.store() {
            Some(store) => store.session(session.as_str())?,
            None => None,
        };
        let Some(row) = stored else { return Ok(false) };
        let all = Bounds { sessions: usize::MAX, text_bytes: usize::MAX };
        let stored = self.shared.session_of(&row);
        self.shared.memory().admit(session, stored, all);
        Ok(true)
    }

    /// An original that a fold of this client removed; of the owner, whatever is in the store.
    pub fn recall(&self, whom: impl Into<Whom>, address: Address, now: Timestamp) -> Result<Recall, StoreError> {
        let Some(store) = self.shared.store() else { return Ok(Recall::Unknown) };
        let namespace = match whom.into() {
            Whom::Client(credential) => credential.namespace(),
            // What the command line removed has no namespace.
            Whom::Owner => {
                let namespaces = store.namespaces(address)?;
                let is_own = namespaces.iter().any(String::is_empty);
                namespaces.into_iter().next().filter(|_| !is_own).unwrap_or_default()
            }
        };
        store.get(now.0, &namespace, address)
    }

    /// Keeps originals that no fold removed; `false` where nothing is kept.
    pub fn keep_originals(
        &self,
        credential: &CredentialId,
        originals: &[NewOriginal<'_>],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self.shared.store() {
            Some(store) => store.put(now.0, &credential.namespace(), originals).map(|_| true),
            None => Ok(false),
        }
    }

    /// The rules and pins that the latest fold of a session carries.
    pub fn held(&self, session: &SessionId, now: Timestamp) -> Result<Vec<Held>, StoreError> {
        sessions::held(&self.shared, session, now.0)
    }

    /// Takes note that a credential made an object which a provider keeps.
    pub fn claim(&self, credential: &CredentialId, object: &Key, now: Timestamp) -> Result<(), StoreError> {
        match self.shared.store() {
            Some(store) => store.claim(now.0, &credential.namespace(), object),
            None => Ok(()),
        }
    }

    /// Whether a credential made an object which a provider keeps.
    pub fn is_owner(&self, credential: &CredentialId, object: &Key) -> Result<bool, StoreError> {
        let owner = self.shared.store().map(|store| store.owner(object)).transpose()?;
        Ok(owner.flatten().is_some_and(|owner| owner == credential.namespace()))
    }

    /// Places in originals that folds of this client removed, or one session of it; of the owner, in all.
    pub fn search(
        &self,
        whom: impl Into<Whom>,
        query: &Query,
        session: Option<&str>,
        limit: usize,
        way: &Way,
    ) -> Result<Findings, StoreError> {
        let namespace = whom.into().credential().map(CredentialId::namespace);
        let whose = namespace.as_deref().map_or(Whose::Everybody, Whose::Namespace);
        match self.shared.store() {
            Some(store) => store.search(&Search { query, whose, session, limit }, way),
            None => Ok(Findings { words: query.typed().to_owned(), ..Findings::default() }),
        }
    }

    /// Puts some of what was removed lately into the index of words, so that searches find it done. To be called beside
    /// requests, from time to time.
    pub fn index(&self) {
        if let Some(store) = self.shared.store() {
            // A search tries again, and says so when it cannot either.
            let _waits = store.index(INDEXED_AT_ONCE);
        }
    }

    /// The latest sessions, newest first; of one credential, or of all.
    pub fn sessions(&self, credential: Option<&CredentialId>, most: usize) -> Result<Vec<SessionView>, StoreError> {
        sessions::list(&self.shared, credential, most)
    }

    /// One session and its latest turns, newest first.
    pub fn session(&self, id: &SessionId, most: usize) -> Result<Option<(SessionView, Vec<TurnEvent>)>, StoreError> {
        sessions::one(&self.shared, id, most)
    }

    /// Whether what is to be kept can be: by writing to the store. Without a store there is nothing that could fail.
    pub fn probe(&self) -> Result<(), StoreError> {
        self.shared.store().map_or(Ok(()), foldline_store::Store::probe)
    }

    /// Sums since the start.
    pub fn totals(&self) -> Totals {
        let memory = self.shared.memory();
        Totals { in_flight: memory.flights.len() as u64, sessions: memory.sessions.len() as u64, ..memory.totals }
    }

    /// Writes down what may wait: sums, events, calibration. To be called about every second and at the end.
    pub fn flush(&self, now: Timestamp) -> Result<(), StoreError> {
        self.shared.flush(now.0)
    }
}
