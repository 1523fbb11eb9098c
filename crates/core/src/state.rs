//! What a session remembers between compactions: small, serialisable, owned by the caller.

use crate::cache::Pace;
use crate::summary::Cooldown;
use crate::tokens::Calibration;
use serde::{Deserialize, Serialize};

/// The memory of one conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Folds so far.
    pub folds: u32,
    /// Prunes so far that needed no fold.
    pub prunes: u32,
    /// Folds in a row that saved too little.
    pub strikes: u32,
    /// Why the last of them saved too little.
    pub cause: Option<Cause>,
    /// Whether a fold still waits for the provider to report what it really saved.
    pub awaiting_usage: bool,
    /// Prompt tokens that the last rewrite left, as reported; less where the conversation has become shorter since.
    pub landed: Option<u64>,
    /// What the provider reported last.
    pub usage: Option<Usage>,
    /// Learnt ratio of reported to counted tokens.
    pub calibration: Calibration,
    /// Whether the pressure warning has been given.
    pub warned: bool,
    /// How the summariser fared, and until when it is left alone.
    pub summariser: Cooldown,
    /// How the conversation has gone so far, for decisions by money.
    pub pace: Pace,
    /// Length and handle of the last result: the same document again has nothing new in it.
    pub settled: Option<(usize, String)>,
}

/// Why folds save too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Head and tail alone fill the room: there is hardly anything to fold.
    Dense,
    /// The summary is nearly as long as what it replaces.
    LongSummary,
}

/// Usage of one request, as the provider reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Messages of the request that they stand for.
    pub messages: usize,
}
