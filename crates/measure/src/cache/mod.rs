//! A simulator of prompt caches, and its comparison with what providers reported.
//!
//! - [`Simulator`] plays a provider's cache: which tokens of a request are read, written or plain input.
//! - [`Recording`] reads what a provider reported for a session; [`Fit`] holds the simulator against it.

mod fit;
mod record;
mod simulate;

pub use fit::{Break, Fit, Prediction, Sizes};
pub use record::{Recorded, Recording};
pub use simulate::{Block, Rules, Simulator};
