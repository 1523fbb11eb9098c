//! The HTTP side of the gateway: routing, streaming, limits, operations. One file per step, in the order of the data:
//!
//! | step | file |
//! |---|---|
//! | accept a connection, or evict one when a limit is reached | `listen`, `connections`, `connection`, `write_timeout` |
//! | normalise the path, check host and origin, choose a route | `handler`, `path`, `allowed_hosts`, `route` |
//! | authenticate a turn, read and decompress its body, choose the upstream URL | `turn`: `keys`, `stored_keys`, `inbound`, `decode`, `budget`, `mapped_keys`, `upstream` |
//! | forward any other request unchanged | `pass_through`, `upload` |
//! | rewrite the turn | `rewrite`, then `cache_marks` and `usage` |
//! | send it; shorten and resend it when the provider refuses its size | `exchange` |
//! | stream the reply and read its usage | `stream_start`, `reply`, `reply_observer` |
//! | what traces tell about it | `spans` |
//!
//! When a step of ours fails, the request is forwarded as it came.

mod allowed_hosts;
mod answer;
mod assistant_answer;
mod background;
mod budget;
mod cache_marks;
mod compaction;
mod connection;
mod connections;
mod counted;
mod credentials;
pub mod dates;
mod decode;
mod endpoints;
mod exchange;
mod gateway;
mod handler;
mod header_hints;
mod headers;
mod identity;
mod inbound;
mod key_figures;
mod keys;
mod listen;
mod log_lines;
mod mapped_keys;
mod metrics;
mod originals;
mod outputs;
mod pages;
mod panics;
mod pass_through;
mod path;
mod query;
mod readiness;
mod recall_endpoint;
mod reload;
mod reply;
mod reply_observer;
mod rewrite;
mod route;
mod setup;
mod slash_commands;
mod spans;
mod stored_keys;
mod stream_start;
mod tools;
mod turn;
mod upload;
mod upstream;
mod upstream_keys;
mod usage;
mod write_timeout;

pub use crate::outbound::BoxError;
pub use gateway::{Gateway, GatewayConfig, ShownSetting, StartError};
pub use key_figures::{KeyFigure, KeyFigures, KeyStatus, events_json, key_figures};
pub use listen::{Stopped, bind, serve};
pub use panics::log_places_of_panics;
pub use reload::{Load, follow};
pub use route::Provider;
pub use setup::{Setup, SetupError};

/// Bodies of answers.
pub type Body = http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, BoxError>;
