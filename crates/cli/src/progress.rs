//! Progress display on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Whether to talk while working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressDisplay {
    /// Progress on a terminal.
    Shown,
    /// Nothing.
    Hidden,
}

/// Smaller documents are done before anybody wonders.
const FELT_BYTES: usize = 32 << 20;

/// A line that moves on a terminal and does not exist elsewhere.
pub fn spinner(progress: ProgressDisplay) -> ProgressBar {
    if progress == ProgressDisplay::Hidden {
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
pub fn on_document(progress: ProgressDisplay, bytes: usize, what: &str) -> ProgressBar {
    let bar = spinner(if bytes < FELT_BYTES { ProgressDisplay::Hidden } else { progress });
    bar.set_message(format!("{what} {} MB", bytes >> 20));
    bar
}
