//! What is kept of a prune or a fold for people: why it was made, what was done to which message, what the handoff holds.
//! It stands in the record of its checkpoint, encrypted with it and forgotten with it, and its size is bounded.

use super::checkpoint::Facts;
use super::compacted::{CompactionKind, reason};
use foldline_core::Compaction;
use foldline_core::explain::name_of;
use foldline_core::ledger::HeldKind;
use foldline_core::report::{Author, EditReport, Report};
use serde::{Deserialize, Serialize};

/// Edits that are told one by one; of the rest it is told how many they are.
const MOST_EDITS: usize = 120;
/// Rules and pins that are told.
const MOST_HELD: usize = 40;
/// Characters of each.
const LONGEST_HELD: usize = 400;
/// Characters of a tool's name.
const LONGEST_TOOL: usize = 80;

/// One prune or fold, for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// `prune` or `fold`.
    pub kind: String,
    /// Why it was time, and what was done.
    pub reason: String,
    /// Messages of the conversation before and after.
    pub messages: (usize, usize),
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Who wrote the handoff: `ledger` or `model`; empty without one.
    pub by: String,
    /// What the handoff costs.
    pub handoff_tokens: u32,
    /// What was done, part by part.
    pub edits: Vec<EditNote>,
    /// Edits beyond those.
    pub more_edits: usize,
    /// Rules and pins that the handoff holds.
    pub held: Vec<HeldNote>,
}

/// One edit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EditNote {
    /// The message, by its index in the conversation as it was forwarded.
    pub message: usize,
    /// What was done: the name of the step.
    pub kind: String,
    /// The tool concerned.
    pub tool: String,
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Where the original is.
    pub handle: Option<String>,
}

/// Something that a handoff holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeldNote {
    /// Somebody pinned it; else the user laid it down.
    pub is_pin: bool,
    /// What it says, without secrets.
    pub text: String,
}

/// A checkpoint's record: facts for the machine, an account for people.
#[derive(Serialize)]
pub(super) struct Record<'r> {
    #[serde(flatten)]
    pub(super) facts: &'r Facts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<&'r Account>,
}

/// The account in a record, if it has one.
#[derive(Deserialize)]
pub(super) struct Told {
    pub(super) account: Option<Account>,
}

impl Account {
    /// The original of what went into the handoff.
    pub fn folded(&self) -> Option<&str> {
        let folded = self.edits.iter().find(|edit| edit.kind == "fold");
        folded.or(self.edits.first()).and_then(|edit| edit.handle.as_deref())
    }

    pub(super) fn of(compaction: &Compaction<'_>) -> Account {
        let plan = &compaction.plan;
        let edits = Report::of(compaction).edits;
        let note = |edit: &EditReport| EditNote {
            message: edit.index,
            kind: name_of(edit.kind).to_owned(),
            tool: edit.tool.chars().take(LONGEST_TOOL).collect(),
            tokens: (edit.tokens_before, edit.tokens_after),
            handle: edit.handle.map(|handle| handle.to_string()),
        };
        let fold = plan.fold.as_ref();
        let held = fold.into_iter().flat_map(|fold| &fold.handoff.held).take(MOST_HELD);
        Account {
            kind: CompactionKind::of(plan).name().to_owned(),
            reason: reason(plan),
            messages: compaction.messages,
            tokens: (plan.tokens.before, plan.tokens.after),
            by: match fold.map(|fold| fold.by) {
                Some(Author::Model) => "model".to_owned(),
                Some(Author::Ledger) => "ledger".to_owned(),
                None => String::new(),
            },
            handoff_tokens: fold.map_or(0, |fold| fold.handoff.tokens),
            edits: edits.iter().take(MOST_EDITS).map(note).collect(),
            more_edits: edits.len().saturating_sub(MOST_EDITS),
            held: held
                .map(|held| HeldNote {
                    is_pin: held.kind == HeldKind::Pin,
                    text: held.text.chars().take(LONGEST_HELD).collect(),
                })
                .collect(),
        }
    }
}
