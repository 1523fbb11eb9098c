//! The gateway: routes, streams, limits, operations. One file per step, in the order of the data:
//!
//! | step | file |
//! |---|---|
//! | a connection is accepted, or makes room for another | `listen`, `crowd`, `presence`, `write_timeout` |
//! | its path is put straight, its names and its route are known | `entrance`, `path`, `names`, `route` |
//! | a turn is let in, read, unpacked and addressed | `turn`: `keys`, `inbound`, `decode`, `budget`, `lending`, `upstream` |
//! | what else passes is forwarded as it comes | `pass`, `passage` |
//! | the conversation says what to send | `rewriting`, then `marks` and `usage` |
//! | it is sent, and sent again where its size is refused | `exchange` |
//! | the reply passes, read along with | `stream_start`, `reply`, `watch`, `events` |
//!
//! Whatever goes wrong on our side, the request goes out as it came.

mod answer;
mod assistant_answer;
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
mod journal;
mod keys;
mod lending;
mod listen;
mod marks;
mod metrics;
mod names;
mod originals;
mod own;
mod pages;
mod panics;
mod pass;
mod passage;
mod path;
mod presence;
mod query;
mod ready;
mod reload;
mod reply;
mod rewriting;
mod route;
mod setup;
mod site;
mod stream_start;
mod turn;
mod upstream;
mod usage;
mod vendor;
mod watch;
pub mod when;
mod write_timeout;

pub use crate::outbound::BoxError;
pub use gateway::{Gateway, Plan, ShownSetting, StartError};
pub use listen::{Stopped, bind, serve};
pub use panics::log_places_of_panics;
pub use reload::{Load, follow};
pub use route::Provider;
pub use setup::{Setup, SetupError};

/// Bodies of answers.
pub type Body = http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, BoxError>;
