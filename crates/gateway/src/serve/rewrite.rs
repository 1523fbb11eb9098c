//! Rewrites a request on a worker thread within a time limit. If anything fails, the original request is forwarded.

use super::assistant_answer::Delivery;
use super::budget::AccountedBytes;
use super::cache_marks::Marking;
use super::gateway::{Gateway, now};
use super::header_hints::Hints;
use super::log_lines::{self, Applied};
use super::route::ModelCall;
use super::{cache_marks, usage};
use crate::conversation::{
    Bypass, Compacted, CredentialId, Dialect, Durability, FoldTask, IncomingTurn, Outcome, PrepareError, Prepared,
    SessionId, SizeRefusal, SummariserAt, Turn,
};
use bytes::Bytes;
use foldline_core::reading::Site;
use foldline_transcript::{Structure, Transcript, wire};
use http::Uri;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tracing::warn;

/// A turn as received, decompressed.
#[derive(Clone)]
pub struct TurnRequest {
    /// Its API.
    pub dialect: Dialect,
    /// The body.
    pub body: AccountedBytes,
    /// What its address says.
    pub url: UrlParameters,
    /// Who asks.
    pub credential: CredentialId,
    /// What its headers say.
    pub hints: Arc<Hints>,
    /// Where the model that writes handoffs is asked.
    pub writer: SummariserAt,
    /// Where the agent finds our own pages.
    pub site: Option<Arc<Site>>,
}

/// What the URL says that other APIs have in the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlParameters {
    /// The model.
    pub model: Option<Arc<str>>,
    /// How the answer is delivered.
    pub delivery: Option<Delivery>,
}

impl UrlParameters {
    /// Reads an address.
    pub fn of(uri: &Uri) -> UrlParameters {
        let Some(call) = ModelCall::of(uri.path()) else { return UrlParameters::default() };
        let is_events = uri.query().unwrap_or_default().split('&').any(|pair| pair == "alt=sse");
        let delivery = match call.verb {
            "streamGenerateContent" if is_events => Delivery::Stream,
            "streamGenerateContent" => Delivery::List,
            _ => Delivery::Whole,
        };
        UrlParameters { model: Some(call.model.into()), delivery: Some(delivery) }
    }
}

/// A rewritten request.
pub struct Rewritten {
    /// The body to send; `None` sends what came.
    pub body: Option<Bytes>,
    /// Whether the gateway asked for usage that the client does not want to see.
    pub usage: UsageRequestedBy,
    /// The rest, where it could be read.
    pub details: Option<RewriteDetails>,
    /// For headers and metrics.
    pub outcome: &'static str,
    /// What the store could do for it.
    pub store: StoreResult,
}

/// Whether the store kept the fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreResult {
    /// All that was asked of it.
    Kept,
    /// It failed to keep a fold.
    Failed,
}

/// Who requested usage in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageRequestedBy {
    /// The client, or nobody.
    Client,
    /// Only the gateway.
    Gateway,
}

/// Details of a request that could be read.
pub struct RewriteDetails {
    /// The session it belongs to.
    pub session: SessionId,
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// To be handed back with the reported usage.
    pub turn: Turn,
    /// What was done in this turn.
    pub compacted: Option<Compacted>,
    /// Work for later.
    pub background: Option<FoldTask>,
}

/// Why a request is forwarded unchanged.
#[derive(Debug)]
pub enum RewriteError {
    /// The body is not UTF-8.
    NotUtf8,
    /// Something is wrong on our side.
    Prepare(PrepareError),
    /// The code panicked.
    Panic,
    /// It took too long, or all threads are taken.
    TimedOut,
}

/// The outcome of a request that goes out as it came because of a fault.
pub const FAILED_OPEN: &str = "failed-open";

