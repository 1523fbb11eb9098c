//! Runs a summary job: first endpoint, retries, fallback endpoint, result.

use super::call::{CallError, call};
use super::endpoint::Endpoint;
use crate::outbound::Outbound;
use foldline_core::summary::{Ask, Failure, FailureClass, Summary, SummaryJob, Writer};
use foldline_transcript::wire::reply::ReportedUsage;
use std::time::Duration;

/// How long to wait and how often to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest wait for the first word.
    pub first_word: Duration,
    /// The longest wait for a further word.
    pub idle: Duration,
    /// Further tries after a failure that may pass.
    pub retries: u32,
}

/// How far a summary is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A prompt was sent.
    Asking {
        /// The model.
        model: String,
    },
    /// Words are coming.
    Hearing {
        /// Characters so far.
        characters: usize,
    },
    /// The same is tried again after a pause.
    Waiting {
        /// The pause.
        pause: Duration,
        /// Why.
        failure: Failure,
    },
    /// Another model takes over.
    Switching {
        /// The model.
        model: String,
        /// Why.
        failure: Failure,
    },
}

/// Whom to ask, and whom to ask instead.
#[derive(Clone, Debug)]
pub struct Summariser {
    /// Connections.
    pub outbound: Outbound,
    /// Who is asked.
    pub first: Endpoint,
    /// Who is asked once when that fails: the conversation's own model.
    pub fallback: Option<Endpoint>,
    /// How long and how often.
    pub limits: Limits,
}

/// What one call took: reported by its server, estimated where that says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The model.
    pub model: String,
    /// Tokens by what they cost.
    pub usage: ReportedUsage,
}

/// A prompt that a server finds too long is split this often.
const MOST_SPLITS: u32 = 4;

impl Summariser {
    /// Runs a job. There is an outcome in every case.
    pub async fn write(&self, job: &SummaryJob, progress: &mut (dyn FnMut(Progress) + Send)) -> Summary {
        self.write_at_cost(job, progress, &mut Vec::new()).await
    }

    /// Runs a job, and writes down what each call took, also those in vain.
    pub async fn write_at_cost(
        &self,
        job: &SummaryJob,
        progress: &mut (dyn FnMut(Progress) + Send),
        spent: &mut Vec<Spent>,
    ) -> Summary {
        let mut work = Work { summariser: self, writer: job.start(), calls: 0, progress, spent };
        let mut model = self.first.model.clone();
        let mut rescued = None;
        if let Err(failure) = work.finish_with(&self.first, self.limits.retries).await {
            let Some(fallback) = &self.fallback else {
                return Summary::Failed(Failure { calls: work.calls, ..failure });
            };
            (work.progress)(Progress::Switching { model: fallback.model.clone(), failure: failure.clone() });
            // What the first model wrote so far stands; the second goes on from there.
            if let Err(last) = work.finish_with(fallback, 0).await {
                return Summary::Failed(Failure { calls: work.calls, ..last });
            }
            model.clone_from(&fallback.model);
            rescued = Some(failure);
        }
        let calls = work.calls;
        match work.writer.finish() {
            Some(mut written) => {
                written.effort.calls = calls;
                written.effort.model = Some(model);
                written.effort.rescued = rescued;
                Summary::Written(written)
            }
            None => Summary::Failed(Failure::new(FailureClass::BadReply, "the reply contains nothing usable")),
        }
    }
}

impl Summariser {
    /// Sends one prompt, once.
    pub(super) async fn send(
        &self,
        endpoint: &Endpoint,
        ask: &Ask,
        progress: &mut (dyn FnMut(Progress) + Send),
        spent: &mut Vec<Spent>,
    ) -> Result<String, CallError> {
        progress(Progress::Asking { model: endpoint.model.clone() });
        let mut heard = |characters: usize| progress(Progress::Hearing { characters });
        let mut usage = None;
        let answer = call(&self.outbound, endpoint, ask, self.limits, &mut heard, &mut usage).await;
        spent.extend(usage.map(|usage| Spent { model: endpoint.model.clone(), usage }));
        answer
    }
}

struct Work<'w> {
    summariser: &'w Summariser,
    writer: Writer,
    calls: u32,
    progress: &'w mut (dyn FnMut(Progress) + Send),
    spent: &'w mut Vec<Spent>,
}

impl Work<'_> {
    /// Asks one endpoint everything that is left to ask.
    async fn finish_with(&mut self, endpoint: &Endpoint, retries: u32) -> Result<(), Failure> {
        let (mut tries, mut splits) = (0, 0);
        while let Some(ask) = self.writer.ask() {
            let missed = match self.once(endpoint, &ask).await {
                Ok(()) => {
                    tries = 0;
                    continue;
                }
                Err(missed) => missed,
            };
            let too_long = missed.failure.class == FailureClass::ContextLength && splits < MOST_SPLITS;
            if too_long && self.writer.shrink() {
                splits += 1;
                continue;
            }
            let Some(pause) = missed.pause(tries, retries) else {
                // The conversation as it is was only the cheaper way.
                if self.writer.without_document() {
                    continue;
                }
                return Err(missed.failure);
            };
            tries += 1;
            (self.progress)(Progress::Waiting { pause, failure: missed.failure });
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    async fn once(&mut self, endpoint: &Endpoint, ask: &Ask) -> Result<(), CallError> {
        // The conversation itself goes to its own model.
        let own = self.summariser.fallback.as_ref().filter(|_| matches!(ask, Ask::Document { .. }));
        let endpoint = own.unwrap_or(endpoint);
        self.calls += 1;
        let text = self.summariser.send(endpoint, ask, self.progress, self.spent).await?;
        self.writer.reply(&text).map_err(|bad| CallError {
            failure: Failure::new(FailureClass::BadReply, &bad.to_string()),
            headers: Default::default(),
            again: true,
        })
    }
}
