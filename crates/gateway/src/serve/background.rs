//! Background work: folds, and writing session statistics.

use super::gateway::{Gateway, now};
use super::log_lines::{self, Applied, Figures, Totals};
use super::rewrite::RewriteError;
use super::spans;
use crate::conversation::{FoldTask, Planned};
use crate::summariser::{Spent, Summary, SummaryJob};
use crate::telemetry::{Source, Span, SpanKind};
use foldline_core::summary::{Failure, FailureClass};
use foldline_store::KeyUsage;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// How often sums and events are written down: a crash loses at most this much of them.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

/// Reports that come after a flush wait so many times as long as it took: writing them takes at most this part of a core.
const FLUSH_PART: u32 = 10;

/// Makes a fold in the background. The next request of the conversation finds it. `request` is the span of the request
/// that began it.
pub fn fold(gateway: &Arc<Gateway>, task: FoldTask, request: &Span) {
    let Ok(place) = gateway.folds.clone().try_acquire_owned() else {
        gateway.metrics.fallback("fold_limit");
        return;
    };
    let gateway = gateway.clone();
    let span = request.child("fold", SpanKind::Internal);
    span.set("foldline.session", task.session().as_str());
    tokio::spawn(async move {
        let _place = place;
        let session = task.session().clone();
        if let Err(trouble) = fold_now(&gateway, task, &span).await {
            span.fail("background");
            trouble.record(&gateway, "background");
            warn!(session = session.as_str(), "background fold failed");
        }
    });
}

async fn fold_now(gateway: &Arc<Gateway>, mut task: FoldTask, span: &Span) -> Result<(), RewriteError> {
    let began = Instant::now();
    let rewriter = gateway.rewriter.clone();
    let (task, planned) = tokio::task::spawn_blocking(move || {
        let planned = rewriter.plan(&mut task);
        (task, planned)
    })
    .await
    .map_err(|_| RewriteError::Panic)?;
    let summary = match planned.map_err(RewriteError::Prepare)? {
        Planned::Nothing => return Ok(()),
        Planned::Ready => None,
        Planned::NeedsSummary(job) => {
            let summarising = span.child("summarise", SpanKind::Client);
            let summary = summarise(gateway, &task, &job).await;
            if matches!(summary, Some(Summary::Failed(_))) {
                summarising.fail("summariser");
            }
            summary
        }
    };
    let rewriter = gateway.rewriter.clone();
    let session = task.session().clone();
    let done = tokio::task::spawn_blocking(move || rewriter.run(task, summary, now()))
        .await
        .map_err(|_| RewriteError::Panic)?
        .map_err(RewriteError::Prepare)?;
    if let Some(done) = done {
        spans::compacted(span, &done);
        log_lines::compacted(&session, &done, Applied::InBackground, began.elapsed());
    }
    Ok(())
}

/// Asks the model that the settings name.
async fn summarise(gateway: &Gateway, task: &FoldTask, job: &SummaryJob) -> Option<Summary> {
    let summariser = gateway.setup().summariser.clone()?.for_job(job);
    let mut spent = Vec::new();
    let summary = summariser.write_at_cost(job, &mut |_| {}, &mut spent).await;
    for Spent { model, usage } in spent {
        let dollars = gateway.conversations.charge_summary(task.session(), &model, usage);
        let (tokens_in, tokens_out) = (usage.prompt(), usage.output);
        gateway.book(task.credential(), &KeyUsage { requests: 0, tokens_in, tokens_out, dollars });
    }
    Some(match summary {
        Summary::Written(written) => {
            gateway.metrics.summary("written");
            Summary::Written(written)
        }
        Summary::Failed(failure) => {
            gateway.metrics.summary("failed");
            gateway.metrics.fallback("summariser");
            let failure = without_words(failure);
            warn!(%failure, "the summariser failed");
            Summary::Failed(failure)
        }
    })
}

/// A failure without what the server said: it may repeat what it was asked, and failures are logged and remembered.
fn without_words(failure: Failure) -> Failure {
    let message = match failure.class {
        // These are in our own words.
        FailureClass::Timeout | FailureClass::Network => failure.message,
        _ => {
            let status = failure.message.split(':').next().filter(|start| start.starts_with("HTTP "));
            status.unwrap_or("response text not logged").to_owned()
        }
    };
    Failure { message, ..failure }
}

/// Writes down what was reported as soon as it is, what may wait every moment, and all once more when `stop` is done.
/// Reports that come while one is being written, or right after it, go down together: a busy gateway does not write all the
/// time.
pub async fn write_statistics(gateway: Arc<Gateway>, stop: impl Future<Output = ()>) {
    tokio::pin!(stop);
    // Said when it begins and when it ends, not four times a second.
    let mut statistics = StatisticsState::Written;
    let mut totals = Totals::new(Instant::now());
    let mut pause = Duration::ZERO;
    loop {
        let reported = async {
            tokio::time::sleep(pause).await;
            gateway.reported.notified().await;
        };
        let stopped = tokio::select! {
            () = tokio::time::sleep(FLUSH_EVERY) => false,
            () = reported => false,
            () = &mut stop => true,
        };
        let began = Instant::now();
        let worker = gateway.clone();
        let flushed = tokio::task::spawn_blocking(move || {
            let conversations = &worker.conversations;
            let flushed = conversations.flush(now());
            let followed = match stopped {
                false => worker.stored_keys.follow(conversations.store(), now().0),
                true => conversations.store().map_or(Ok(()), |store| worker.stored_keys.synchronise(store, now().0)),
            };
            let flushed = flushed.and(followed);
            if flushed.is_ok() && !stopped {
                conversations.index();
            }
            flushed
        });
        let flushed = flushed.await;
        pause = FLUSH_PART * began.elapsed();
        if let Ok(flushed) = flushed {
            statistics = statistics.after(&gateway, flushed.err());
        }
        totals.log(Instant::now(), || Figures::of(&gateway));
        if stopped {
            return;
        }
    }
}

/// What telemetry is made of.
pub struct Telemetry(pub Arc<Gateway>);

impl Source for Telemetry {
    fn page(&self) -> String {
        self.0.metrics.page()
    }

    fn exported(&self, spans: u64) {
        self.0.metrics.spans("exported", spans);
    }

    fn dropped(&self, spans: u64) {
        self.0.metrics.spans("dropped", spans);
    }
}

/// Whether the last sums and events were written down.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StatisticsState {
    Written,
    Pending,
}

impl StatisticsState {
    fn after(self, gateway: &Gateway, error: Option<foldline_store::StoreError>) -> StatisticsState {
        match (self, error) {
            (StatisticsState::Written, Some(error)) => {
                gateway.metrics.fallback("statistics");
                warn!(%error, "failed to write session statistics to the store; they are kept in memory and retried");
                StatisticsState::Pending
            }
            (StatisticsState::Pending, Some(_)) => StatisticsState::Pending,
            (StatisticsState::Pending, None) => {
                info!("session statistics are written to the store again");
                StatisticsState::Written
            }
            (StatisticsState::Written, None) => StatisticsState::Written,
        }
    }
}
