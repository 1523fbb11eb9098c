//! What the summariser did, for the report.

use super::{Effort, Failure, Written};
use serde::Serialize;

/// What the summariser did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SummariserReport {
    /// How often it was asked.
    pub calls: u32,
    /// Which model answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens that it cost.
    pub tokens: u64,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was done instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl SummariserReport {
    /// What a model that wrote did.
    pub(crate) fn of_words(written: &Written) -> SummariserReport {
        let Effort { calls, model, tokens, rescued } = &written.effort;
        SummariserReport {
            calls: *calls,
            model: model.clone(),
            tokens: *tokens,
            error: rescued.as_ref().map(ToString::to_string),
            fallback: rescued.as_ref().map(|_| "main model".to_owned()),
        }
    }

    /// What a model that failed did, and what was done instead.
    pub(crate) fn of_failure(failure: &Failure, fallback: &str) -> SummariserReport {
        SummariserReport {
            calls: failure.calls,
            error: Some(failure.to_string()),
            fallback: Some(fallback.to_owned()),
            ..SummariserReport::default()
        }
    }
}
