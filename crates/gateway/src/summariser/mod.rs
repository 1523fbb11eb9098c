//! Asks a model to write a handoff: dialects, streaming, time limits, retries.
//!
//! The core says what to ask and reads the replies ([`SummaryJob`]); this module sends. A
//! [`Summariser`] asks its first endpoint, again where a failure may pass, then the second one once,
//! and answers with a [`Summary`] in every case: words that are checked, or a failure with its class.
//! [`Summariser::ask`] puts any other question to the same endpoint.

mod ask;
mod call;
mod classify;
mod dialect;
mod endpoint;
mod key;
mod probe;
mod retry;
mod setup;
mod write;

pub use classify::of_response as failure_of_response;
pub use dialect::ReplyPiece;
pub use endpoint::{AddressError, Endpoint};
pub use key::{Key, KeyError, KeySource};
pub use probe::{Probe, probe};
pub use setup::SetupError;
pub use write::{Limits, Progress, Spent, Summariser};

#[doc(no_inline)]
pub use foldline_core::summary::{Summary, SummaryJob};
