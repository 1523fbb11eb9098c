//! What is stored about a prune or a fold for people: why it was made, what was done to which message, what the handoff
//! keeps. It is part of the checkpoint's record, encrypted and deleted with it, and bounded in size.

use super::checkpoint::CheckpointFacts;
use super::compacted::{CompactionKind, reason};
use foldline_core::Compaction;
use foldline_core::explain::name_of;
use foldline_core::ledger::HeldKind;
use foldline_core::report::{Author, EditReport, Report};
use serde::{Deserialize, Serialize};

/// Edits that are listed; of the rest only the number is stored.
const MOST_EDITS: usize = 120;
/// Rules and pins that are listed.
const MOST_KEPT: usize = 40;
/// Characters of each.
const LONGEST_KEPT: usize = 400;
/// Characters of a tool's name.
const LONGEST_TOOL: usize = 80;

/// One prune or fold, for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoldDetails {
    /// `prune` or `fold`.
    pub kind: String,
    /// Why it was due, and what was done.
    pub reason: String,
    /// Messages of the conversation before and after.
    pub messages: (usize, usize),
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Who wrote the handoff: `ledger` or `model`; empty without one.
    pub by: String,
    /// Tokens of the handoff.
    pub handoff_tokens: u32,
    /// The edits, up to a limit.
    pub edits: Vec<EditDetails>,
    /// Number of edits beyond the limit.
    pub more_edits: usize,
    /// Rules and pins that the handoff keeps.
    pub kept: Vec<KeptText>,
}

/// One edit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EditDetails {
    /// Index of the message in the conversation as it was forwarded.
    pub message: usize,
    /// What was done: the name of the step.
    pub kind: String,
    /// The tool concerned.
    pub tool: String,
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Handle of the original.
    pub handle: Option<String>,
}

/// A rule or a pin that a handoff keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptText {
    /// Somebody pinned it; otherwise it is a rule of the user.
    pub is_pin: bool,
    /// The text, with secrets masked.
    pub text: String,
}

/// A checkpoint's record: facts for the gateway, details for people.
#[derive(Serialize)]
pub(super) struct Record<'r> {
    #[serde(flatten)]
    pub(super) facts: &'r CheckpointFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<&'r FoldDetails>,
}

/// The details in a record, if it has any.
#[derive(Deserialize)]
pub(super) struct StoredDetails {
    pub(super) details: Option<FoldDetails>,
}

impl FoldDetails {
    /// The handle of what went into the handoff.
    pub fn folded(&self) -> Option<&str> {
        let folded = self.edits.iter().find(|edit| edit.kind == "fold");
        folded.or(self.edits.first()).and_then(|edit| edit.handle.as_deref())
    }

    pub(super) fn of(compaction: &Compaction<'_>) -> FoldDetails {
        let plan = &compaction.plan;
        let edits = Report::of(compaction).edits;
        let details = |edit: &EditReport| EditDetails {
            message: edit.index,
            kind: name_of(edit.kind).to_owned(),
            tool: edit.tool.chars().take(LONGEST_TOOL).collect(),
            tokens: (edit.tokens_before, edit.tokens_after),
            handle: edit.handle.map(|handle| handle.to_string()),
        };
        let fold = plan.fold.as_ref();
        let kept = fold.into_iter().flat_map(|fold| &fold.handoff.held).take(MOST_KEPT);
        FoldDetails {
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
            edits: edits.iter().take(MOST_EDITS).map(details).collect(),
            more_edits: edits.len().saturating_sub(MOST_EDITS),
            kept: kept
                .map(|held| KeptText {
                    is_pin: held.kind == HeldKind::Pin,
                    text: held.text.chars().take(LONGEST_KEPT).collect(),
                })
                .collect(),
        }
    }
}
