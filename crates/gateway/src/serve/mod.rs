//! The gateway: routes, streams, limits, operations.
//!
//! A request comes in at `listen`, is told apart in `route`, and answered by `entrance`. A turn of a conversation
//! becomes an `exchange`: `rewriting` asks the conversation what to send, `reply` passes on what comes back while
//! `watch` reads along. Whatever goes wrong on our side, the request goes out as it came.

mod answer;
mod background;
mod budget;
mod compress;
mod crowd;
mod decode;
mod entrance;
mod exchange;
mod gateway;
mod headers;
mod hints;
mod identity;
mod inbound;
mod keys;
mod lending;
mod listen;
mod marks;
mod metrics;
mod names;
mod originals;
mod own;
mod panics;
mod passage;
mod path;
mod patient;
mod peek;
mod presence;
mod query;
mod ready;
mod reload;
mod reply;
mod rewriting;
mod route;
mod setup;
mod site;
mod speech;
mod upstream;
mod usage;
mod vendor;
mod watch;
pub mod when;

pub use crate::outbound::BoxError;
pub use gateway::{Gateway, Plan, StartError};
pub use listen::{Stopped, bind, serve};
pub use panics::log_places_of_panics;
pub use reload::{Load, follow};
pub use route::Provider;
pub use setup::{Setup, SetupError};

/// Bodies of answers.
pub type Body = http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, BoxError>;
