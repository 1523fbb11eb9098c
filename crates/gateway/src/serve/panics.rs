//! Logs where a panic happened, without its message, which may quote a conversation.

use std::panic::{PanicHookInfo, set_hook};
use tracing::error;

/// Logs panics without their words, for the whole process.
pub fn log_places_of_panics() {
    set_hook(Box::new(|panic| error!(place = place(panic), "panic; the request is forwarded unchanged")));
}

fn place(panic: &PanicHookInfo<'_>) -> String {
    panic.location().map_or_else(|| "unknown".to_owned(), |at| format!("{}:{}", at.file(), at.line()))
}
