//! What a request becomes before it is forwarded: identity, checkpoints, folds. No HTTP.
//!
//! Clients send their whole history each time. [`Conversations::prepare`] recognises how it begins
//! (`parsed`), swaps what an earlier fold has replaced (`checkpoint`), and folds when it is time
//! (`schedule`, `fold`): at once without a model, or beside the conversation with one. What was rewritten
//! once is rewritten to the same bytes for ever, because it is on the disk before it is first used.

mod account;
mod ask;
mod checkpoint;
mod compacted;
mod fault;
mod fold;
mod folds;
mod memory;
mod money;
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
mod tally;
mod task;
#[cfg(test)]
mod tests;
mod undo;
mod windows;

pub use crate::refusal::{Refusal, RefusalKind, read_refusal};
pub use account::{Account, EditNote, HeldNote};
pub use ask::{Ask, Bypass, CredentialId, Dialect, PurposeHint, SessionId, Timestamp, Writer};
pub use compacted::{Compacted, CompactionKind};
pub use fault::Fault;

pub use foldline_transcript::wire::reply::ReportedUsage;
pub use folds::{FoldText, FoldView};
pub use prepared::{Durability, Outcome, Prepared, Turn};
pub use rewriter::Rewriter;
pub use sessions::{SessionView, Sums, Totals, TurnEvent};
pub use settings::{ConversationSettings, Mode};
pub use task::{FoldTask, Planned};
pub use undo::Undo;

use foldline_core::models::{ApiFamily, ModelTable};
use foldline_core::reading::{Findings, Way};
use foldline_core::summary::Summary;
use foldline_store::{Address, Forget, Gone, Key, Keyring, Query, Recall, Search, StoreError, Whose};
use memory::{Bounds, Session};
use shared::Shared;
use std::sync::Arc;

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
    pub fn open(settings: ConversationSettings) -> Result<Conversations, Fault> {
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
    pub fn prepare<'a>(&self, ask: &Ask<'a>) -> Result<Prepared<'a>, Fault> {
        prepare::prepare(&self.shared, ask)
    }

    /// Takes note of what the provider reported for a forwarded request.
    pub fn observe(&self, turn: &Turn, usage: ReportedUsage, now: Timestamp) {
        observe::observe(&self.shared, turn, usage, now);
    }

    /// Folds a request harder that the provider refused for its size. `attempt` is 1, then 2; `None` when
    /// nothing is left to give: then the provider's error goes to the client.
    pub fn overflow<'a>(
        &self,
        ask: &Ask<'a>,
        turn: &Turn,
        refusal: &Refusal,
        attempt: u8,
    ) -> Result<Option<Prepared<'a>>, Fault> {
        overflow::overflow(&self.shared, ask, turn, refusal, attempt)
    }

    /// Drops what stands for the beginning of a conversation: the provider rejected this turn, and not for its size,
    /// but minds nothing in the request as it came.
    pub fn reject(&self, turn: &Turn) {
        reject::reject(&self.shared, turn);
    }

    /// Plans a fold in the background: first step, on a blocking thread.
    pub fn plan(&self, task: &mut FoldTask) -> Result<Planned, Fault> {
        task.plan(&self.shared)
    }

    /// Finishes a fold in the background with a model's words, its failure, or without one. The next
    /// request of the conversation finds it. Says what was done, if anything was.
    pub fn run(&self, task: FoldTask, summary: Option<Summary>, now: Timestamp) -> Result<Option<Compacted>, Fault> {
        task.run(&self.shared, summary, now)
    }

    /// Adds what a summary cost to a session's account.
    pub fn charge_summary(&self, session: &SessionId, model: &str, usage: ReportedUsage) {
        let rules = self.shared.rules();
        let table = rules.job.models.as_ref().unwrap_or(ModelTable::embedded());
        let summaries = money::charged(&table.profile(model, ApiFamily::OpenAi), &usage);
        self.shared.memory().add(session, &Sums { summaries, ..Sums::default() });
    }

    /// Asks for a fold: the next request of that session is folded, with a focus if there is one. `false`
    /// when no such session is known.
    pub fn compact_now(&self, session: &SessionId, focus: Option<&str>) -> Result<bool, StoreError> {
        if !self.hold(session)? {
            return Ok(false);
        }
        if let Some(session) = self.shared.memory().session(session) {
            session.manual = Some(focus.map(str::to_owned));
        }
        Ok(true)
    }

    /// Takes back the latest prune or fold of a session: its next request goes out without it, as long as it fits.
    pub fn undo(&self, session: &SessionId, now: Timestamp) -> Result<Undo, StoreError> {
        if !self.hold(session)? {
            return Ok(Undo::NoSession);
        }
        undo::undo(&self.shared, session, now)
    }

    /// Prunes and folds of a session that are remembered, the latest first.
    pub fn folds(&self, session: &SessionId) -> Result<Vec<FoldView>, StoreError> {
        folds::list(&self.shared, session)
    }

    /// One of them with what stands in place of the messages, if it is this credential's and still kept.
    pub fn fold(
        &self,
        credential: &CredentialId,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<FoldText>, StoreError> {
        folds::one(&self.shared, credential, session, id)
    }

    /// Whether a session is known; brings it into memory.
    fn hold(&self, session: &SessionId) -> Result<bool, StoreError> {
        if self.shared.memory().session(session).is_some() {
            return Ok(true);
        }
        let stored = match self.shared.store() {
            Some(store) => store.session(session.as_str())?,
            None => None,
        };
        let Some(row) = stored else { return Ok(false) };
        let all = Bounds { sessions: usize::MAX, text_bytes: usize::MAX };
        self.shared.memory().admit(session, Session::of_row(&row), all);
        Ok(true)
    }

    /// An original that a fold of this credential removed.
    pub fn recall(&self, credential: &CredentialId, address: Address, now: Timestamp) -> Result<Recall, StoreError> {
        match self.shared.store() {
            Some(store) => store.get(now.0, &credential.namespace(), address),
            None => Ok(Recall::Unknown),
        }
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

    /// Places in originals that folds of this credential removed, or one session of it.
    pub fn search(
        &self,
        credential: &CredentialId,
        query: &Query,
        session: Option<&str>,
        limit: usize,
        way: &Way,
    ) -> Result<Findings, StoreError> {
        let namespace = credential.namespace();
        match self.shared.store() {
            Some(store) => store.search(&Search { query, whose: Whose::Namespace(&namespace), session, limit }, way),
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
