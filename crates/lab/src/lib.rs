//! Measurements of Foldline that need real sessions or time.
//!
//! - [`generate`] writes healthy transcripts of any length, [`convert`] brings a recorded Anthropic session
//!   into the other two wire formats.
//! - [`matrix`] runs the engine over sessions, formats, windows and presets and checks what must always hold.
//! - [`cache`] holds the cache simulator against recorded usage.
//! - [`graph`] holds crates and modules against the map in ARCHITECTURE.md.
//! - `chats` folds chats with rules and facts several times and counts what is left.
//! - `fit`, `odds`, `statements` and `tokens::fit` derive fitted numbers again.
//! - `docs` writes the references under `docs/`.
//! - [`damage`] makes damaged transcripts, and judges what becomes of them with a validator of its own.
//! - `versus` runs peers and Foldline on the same inputs and judges the results.
//! - `nodes` runs several gateways on one PostgreSQL, kills them, and compares every byte.
//! - `scale` fills both stores with a million rows and times look-ups and searches.
//! - `tokens`, `speed`, `load`, `redact` and [`reduce`] measure; [`fuzz`] holds the bodies of the fuzz targets, so that plain tests
//!   replay them.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod best;
pub mod cache;
#[cfg(feature = "measure")]
pub mod chats;
pub mod convert;
pub mod damage;
#[cfg(feature = "measure")]
pub mod docs;
#[cfg(feature = "measure")]
pub mod fit;
pub mod fuzz;
pub mod generate;
pub mod graph;
#[cfg(feature = "measure")]
pub mod load;
pub mod matrix;
#[cfg(all(feature = "measure", unix))]
pub mod nodes;
#[cfg(feature = "measure")]
pub mod odds;
#[cfg(feature = "measure")]
pub mod redact;
pub mod reduce;
#[cfg(all(feature = "measure", unix))]
pub mod scale;
#[cfg(feature = "measure")]
pub mod speed;
#[cfg(feature = "measure")]
pub mod statements;
#[cfg(feature = "measure")]
pub mod tokens;
#[cfg(feature = "measure")]
pub mod versus;

/// What a measurement can fail with: always a matter for the person who started it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