impl TurnRequest {
    /// Makes the request ready. Never fails.
    pub async fn prepare(&self, gateway: &Arc<Gateway>) -> Rewritten {
        // A database that restarts is waited for: without it this node would send something else than the others.
        let limit = gateway.setup().patience.prepare + gateway.conversations.longest_restart();
        let began = Instant::now();
        let wants_usage = gateway.setup().gateway.force_usage
            && self.dialect == Dialect::Chat
            && self.hints.bypass == Bypass::No
            && !gateway.usage_refused.load(Ordering::Relaxed);
        let wanted = if wants_usage { UsageRequestedBy::Gateway } else { UsageRequestedBy::Client };
        let marking = Marking::of(&gateway.setup());
        if let Some(rewritten) = self.prepare_at_once(gateway, marking, wanted) {
            return rewritten;
        }
        let (turn_request, rewriter) = (self.clone(), gateway.rewriter.clone());
        let work = move || {
            let text = std::str::from_utf8(&turn_request.body).map_err(|_| RewriteError::NotUtf8)?;
            let prepared = rewriter.prepare(&turn_request.ask(text)).map_err(RewriteError::Prepare)?;
            Ok(finish(prepared, turn_request.dialect, marking, wanted))
        };
        match guarded(gateway, limit, work).await {
            Ok(rewritten) => {
                rewritten.log(began.elapsed());
                rewritten.counted(gateway)
            }
            Err(trouble) => {
                trouble.record(gateway, trouble.kind());
                let outcome = trouble.outcome();
                Rewritten {
                    body: None,
                    usage: UsageRequestedBy::Client,
                    details: None,
                    outcome,
                    store: StoreResult::Kept,
                }
            }
        }
    }

    /// Makes a small request ready here and now where everything is in memory: to hand it to another thread and back takes
    /// longer than to read it.
    fn prepare_at_once(&self, gateway: &Gateway, marking: Marking, wanted: UsageRequestedBy) -> Option<Rewritten> {
        let text = std::str::from_utf8(&self.body).ok().filter(|text| text.len() <= SMALL_BODY)?;
        // What panics does so again on a thread of its own, and is counted there.
        let prepared = catch_unwind(AssertUnwindSafe(|| {
            let prepared = gateway.rewriter.prepare_at_once(&self.ask(text))?;
            Some(finish(prepared, self.dialect, marking, wanted))
        }));
        prepared.ok().flatten()
    }

    /// Makes a request shorter that the provider refused for its size. `None` when that cannot be done.
    pub async fn shorten(
        &self,
        gateway: &Arc<Gateway>,
        turn: &Turn,
        refusal: SizeRefusal,
        attempt: u8,
        usage: UsageRequestedBy,
    ) -> Option<Rewritten> {
        let (turn_request, rewriter, turn) = (self.clone(), gateway.rewriter.clone(), turn.clone());
        let marking = Marking::of(&gateway.setup());
        let began = Instant::now();
        let work = move || {
            let text = std::str::from_utf8(&turn_request.body).map_err(|_| RewriteError::NotUtf8)?;
            let prepared =
                rewriter.overflow(&turn_request.ask(text), &turn, &refusal, attempt).map_err(RewriteError::Prepare)?;
            Ok(prepared.map(|prepared| finish(prepared, turn_request.dialect, marking, usage)))
        };
        // The alternative is an error for the client, so there is more time than on the way of every request.
        match guarded(gateway, SHORTEN_PATIENCE, work).await {
            Ok(rewritten) => rewritten.map(|rewritten| {
                if let Some(RewriteDetails { session, compacted: Some(done), .. }) = &rewritten.details {
                    log_lines::recovered(session, done, attempt, began.elapsed());
                }
                rewritten.counted(gateway)
            }),
            Err(trouble) => {
                trouble.record(gateway, trouble.kind());
                None
            }
        }
    }

    /// Drops what the provider rejected in a turn.
    pub async fn reject(&self, gateway: &Arc<Gateway>, turn: Turn) {
        let rewriter = gateway.rewriter.clone();
        let work = move || {
            rewriter.reject(&turn);
            Ok(())
        };
        if let Err(trouble) = guarded(gateway, gateway.setup().patience.prepare, work).await {
            trouble.record(gateway, trouble.kind());
        }
    }

    /// What conversations are asked.
    pub fn ask<'a>(&'a self, text: &'a str) -> IncomingTurn<'a> {
        IncomingTurn {
            dialect: self.dialect,
            body: text,
            model: self.url.model.as_deref(),
            credential: self.credential,
            session_hint: self.hints.session.as_deref(),
            agent_hint: self.hints.agent.as_deref(),
            focus: self.hints.focus.as_deref(),
            purpose: self.hints.purpose,
            bypass: self.hints.bypass,
            writer: self.writer,
            site: self.site.as_deref(),
            now: now(),
        }
    }
}

/// Bodies up to this size are read in a tenth of a millisecond.
const SMALL_BODY: usize = 16 << 10;

