//! What a prune or a fold did, without content: for logs.

use super::cost;
use foldline_core::models::ModelProfile;
use foldline_core::{Compaction, Plan};
use foldline_transcript::wire::reply::ReportedUsage;

/// What one compaction did to a conversation. No content.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// What was done.
    pub kind: CompactionKind,
    /// The model, as the request spells it.
    pub model: String,
    /// Tokens of the conversation before and after.
    pub tokens: (u64, u64),
    /// Why it was due, and what was done.
    pub reason: String,
    /// Dollars that each further request costs less, where prices are known.
    pub dollars_per_request: f64,
}

/// The two ways to shorten a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionKind {
    /// Old outputs were reduced.
    Prune,
    /// The middle became a handoff.
    Fold,
}

impl CompactionKind {
    /// What a plan does.
    pub(super) fn of(plan: &Plan) -> CompactionKind {
        if plan.fold.is_some() { CompactionKind::Fold } else { CompactionKind::Prune }
    }

    /// The name in logs and records.
    pub fn name(self) -> &'static str {
        match self {
            CompactionKind::Prune => "prune",
            CompactionKind::Fold => "fold",
        }
    }
}

/// Whether the provider has reported cache reads for this conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    Seen,
    NotSeen,
}

impl Compacted {
    pub(super) fn of(compaction: &Compaction<'_>, model: &str, caching: Caching) -> Compacted {
        let plan = &compaction.plan;
        let tokens = (plan.tokens.before, plan.tokens.after);
        Compacted {
            kind: CompactionKind::of(plan),
            model: model.to_owned(),
            tokens,
            reason: reason(plan),
            dollars_per_request: worth(&compaction.model, tokens.0.saturating_sub(tokens.1), caching),
        }
    }
}

/// Why it was due, and what was done.
pub(super) fn reason(plan: &Plan) -> String {
    match plan.verdict.reason() {
        why if plan.reason.starts_with(why) => plan.reason.clone(),
        why => format!("{why}; {}", plan.reason),
    }
}

/// What these tokens cost in a prompt that was sent before.
fn worth(model: &ModelProfile, tokens: u64, caching: Caching) -> f64 {
    let usage = match caching {
        Caching::Seen => ReportedUsage { cache_read: tokens, ..ReportedUsage::default() },
        Caching::NotSeen => ReportedUsage { input: tokens, ..ReportedUsage::default() },
    };
    cost::charged(model, &usage)
}
