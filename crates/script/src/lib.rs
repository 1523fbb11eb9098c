//! A scripted provider: a server on a loopback socket that answers as told and remembers what it was asked.
//!
//! It speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Google Gemini, streaming or not, by the
//! path and the `stream` field of the request. An [`Act`] says what to do with one request; a script is a list of them, of
//! which the last repeats. [`Strict`] judges requests as their vendor would, [`Agent`] sends them, and
//! [`Worker`] answers real clients with work to do.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use foldline_script::{Act, Provider};
//! let provider = Provider::start([Act::status(503, "busy"), Act::say("Hello.")]).await?;
//! // … two requests to provider.url() later:
//! assert_eq!(provider.requests().len(), 2);
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod act;
mod agent;
mod dialect;
#[cfg(unix)]
pub mod postgres;
mod prompt;
mod reply;
#[cfg(unix)]
pub mod s3;
mod server;
mod strict;
mod worker;

pub use act::Act;
pub use agent::{Agent, RULE, breaks};
pub use dialect::Dialect;
pub use prompt::Prompt;
pub use server::{Provider, Received};
pub use strict::Strict;
pub use worker::{DONE, Entry, Plan, PlannedCall, Purpose, Worker};