/// How long a request that was refused may take to be made shorter.
const SHORTEN_PATIENCE: Duration = Duration::from_secs(20);

/// Runs work on a thread that may block, within a limit, and catches what goes wrong.
async fn guarded<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    limit: Duration,
    work: impl FnOnce() -> Result<T, RewriteError> + Send + 'static,
) -> Result<T, RewriteError> {
    let run = async {
        let worker = gateway.workers.clone().acquire_owned().await.map_err(|_| RewriteError::TimedOut)?;
        // The place is given back when the work ends, not when somebody stops waiting for it: work that hangs must
        // not be joined by ever more of its kind.
        let job = tokio::task::spawn_blocking(move || {
            let _worker = worker;
            work()
        });
        job.await.map_err(|_| RewriteError::Panic)?
    };
    tokio::time::timeout(limit, run).await.map_err(|_| RewriteError::TimedOut)?
}

/// From a prepared request to bytes.
fn finish(prepared: Prepared<'_>, dialect: Dialect, marking: Marking, wanted: UsageRequestedBy) -> Rewritten {
    let Prepared { body, mut structure, session, outcome, tokens, turn, durability, compacted, background, warnings } =
        prepared;
    for warning in warnings {
        warn!(session = session.as_str(), "{warning}");
    }
    let leave_alone = matches!(outcome, Outcome::Bypassed | Outcome::Holdout | Outcome::Shadow);
    let body = if leave_alone { body } else { cache_marks::place(dialect, marking, body, &mut structure) };
    let with_usage = match wanted {
        UsageRequestedBy::Gateway if outcome != Outcome::Bypassed => {
            transcript(&body, dialect, structure).and_then(|transcript| usage::ask_for(&transcript))
        }
        _ => None,
    };
    let usage = if with_usage.is_some() { UsageRequestedBy::Gateway } else { UsageRequestedBy::Client };
    let body = match (with_usage, body) {
        (Some(text), _) | (None, Cow::Owned(text)) => Some(Bytes::from(text)),
        (None, Cow::Borrowed(_)) => None,
    };
    let store = match (outcome, durability) {
        (Outcome::FailedOpen, _) | (_, Durability::Memory) => StoreResult::Failed,
        _ => StoreResult::Kept,
    };
    Rewritten {
        body,
        usage,
        outcome: outcome.name(),
        details: Some(RewriteDetails { session, tokens, turn, compacted, background }),
        store,
    }
}

/// The transcript of a body, by its structure where that is known.
pub fn transcript(body: &str, dialect: Dialect, structure: Option<Arc<Structure>>) -> Option<Transcript<'_>> {
    match structure {
        Some(structure) => Some(Transcript::new(body, structure)),
        None => wire::read(body, Some(dialect.format())).ok(),
    }
}

impl Rewritten {
    /// Logs what was done in this turn.
    fn log(&self, took: Duration) {
        if let Some(RewriteDetails { session, compacted: Some(done), .. }) = &self.details {
            let applied =
                if self.outcome == Outcome::Shadow.name() { Applied::ShadowOnly } else { Applied::BeforeForwarding };
            log_lines::compacted(session, done, applied, took);
        }
    }

    /// The same, with its fault counted if there was one.
    fn counted(self, gateway: &Gateway) -> Rewritten {
        if self.store == StoreResult::Failed {
            gateway.metrics.fallback("store");
        }
        self
    }
}

impl RewriteError {
    /// For headers and metrics.
    fn outcome(&self) -> &'static str {
        match self {
            // What is no conversation to us is the provider's to judge.
            Self::NotUtf8 | Self::Prepare(PrepareError::Unreadable(_)) => "unread",
            _ => FAILED_OPEN,
        }
    }

    /// For metrics and logs.
    fn kind(&self) -> &'static str {
        match self {
            Self::NotUtf8 => "not_utf8",
            Self::Prepare(fault) => fault.name(),
            Self::Panic => "panic",
            Self::TimedOut => "timeout",
        }
    }

    /// Counts it under a name, and logs it without a word of content.
    pub fn record(&self, gateway: &Gateway, name: &'static str) {
        gateway.metrics.fallback(name);
        let kind = self.kind();
        match self {
            Self::Prepare(PrepareError::Store(error)) => warn!(kind, %error, "fallback: request forwarded unchanged"),
            _ => warn!(kind, "fallback: request forwarded unchanged"),
        }
    }
}
