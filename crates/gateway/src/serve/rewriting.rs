//! Rewriting a request, so guarded that it can only help: on a thread of its own, within a time limit, and whatever
//! goes wrong there, the request goes out as it came.

use super::assistant_answer::Delivery;
use super::budget::Weighed;
use super::gateway::{Gateway, now};
use super::hints::Hints;
use super::journal::{self, Carried};
use super::marks::Marking;
use super::route::ModelCall;
use super::{marks, usage};
use crate::conversation::{
    Ask, Bypass, Compacted, CredentialId, Dialect, Durability, Fault, FoldTask, Outcome, Prepared, Refusal, SessionId,
    Turn, Writer,
};
use bytes::Bytes;
use foldline_core::reading::Site;
use foldline_transcript::{Structure, Transcript, wire};
use http::Uri;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tracing::warn;

/// A request as it came, unpacked.
#[derive(Clone)]
pub struct Question {
    /// Its API.
    pub dialect: Dialect,
    /// The body.
    pub body: Weighed,
    /// What its address says.
    pub wish: Wish,
    /// Who asks.
    pub credential: CredentialId,
    /// What its headers say.
    pub hints: Arc<Hints>,
    /// Where the model that writes handoffs is asked.
    pub writer: Writer,
    /// Where the agent finds our own pages.
    pub site: Option<Arc<Site>>,
}

/// What an address says that other APIs have in the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The model.
    pub model: Option<Arc<str>>,
    /// How the answer is delivered.
    pub delivery: Option<Delivery>,
}

impl Wish {
    /// Reads an address.
    pub fn of(uri: &Uri) -> Wish {
        let Some(call) = ModelCall::of(uri.path()) else { return Wish::default() };
        let is_events = uri.query().unwrap_or_default().split('&').any(|pair| pair == "alt=sse");
        let delivery = match call.verb {
            "streamGenerateContent" if is_events => Delivery::Stream,
            "streamGenerateContent" => Delivery::List,
            _ => Delivery::Whole,
        };
        Wish { model: Some(call.model.into()), delivery: Some(delivery) }
    }
}

/// What a request became.
pub struct Rewritten {
    /// The body to send; `None` sends what came.
    pub body: Option<Bytes>,
    /// Whether the gateway asked for usage that the client does not want to see.
    pub usage: Usage,
    /// The rest, where it could be read.
    pub known: Option<Known>,
    /// For headers and metrics.
    pub outcome: &'static str,
    /// What the store could do for it.
    pub store: Served,
}

/// What the store did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// All that was asked of it.
    Well,
    /// It failed to keep a fold.
    Badly,
}

/// Whose wish usage in a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The client's, or nobody's.
    Theirs,
    /// Only ours.
    Ours,
}

/// What is known about a request that could be read.
pub struct Known {
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

/// Why a request goes out as it came.
#[derive(Debug)]
pub enum Trouble {
    /// The body is no text.
    NoText,
    /// Something is wrong on our side.
    Fault(Fault),
    /// The code panicked.
    Panic,
    /// It took too long, or all threads are taken.
    TooLate,
}

/// The outcome of a request that goes out as it came because of a fault.
pub const FAILED_OPEN: &str = "failed-open";

impl Question {
    /// Makes the request ready. Never fails.
    pub async fn prepare(&self, gateway: &Arc<Gateway>) -> Rewritten {
        let limit = gateway.setup().patience.prepare;
        let began = Instant::now();
        let wants_usage = gateway.setup().gateway.force_usage
            && self.dialect == Dialect::Chat
            && self.hints.bypass == Bypass::No
            && !gateway.usage_refused.load(Ordering::Relaxed);
        let (question, rewriter) = (self.clone(), gateway.rewriter.clone());
        let marking = Marking::of(&gateway.setup());
        let work = move || {
            let text = std::str::from_utf8(&question.body).map_err(|_| Trouble::NoText)?;
            let prepared = rewriter.prepare(&question.ask(text)).map_err(Trouble::Fault)?;
            Ok(finish(prepared, question.dialect, marking, if wants_usage { Usage::Ours } else { Usage::Theirs }))
        };
        match guarded(gateway, limit, work).await {
            Ok(rewritten) => {
                rewritten.tell(began.elapsed());
                rewritten.counted(gateway)
            }
            Err(trouble) => {
                trouble.record(gateway, trouble.kind());
                let outcome = trouble.outcome();
                Rewritten { body: None, usage: Usage::Theirs, known: None, outcome, store: Served::Well }
            }
        }
    }

