//! What is asked of the engine, beside the document.

use crate::ledger::Weights;
use crate::models::ModelTable;
use crate::policy::Policy;
use crate::reading::Reach;
use crate::setting::Setting;
use crate::state::SessionState;
use crate::summary::{PrefixCall, Summary};
use crate::tokens::Counter;
use foldline_transcript::{Format, Transcript};

/// Why we are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// The agent's loop asks before a request.
    #[default]
    Engine,
    /// Nobody waits: a fold is made beside the conversation, from the pressure mark on.
    Background,
    /// The safety net asks before the agent sees a message.
    Hygiene,
    /// By our own count the request fits neither the window nor the provider's limit of bytes.
    TooLarge,
    /// The provider refused the request as too long or too large.
    Overflow,
    /// A person asks.
    Manual,
}

/// What a plan is made for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Why we are asked.
    pub trigger: Trigger,
    /// What the user cares about most.
    pub focus: Option<String>,
    /// What must stay, beside the pins of the policy.
    pub pins: Vec<String>,
    /// Tokens that the result must fit.
    pub target: Option<u64>,
    /// Whether originals will be kept, so that handles can be shown.
    pub keeps_originals: bool,
    /// How whoever reads the result gets at them.
    pub reach: Reach,
    /// Seconds since the conversation's last request; `None` where nobody knows.
    pub idle: Option<u32>,
    /// Whether somebody will ask a model for a summary although the policy names no address of one.
    pub has_summariser: bool,
    /// What came of an earlier [`SummaryJob`](crate::summary::SummaryJob).
    pub summary: Option<Summary>,
    /// The time, in milliseconds since 1970, for cooldowns; without it there are none.
    pub now_ms: Option<i64>,
    /// The day, for the summariser, as it should be written.
    pub today: Option<String>,
    /// Memory that stays in force beside a handoff; the summariser need not repeat it.
    pub memory: Option<String>,
    /// Whether the conversation itself can be sent to its own model for a summary.
    pub prefix_call: PrefixCall,
    /// How passages are weighed against each other.
    pub weights: Weights,
}

/// What is asked of the engine.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Whose format it is; found out when not given.
    pub format: Option<Format>,
    /// What is known about models; the embedded table when not given.
    pub models: Option<ModelTable>,
    /// How texts are counted; as exactly as the model allows when not given.
    pub counter: Option<Counter>,
    /// What to do.
    pub request: Request,
}

impl Job {
    /// What is known about models.
    pub fn models(&self) -> &ModelTable {
        self.models.as_ref().unwrap_or(ModelTable::embedded())
    }

    /// The setting for a transcript in a session.
    pub fn setting(&self, transcript: &Transcript<'_>, policy: &Policy, state: &SessionState) -> Setting {
        Setting::of(transcript, policy, self.models(), self.counter, state.calibration.ratio())
    }
}

/// What every step of a compaction follows from, beside the document.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'i> {
    /// All settings.
    pub policy: &'i Policy,
    /// What the session remembers.
    pub state: &'i SessionState,
    /// What is asked.
    pub job: &'i Job,
}
