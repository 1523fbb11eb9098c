//! Sources of API keys. Never the command line, which every process of the machine can read.

use foldline_core::policy::SummarizerPolicy;
use secrecy::SecretString;
use std::path::PathBuf;

/// A key, hidden from logs.
pub type Key = SecretString;

/// The variable that holds the key of any summariser.
const OWN: &str = "FOLDLINE_SUMMARIZER_KEY";

/// Vendors' own variables. A key goes to its own vendor only: it is nobody else's business.
const VENDORS: [(&str, &str); 2] = [("api.openai.com", "OPENAI_API_KEY"), ("api.anthropic.com", "ANTHROPIC_API_KEY")];

/// A key that is named but not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The variable is not set.
    #[error("the environment variable {0} is not set (summarizer.key_env)")]
    Unset(String),
    /// The file cannot be read.
    #[error("cannot read the key file {path}: {cause} (summarizer.key_file)")]
    File {
        /// The file.
        path: String,
        /// Why.
        cause: String,
    },
    /// There is nothing in it, or something that no header can carry.
    #[error("{0} contains no usable key; expected one line of printable characters")]
    Unusable(String),
}

/// Where a key is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// In a variable that the settings name; it must be there.
    Variable(String),
    /// In a file that the settings name; it must be there.
    File(PathBuf),
    /// In the first of these variables that is set; there may be none, as local servers need no key.
    Usual(Vec<&'static str>),
}

impl KeySource {
    /// Where the settings say, for a server on `host`.
    pub fn of(policy: &SummarizerPolicy, host: &str) -> KeySource {
        match (&policy.key_file, &policy.key_env) {
            (Some(path), _) => KeySource::File(PathBuf::from(path)),
            (None, Some(name)) => KeySource::Variable(name.clone()),
            (None, None) => {
                let vendor = VENDORS.iter().filter(|(own, _)| *own == host).map(|(_, name)| *name);
                KeySource::Usual(std::iter::once(OWN).chain(vendor).collect())
            }
        }
    }

    /// The key, if there is one.
    pub fn read(&self, environment: &dyn Fn(&str) -> Option<String>) -> Result<Option<Key>, KeyError> {
        let (name, text) = match self {
            KeySource::Variable(name) => {
                (name.clone(), environment(name).ok_or_else(|| KeyError::Unset(name.clone()))?)
            }
            KeySource::File(path) => {
                let shown = path.display().to_string();
                let text = std::fs::read_to_string(path)
                    .map_err(|error| KeyError::File { path: shown.clone(), cause: error.to_string() })?;
                (shown, text)
            }
            KeySource::Usual(names) => {
                let found = names.iter().find_map(|name| {
                    let value = environment(name).filter(|value| !value.trim().is_empty())?;
                    Some(((*name).to_owned(), value))
                });
                match found {
                    Some(found) => found,
                    None => return Ok(None),
                }
            }
        };
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Unusable(name));
        }
        Ok(Some(Key::from(key.to_owned())))
    }
}
