//! Runs a summary job with progress output.

use crate::failure::Failure;
use crate::progress::{ProgressDisplay, spinner};
use foldline_core::Policy;
use foldline_gateway::summariser::{Progress, Summariser, Summary, SummaryJob};
use indicatif::ProgressBar;
use tokio::runtime::Runtime;

/// Asks the model that the settings name.
pub fn run(policy: &Policy, job: &SummaryJob, progress: ProgressDisplay) -> Result<Summary, Failure> {
    let summariser = Summariser::of_policy(policy, &|name| std::env::var(name).ok()).map_err(Failure::input)?;
    let Some(summariser) = summariser.map(|summariser| summariser.for_job(job)) else {
        return Err(Failure::input("a summary was requested, but summarizer.url is not set"));
    };
    let runtime = runtime()?;
    let bar = spinner(progress);
    let summary = runtime.block_on(async {
        let mut line = String::new();
        let mut watch = |progress: Progress| {
            if let Progress::Asking { model } = &progress {
                line = format!("asking {model} for a handoff");
            }
            show(&bar, &line, &progress);
        };
        summariser.write(job, &mut watch).await
    });
    bar.finish_and_clear();
    Ok(summary)
}

/// What calls run on.
pub fn runtime() -> Result<Runtime, Failure> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().map_err(|error| Failure::input(format!("failed to start the runtime: {error}")))
}

/// Shows how far a call is; `line` says what it is for.
pub fn show(bar: &ProgressBar, line: &str, progress: &Progress) {
    bar.set_message(match progress {
        Progress::Asking { .. } => line.to_owned(),
        Progress::Hearing { characters } => format!("{line}: {characters} characters so far"),
        Progress::Waiting { pause, failure } => format!("{failure}; retrying in {:.1} s", pause.as_secs_f64()),
        Progress::Switching { model, failure } => format!("{failure}; asking {model} instead"),
    });
}
