//! What was measured, as it is written with `--json` and read again for tables.

use super::growth::Growth;
use super::judge::Tally;
use super::secrets::Redaction;
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    /// Size asked for, as a share of the tokens.
    pub share: f64,
    /// The context window that peers were told.
    pub window: u64,
    /// The window of sessions that grew.
    pub growing_window: u64,
    /// Names of the sessions.
    pub sessions: Vec<String>,
    /// How many of them have questions.
    pub with_questions: usize,
    /// Tokens of everything that was compacted once.
    pub tokens: u64,
    /// Files that were not used, and why.
    pub left_out: Vec<String>,
    /// One row for each peer and way of running it.
    pub rows: Vec<Row>,
}

/// A peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What decides on the size of its results.
    pub size: String,
    /// How it did.
    pub outcome: Outcome,
}

/// How a peer did.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It could be measured.
    Measured(Box<Measured>),
    /// It could not be had, or did not work.
    Failed {
        /// The reason.
        why: String,
    },
}

/// What was measured of a peer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Its version.
    pub version: String,
    /// All results together.
    pub tally: Tally,
    /// Tokens of each result; 0 where there is none.
    pub sizes: Vec<u64>,
    /// Inputs that it failed on.
    pub failures: Vec<String>,
    /// Foldline's results at these sizes.
    pub foldline_at_this_size: Option<Tally>,
    /// What growing sessions cost; none where it cannot be called turn by turn.
    pub growth: Option<Growth>,
    /// What its redaction does; none where it has none.
    pub redaction: Option<Redaction>,
    /// Peak memory.
    pub megabytes: f64,
}
