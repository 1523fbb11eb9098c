//! Handoffs that a model writes: what it is asked, how its reply is read and checked, what happens
//! when it fails. Nothing here has a network: whoever has one sends each [`Ask`] and gives the reply
//! back.
//!
//! [`SummaryJob::start`] gives a [`Writer`]. Its prompt carries what the ledger recorded of the folded messages, as much
//! as the summariser's window holds, and asks for what the ledger cannot know. The reply is cleaned, masked and verified
//! into [`Written`]. There is no other way to make one, so words that nobody checked cannot get into a handoff.

mod adopt;
mod cost;
mod failure;
mod gist;
mod job;
mod prefix;
mod prompt;
mod reply;
mod report;
mod source;
mod tidy;
mod verify;
mod writer;

pub(crate) use adopt::adopt;
pub use cost::{Costs, PrefixCall, Route};
pub use failure::{Cooldown, Failure, FailureClass};
pub(crate) use job::Input;
pub use job::SummaryJob;
pub use reply::Words;
pub use report::SummariserReport;
pub use verify::Checked;
pub use writer::{Ask, BadReply, Writer};

use foldline_transcript::recall::Handle;

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Summary {
    /// A model's words, checked.
    Written(Written),
    /// It did not work; why.
    Failed(Failure),
}

/// What a model wrote, cleaned, masked and verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The messages it stands for: it counts only for them.
    pub(crate) covers: Handle,
    /// What it says, line by line.
    pub(crate) words: Words,
    /// What was found out about it.
    pub(crate) checked: Checked,
    /// Who wrote it and what it took.
    pub effort: Effort,
}

/// What a summary took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// How often a model was asked.
    pub calls: u32,
    /// The model that answered last.
    pub model: Option<String>,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// What the first model failed with, where a second one wrote.
    pub rescued: Option<Failure>,
}

impl Written {
    /// The messages it stands for.
    pub fn covers(&self) -> Handle {
        self.covers
    }

    /// What was found out about it.
    pub fn checked(&self) -> Checked {
        self.checked
    }

    /// The words as a text with headings.
    pub fn text(&self) -> String {
        self.words.text()
    }
}
