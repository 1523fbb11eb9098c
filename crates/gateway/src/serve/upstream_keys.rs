//! The provider keys that are sent in place of a client's.

use super::route::Provider;
use http::header::HeaderValue;

/// The keys sent in place of a client's.
#[derive(Clone, Debug, Default)]
pub struct UpstreamKeys {
    openai: Option<HeaderValue>,
    anthropic: Option<HeaderValue>,
    google: Option<HeaderValue>,
    /// A key was meant to be sent for it, whether its value is there or not.
    is_mapped: bool,
}

/// A key that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingError {
    /// Nobody of that name.
    UnknownProvider,
    /// Characters that no header may have.
    NotAHeader,
}

impl UpstreamKeys {
    /// Sends this to a provider, by its name in settings.
    pub fn map(&mut self, provider: &str, key: &str) -> Result<(), MappingError> {
        let slot = match provider {
            "openai" => &mut self.openai,
            "anthropic" => &mut self.anthropic,
            "google" => &mut self.google,
            _ => return Err(MappingError::UnknownProvider),
        };
        let mut value = HeaderValue::from_str(key.trim()).map_err(|_| MappingError::NotAHeader)?;
        value.set_sensitive(true);
        *slot = Some(value);
        self.is_mapped = true;
        Ok(())
    }

    /// A key was meant to be sent whose value is missing: what goes out under none instead is refused.
    pub fn map_nothing(&mut self) {
        self.is_mapped = true;
    }

    /// The key that is sent to a provider.
    pub fn key(&self, provider: Provider) -> Option<&HeaderValue> {
        match provider {
            Provider::OpenAi => self.openai.as_ref(),
            Provider::Anthropic => self.anthropic.as_ref(),
            Provider::Google => self.google.as_ref(),
        }
    }

    /// Whether keys are sent in place of the client's.
    pub fn is_mapped(&self) -> bool {
        self.is_mapped
    }
}