    /// Makes a request shorter that the provider refused for its size. `None` when that cannot be done.
    pub async fn shorten(
        &self,
        gateway: &Arc<Gateway>,
        turn: &Turn,
        refusal: Refusal,
        attempt: u8,
        usage: Usage,
    ) -> Option<Rewritten> {
        let (question, rewriter, turn) = (self.clone(), gateway.rewriter.clone(), turn.clone());
        let marking = Marking::of(&gateway.setup());
        let began = Instant::now();
        let work = move || {
            let text = std::str::from_utf8(&question.body).map_err(|_| Trouble::NoText)?;
            let prepared = rewriter.overflow(&question.ask(text), &turn, &refusal, attempt).map_err(Trouble::Fault)?;
            Ok(prepared.map(|prepared| finish(prepared, question.dialect, marking, usage)))
        };
        // The alternative is an error for the client, so there is more time than on the way of every request.
        match guarded(gateway, SHORTEN_PATIENCE, work).await {
            Ok(rewritten) => rewritten.map(|rewritten| {
                if let Some(Known { session, compacted: Some(done), .. }) = &rewritten.known {
                    journal::recovered(session, done, attempt, began.elapsed());
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
    pub fn ask<'a>(&'a self, text: &'a str) -> Ask<'a> {
        Ask {
            dialect: self.dialect,
            body: text,
            model: self.wish.model.as_deref(),
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

/// How long a request that was refused may take to be made shorter.
const SHORTEN_PATIENCE: Duration = Duration::from_secs(20);

/// Runs work on a thread that may block, within a limit, and catches what goes wrong.
async fn guarded<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    limit: Duration,
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let run = async {
        let worker = gateway.workers.clone().acquire_owned().await.map_err(|_| Trouble::TooLate)?;
        // The place is given back when the work ends, not when somebody stops waiting for it: work that hangs must
        // not be joined by ever more of its kind.
        let job = tokio::task::spawn_blocking(move || {
            let _worker = worker;
            work()
        });
        job.await.map_err(|_| Trouble::Panic)?
    };
    tokio::time::timeout(limit, run).await.map_err(|_| Trouble::TooLate)?
}

/// From a prepared request to bytes.
fn finish(prepared: Prepared<'_>, dialect: Dialect, marking: Marking, wanted: Usage) -> Rewritten {
    let Prepared { body, mut structure, session, outcome, tokens, turn, durability, compacted, background, warnings } =
        prepared;
    for warning in warnings {
        warn!(session = session.as_str(), "{warning}");
    }
    let leave_alone = matches!(outcome, Outcome::Bypassed | Outcome::Holdout | Outcome::Shadow);
    let body = if leave_alone { body } else { marks::place(dialect, marking, body, &mut structure) };
    let with_usage = match wanted {
        Usage::Ours if outcome != Outcome::Bypassed => {
            transcript(&body, dialect, structure).and_then(|transcript| usage::ask_for(&transcript))
        }
        _ => None,
    };
    let usage = if with_usage.is_some() { Usage::Ours } else { Usage::Theirs };
    let body = match (with_usage, body) {
        (Some(text), _) | (None, Cow::Owned(text)) => Some(Bytes::from(text)),
        (None, Cow::Borrowed(_)) => None,
    };
    let store = match (outcome, durability) {
        (Outcome::FailedOpen, _) | (_, Durability::Memory) => Served::Badly,
        _ => Served::Well,
    };
    Rewritten {
        body,
        usage,
        outcome: outcome.name(),
        known: Some(Known { session, tokens, turn, compacted, background }),
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
    /// Tells what was done in this turn.
    fn tell(&self, took: Duration) {
        if let Some(Known { session, compacted: Some(done), .. }) = &self.known {
            let carried = if self.outcome == Outcome::Shadow.name() { Carried::NotInShadow } else { Carried::Out };
            journal::compacted(session, done, carried, took);
        }
    }

    /// The same, with its fault counted if there was one.
    fn counted(self, gateway: &Gateway) -> Rewritten {
        if self.store == Served::Badly {
            gateway.metrics.fallback("store");
        }
        self
    }
}

impl Trouble {
    /// For headers and metrics.
    fn outcome(&self) -> &'static str {
        match self {
            // What is no conversation to us is the provider's to judge.
            Self::NoText | Self::Fault(Fault::Unreadable(_)) => "unread",
            _ => FAILED_OPEN,
        }
    }

    /// For metrics and logs.
    fn kind(&self) -> &'static str {
        match self {
            Self::NoText => "no_text",
            Self::Fault(fault) => fault.name(),
            Self::Panic => "panic",
            Self::TooLate => "too_late",
        }
    }

    /// Counts it under a name, and logs it without a word of content.
    pub fn record(&self, gateway: &Gateway, name: &'static str) {
        gateway.metrics.fallback(name);
        let kind = self.kind();
        match self {
            Self::Fault(Fault::Store(error)) => warn!(kind, %error, "fallback: requests go out without this"),
            _ => warn!(kind, "fallback: requests go out without this"),
        }
    }
}
