//! What a request becomes before it is forwarded: identity, checkpoints, folds. No HTTP.

mod ask;
mod fault;
mod fold;
mod prepared;
mod refusal;
mod sessions;
mod settings;

pub use ask::{Ask, Bypass, CredentialId, Dialect, PurposeHint, SessionId, Timestamp};
pub use fault::Fault;
pub use fold::{FoldTask, Planned};
pub use foldline_core::wire::reply::ReportedUsage;
pub use prepared::{Outcome, Prepared, Turn};
pub use refusal::{Refusal, RefusalKind, read_refusal};
pub use sessions::{SessionView, Sums, Totals, TurnEvent};
pub use settings::{ConversationSettings, Mode};

use foldline_core::summary::Summary;
use foldline_store::{Address, Recall, StoreError};
use std::borrow::Cow;
use std::sync::Arc;

/// All conversations that pass through the gateway. Cheap to clone. Every method is synchronous and
/// bounded in time, and belongs on a thread that may block.
#[derive(Clone, Debug)]
pub struct Conversations {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {}

impl Conversations {
    /// Opens the store and starts with what it knows.
    pub fn open(_settings: ConversationSettings) -> Result<Conversations, Fault> {
        Ok(Conversations { inner: Arc::new(Inner {}) })
    }

    /// Other settings from the next request on. The store stays the one that was opened.
    pub fn reload(&self, _settings: ConversationSettings) {}

    /// Makes a request ready to be forwarded. On a fault, forward it as it came.
    pub fn prepare<'a>(&self, ask: &Ask<'a>) -> Result<Prepared<'a>, Fault> {
        let _ = &self.inner;
        let session = SessionId::of_digest(ask.credential.as_bytes());
        let turn = Turn {
            credential: ask.credential,
            session: session.clone(),
            dialect: ask.dialect,
            model: String::new(),
            outcome: Outcome::Unchanged,
            tokens: (0, 0),
        };
        Ok(Prepared {
            body: Cow::Borrowed(ask.body),
            session,
            outcome: Outcome::Unchanged,
            tokens: (0, 0),
            turn,
            background: None,
            warnings: Vec::new(),
        })
    }

    /// Takes note of what the provider reported for a forwarded request.
    pub fn observe(&self, _turn: &Turn, _usage: ReportedUsage, _now: Timestamp) {}

    /// Folds a request harder that the provider refused for its size. `attempt` is 1, then 2; `None` when
    /// nothing is left to give: then the provider's error goes to the client.
    pub fn overflow<'a>(
        &self,
        _ask: &Ask<'a>,
        _turn: &Turn,
        _refusal: &Refusal,
        _attempt: u8,
    ) -> Result<Option<Prepared<'a>>, Fault> {
        Ok(None)
    }

    /// Plans a fold in the background: first step, on a blocking thread.
    pub fn plan(&self, _task: &mut FoldTask) -> Result<Planned, Fault> {
        Ok(Planned::Nothing)
    }

    /// Finishes a fold in the background with a model's words, its failure, or without one. The next
    /// request of the conversation finds it.
    pub fn run(&self, _task: FoldTask, _summary: Option<Summary>, _now: Timestamp) -> Result<(), Fault> {
        Ok(())
    }

    /// Adds what a summary cost to a session's account.
    pub fn charge_summary(&self, _session: &SessionId, _model: &str, _usage: ReportedUsage) {}

    /// Asks for a fold: the next request of that session is folded, with a focus if there is one. `false`
    /// when no such session is known.
    pub fn compact_now(&self, _session: &SessionId, _focus: Option<&str>) -> bool {
        false
    }

    /// An original that a fold of this credential removed.
    pub fn recall(&self, _credential: &CredentialId, _address: Address, _now: Timestamp) -> Result<Recall, StoreError> {
        Ok(Recall::Unknown)
    }

    /// The latest sessions, newest first; of one credential, or of all.
    pub fn sessions(&self, _credential: Option<&CredentialId>, _most: usize) -> Result<Vec<SessionView>, StoreError> {
        Ok(Vec::new())
    }

    /// One session and its latest turns, newest first.
    pub fn session(&self, _id: &SessionId, _most: usize) -> Result<Option<(SessionView, Vec<TurnEvent>)>, StoreError> {
        Ok(None)
    }

    /// Sums since the start.
    pub fn totals(&self) -> Totals {
        Totals::default()
    }

    /// Writes down what may wait: sums, events, calibration. To be called about every second and at the end.
    pub fn flush(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }
}
