//! Replays recorded sessions turn by turn under a policy: what each request would have contained and cost.
//!
//! The agent's turns stay as they were recorded; what changes is how much of the history each request carries. Times
//! come from the record, so that caches go cold when they did. A session is counted once; between folds a request
//! is the one before it plus the messages that came, so that a turn costs microseconds.

mod metrics;
mod play;
mod session;

pub use metrics::Metrics;
pub use play::{Compacted, ReplaySetup, Run, Sent, play};
pub use session::{Exams, Piece, Session, Turn};
