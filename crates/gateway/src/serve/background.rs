//! Work beside the requests: folds, and writing down what may wait.

use super::gateway::{Gateway, now};
use crate::conversation::{FoldTask, Planned, SessionId};
use crate::summariser::{Spent, Summary, SummaryJob};
use std::sync::Arc;
use std::time::Duration;
use tracing::{info, warn};

/// How often sums and events are written down: a crash loses at most this much of them.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

/// Makes a fold in the background. The next request of the conversation finds it.
pub fn fold(gateway: &Arc<Gateway>, task: FoldTask) {
    let gateway = gateway.clone();
    tokio::spawn(async move {
        let session = task.session().clone();
        if let Err(error) = fold_now(&gateway, task).await {
            gateway.metrics.fallback("background");
            warn!(session = session.as_str(), %error, "a fold in the background failed");
        }
    });
}

async fn fold_now(gateway: &Arc<Gateway>, task: FoldTask) -> Result<(), crate::outbound::BoxError> {
    let rewriter = gateway.rewriter.clone();
    let (task, planned) = tokio::task::spawn_blocking(move || {
        let planned = rewriter.plan(&task);
        (task, planned)
    })
    .await?;
    let summary = match planned? {
        Planned::Nothing => return Ok(()),
        Planned::Ready => None,
        Planned::Ask(job) => summarise(gateway, task.session(), &job).await,
    };
    let rewriter = gateway.rewriter.clone();
    let session = task.session().clone();
    tokio::task::spawn_blocking(move || rewriter.run(task, summary, now())).await??;
    info!(session = session.as_str(), "folded in the background");
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
    match &summary {
        Summary::Written(_) => gateway.metrics.summary("written"),
        Summary::Failed(failure) => {
            gateway.metrics.summary("failed");
            gateway.metrics.fallback("summariser");
            warn!(class = ?failure.class, "the summariser failed");
        }
    }
    Some(summary)
}

/// Writes down what was reported as soon as it is, what may wait every moment, and all once more when `stop` is done.
/// Reports that come while one is being written go down together, so a busy gateway writes no more often.
pub async fn keep_books(gateway: Arc<Gateway>, stop: impl Future<Output = ()>) {
    tokio::pin!(stop);
    // Said when it begins and when it ends, not four times a second.
    let mut books = Books::Written;
    loop {
        let stopped = tokio::select! {
            () = tokio::time::sleep(FLUSH_EVERY) => false,
            () = gateway.reported.notified() => false,
            () = &mut stop => true,
        };
        let conversations = gateway.conversations.clone();
        let flushed = tokio::task::spawn_blocking(move || conversations.flush(now())).await;
        if let Ok(flushed) = flushed {
            books = books.after(&gateway, flushed.err());
        }
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
