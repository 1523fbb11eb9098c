//! Work beside the requests: folds, and writing down what may wait.

use super::gateway::{Gateway, now};
use super::journal::{self, Carried, Figures, Totals};
use super::rewriting::Trouble;
use crate::conversation::{FoldTask, Planned, SessionId};
use crate::summariser::{Spent, Summary, SummaryJob};
use foldline_core::summary::{Failure, FailureClass};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// How often sums and events are written down: a crash loses at most this much of them.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

/// Makes a fold in the background. The next request of the conversation finds it.
pub fn fold(gateway: &Arc<Gateway>, task: FoldTask) {
    let Ok(place) = gateway.folds.clone().try_acquire_owned() else {
        gateway.metrics.fallback("crowded");
        return;
    };
    let gateway = gateway.clone();
    tokio::spawn(async move {
        let _place = place;
        let session = task.session().clone();
        if let Err(trouble) = fold_now(&gateway, task).await {
            trouble.record(&gateway, "background");
            warn!(session = session.as_str(), "a fold in the background failed");
        }
    });
}

async fn fold_now(gateway: &Arc<Gateway>, mut task: FoldTask) -> Result<(), Trouble> {
    let began = Instant::now();
    let rewriter = gateway.rewriter.clone();
    let (task, planned) = tokio::task::spawn_blocking(move || {
        let planned = rewriter.plan(&mut task);
        (task, planned)
    })
    .await
    .map_err(|_| Trouble::Panic)?;
    let summary = match planned.map_err(Trouble::Fault)? {
        Planned::Nothing => return Ok(()),
        Planned::Ready => None,
        Planned::Ask(job) => summarise(gateway, task.session(), &job).await,
    };
    let rewriter = gateway.rewriter.clone();
    let session = task.session().clone();
    let done = tokio::task::spawn_blocking(move || rewriter.run(task, summary, now()))
        .await
        .map_err(|_| Trouble::Panic)?
        .map_err(Trouble::Fault)?;
    if let Some(done) = done {
        journal::compacted(&session, &done, Carried::Beside, began.elapsed());
    }
    Ok(())
}

/// Asks the model that the settings name.
async fn summarise(gateway: &Gateway, session: &SessionId, job: &SummaryJob) -> Option<Summary> {
    let summariser = gateway.setup().summariser.clone()?.for_job(job);
    let mut spent = Vec::new();
    let summary = summariser.write_at_cost(job, &mut |_| {}, &mut spent).await;
    for Spent { model, usage } in spent {
        gateway.conversations.charge_summary(session, &model, usage);
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
            status.unwrap_or("what it said is not logged").to_owned()
        }
    };
    Failure { message, ..failure }
}

/// Writes down what was reported as soon as it is, what may wait every moment, and all once more when `stop` is done.
/// Reports that come while one is being written go down together, so a busy gateway writes no more often.
pub async fn keep_books(gateway: Arc<Gateway>, stop: impl Future<Output = ()>) {
    tokio::pin!(stop);
    // Said when it begins and when it ends, not four times a second.
    let mut books = Books::Written;
    let mut totals = Totals::new(Instant::now());
    loop {
        let stopped = tokio::select! {
            () = tokio::time::sleep(FLUSH_EVERY) => false,
            () = gateway.reported.notified() => false,
            () = &mut stop => true,
        };
        let conversations = gateway.conversations.clone();
        let flushed = tokio::task::spawn_blocking(move || {
            let flushed = conversations.flush(now());
            if flushed.is_ok() && !stopped {
                conversations.index();
            }
            flushed
        });
        let flushed = flushed.await;
        if let Ok(flushed) = flushed {
            books = books.after(&gateway, flushed.err());
        }
        totals.tell(Instant::now(), || Figures::of(&gateway));
        if stopped {
            return;
        }
    }
}

/// Whether the last sums and events were written down.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Books {
    Written,
    Open,
}

impl Books {
    fn after(self, gateway: &Gateway, error: Option<foldline_store::StoreError>) -> Books {
        match (self, error) {
            (Books::Written, Some(error)) => {
                gateway.metrics.fallback("books");
                warn!(%error, "sums and events cannot be written down; they are held");
                Books::Open
            }
            (Books::Open, Some(_)) => Books::Open,
            (Books::Open, None) => {
                info!("sums and events are written down again");
                Books::Written
            }
            (Books::Written, None) => Books::Written,
        }
    }
}
