//! Runs a summary job from the command line, with progress for whoever watches.

use crate::failure::Failure;
use crate::progress::{Voice, spinner};
use foldline_core::Policy;
use foldline_gateway::summariser::{Progress, Summariser, Summary, SummaryJob};
use indicatif::ProgressBar;

/// Asks the model that the settings name.
pub fn run(policy: &Policy, job: &SummaryJob, voice: Voice) -> Result<Summary, Failure> {
    let summariser = Summariser::of_policy(policy, &|name| std::env::var(name).ok()).map_err(Failure::input)?;
    let Some(summariser) = summariser.map(|summariser| summariser.for_job(job)) else {
        return Err(Failure::input("a summary is wanted, but summarizer.url is not set"));
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::input(format!("cannot start: {error}")))?;
    let bar = spinner(voice);
    let summary = runtime.block_on(async {
        let mut line = String::new();
        summariser.write(job, &mut |progress| show(&bar, &mut line, &progress)).await
    });
    bar.finish_and_clear();
    Ok(summary)
}

fn show(bar: &ProgressBar, line: &mut String, progress: &Progress) {
    match progress {
        Progress::Asking { model, step, steps } => {
            *line = match steps {
                1 => format!("asking {model} for a handoff"),
                _ => format!("asking {model} for a handoff, part {step} of {steps}"),
            };
            bar.set_message(line.clone());
        }
        Progress::Hearing { characters } => bar.set_message(format!("{line}: {characters} characters so far")),
        Progress::Waiting { pause, failure } => {
            bar.set_message(format!("{failure}; trying again in {:.1} s", pause.as_secs_f64()));
        }
        Progress::Switching { model, failure } => bar.set_message(format!("{failure}; asking {model} instead")),
    }
}
