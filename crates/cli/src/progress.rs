//! What somebody at a terminal sees while something takes its time.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Whether to talk while working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// Progress on a terminal.
    Heard,
    /// Nothing.
    Silent,
}

/// Smaller documents are done before anybody wonders.
const FELT_BYTES: usize = 32 << 20;

/// A line that moves on a terminal and does not exist elsewhere.
pub fn spinner(voice: Voice) -> ProgressBar {
    if voice == Voice::Silent {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Says what is being done to a document of `bytes`, if that takes long enough to be noticed.
pub fn on_document(voice: Voice, bytes: usize, what: &str) -> ProgressBar {
    let bar = spinner(if bytes < FELT_BYTES { Voice::Silent } else { voice });
    bar.set_message(format!("{what} {} MB", bytes >> 20));
    bar
}
