//! What a session remembers between compactions: small, serialisable, owned by the caller.

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
    /// What the provider reported last.
    pub usage: Option<Usage>,
    /// Learnt ratio of reported to counted tokens.
    pub calibration: Calibration,
    /// Whether the pressure warning has been given.
    pub warned: bool,
    /// The handle of the last handoff: a handoff that is not the conversation's own is not trusted as its state.
    pub handoff: Option<String>,
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

/// The learnt ratio between what a provider reports and what we count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    ratio: f64,
    observations: u32,
}

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration { ratio: 1.0, observations: 0 }
    }
}

impl Calibration {
    /// Outside these bounds a report describes something else than what was counted.
    const BOUNDS: (f64, f64) = (0.5, 2.0);
    /// How fast later reports move the average.
    const RATE: f64 = 0.2;

    /// Learns from one report. The first is taken as it is: one real number beats no number.
    pub fn observe(&mut self, counted: u64, reported: u64) {
        if counted == 0 || reported == 0 {
            return;
        }
        let (low, high) = Calibration::BOUNDS;
        let seen = (reported as f64 / counted as f64).clamp(low, high);
        self.ratio = match self.observations {
            0 => seen,
            _ => self.ratio + Calibration::RATE * (seen - self.ratio),
        };
        self.observations = self.observations.saturating_add(1);
    }

    /// The ratio.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }
}
