//! Builds a summariser from settings.

use super::endpoint::{AddressError, Endpoint};
use super::key::{KeyError, KeySource};
use super::write::{Limits, Summariser};
use crate::outbound::{Outbound, OutboundError, OutboundSettings};
use foldline_core::Policy;
use foldline_core::summary::SummaryJob;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no summariser although the settings want one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The address cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The key is not there.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Connections cannot be made.
    #[error(transparent)]
    Outbound(#[from] OutboundError),
}

/// A model for servers that have only one and do not care about its name.
const ANY_MODEL: &str = "default";

impl Summariser {
    /// The summariser that the settings name; `None` when they name none.
    pub fn of_policy(
        policy: &Policy,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Summariser>, SetupError> {
        let Some(url) = policy.summarizer.url.as_deref() else {
            return Ok(None);
        };
        let settings = &policy.summarizer;
        let model = policy.summary_model().unwrap_or(ANY_MODEL);
        let mut first = Endpoint::at(url, settings.dialect, model, None)?;
        first.key = KeySource::of(settings, first.host()).read(environment)?;
        let outbound = Outbound::new(OutboundSettings {
            ca_file: settings.ca_file.as_deref().map(PathBuf::from),
            ..OutboundSettings::default()
        })?;
        let limits = Limits {
            first_word: Duration::from_secs(settings.first_word_seconds.into()),
            idle: Duration::from_secs(settings.idle_seconds.into()),
            retries: settings.retries,
        };
        Ok(Some(Summariser { outbound, first, fallback: None, limits }))
    }

    /// The same summariser with the models that a job names.
    pub fn for_job(mut self, job: &SummaryJob) -> Summariser {
        if let Some(model) = &job.model {
            self.first = self.first.with_model(model);
        }
        let fallback = job.fallback_model.as_deref().filter(|model| can_serve(self.first.host(), model));
        self.fallback = fallback.map(|model| self.first.clone().with_model(model));
        self
    }
}

/// Whether an address may know a model: vendors serve their own.
fn can_serve(host: &str, model: &str) -> bool {
    let is_claude = model.contains("claude");
    match host {
        "api.openai.com" => !is_claude,
        "api.anthropic.com" => is_claude,
        "generativelanguage.googleapis.com" => model.contains("gem"),
        _ => true,
    }
}
