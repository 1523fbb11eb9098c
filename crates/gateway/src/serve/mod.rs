//! The gateway: routes, streams, limits, operations.
//!
//! A request comes in at `listen`, is told apart in `route`, and answered by `entrance`. A turn of a conversation
//! becomes an `exchange`: `rewriting` asks the conversation what to send, `reply` passes on what comes back while
//! `watch` reads along. Whatever goes wrong on our side, the request goes out as it came.

mod answer;
mod background;
mod compress;
mod decode;
mod entrance;
mod events;
mod exchange;
mod gateway;
mod headers;
mod hints;
mod inbound;
mod keys;
mod listen;
mod marks;
mod metrics;
mod originals;
mod own;
mod panics;
mod patient;
mod peek;
mod query;
mod reload;
mod reply;
mod rewriting;
mod route;
mod setup;
mod speech;
mod upstream;
mod usage;
mod watch;

pub use crate::outbound::BoxError;
pub use gateway::{Gateway, Plan, StartError};
pub use listen::{Stopped, bind, serve};
pub use panics::log_places_of_panics;
pub use reload::{Load, follow};
pub use route::Provider;
pub use setup::{Setup, SetupError};

/// Bodies of answers.
pub type Body = http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, BoxError>;
