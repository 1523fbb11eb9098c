//! What a host says: once for a session, and for each compaction.

use crate::error::Error;
use foldline_core::reading::Reach;
use foldline_core::settings::{Given, Layer, Origin, Setting};
use foldline_core::{Format, Policy, Request, Trigger};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What holds for a session, read from JSON.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) policy: Policy,
    pub(crate) format: Option<Format>,
    /// The tool by which the agent reads originals. Without one, no handle is shown: a marker must not name a way that its
    /// reader does not have.
    pub(crate) recall_tool: Option<String>,
}

/// The JSON of [`Options`].
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    model: Option<Value>,
    window: Option<Value>,
    preset: Option<Value>,
    settings: Map<String, Value>,
    format: Option<String>,
    recall_tool: Option<String>,
}

impl Options {
    /// Reads options. Unknown names and values out of range are errors that say what was expected.
    pub fn read(json: &str) -> Result<Options, Error> {
        let given: Written = parsed(json)?;
        let settings = given.settings.into_iter();
        let settings = settings.map(|(key, value)| setting(&full_key(&key), value, "settings".to_owned())).collect();
        let named = [
            ("model", "model.name", given.model),
            ("window", "model.window", given.window),
            ("preset", "compression.preset", given.preset),
        ];
        let named = named.into_iter().filter_map(|(name, key, value)| {
            let value = value.filter(|value| !value.is_null())?;
            let origin = format!("{name}={value}");
            Some(setting(key, value, origin))
        });
        // An option of its own says it most plainly.
        let layers = [Layer { settings }, Layer { settings: named.collect() }];
        let resolved = Policy::sections().resolve(&layers).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Error::Options(errors.join("; "))
        })?;
        Ok(Options {
            policy: Policy::resolved(&resolved),
            format: given.format.as_deref().map(format_of).transpose()?,
            recall_tool: given.recall_tool,
        })
    }
}

/// What is asked of one compaction, read from JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// Tokens that the result must fit.
    pub target_tokens: Option<u64>,
    /// What the user cares about most.
    pub focus: Option<String>,
    /// What must stay, beside the pins of the settings.
    pub pins: Vec<String>,
    /// Whether to act below the trigger, too.
    pub force: bool,
    /// Whether the host asks a model for the handoff.
    pub summarizer: bool,
    /// Seconds since the conversation's last request.
    pub idle_seconds: Option<u32>,
    /// Memory that stays in force beside a handoff.
    pub memory: Option<String>,
    /// The day, for the model that writes the handoff.
    pub today: Option<String>,
    /// Milliseconds since 1970, for the pauses after a model failed.
    pub now_ms: Option<i64>,
}

impl Ask {
    /// Reads what is asked. Unknown names are errors.
    pub fn read(json: &str) -> Result<Ask, Error> {
        parsed(json)
    }

    pub(crate) fn request(self, options: &Options) -> Request {
        Request {
            trigger: if self.force || self.focus.is_some() { Trigger::Manual } else { Trigger::Engine },
            target: self.target_tokens,
            focus: self.focus,
            pins: self.pins,
            keeps_originals: options.recall_tool.is_some(),
            reach: options.recall_tool.clone().map_or(Reach::Command, Reach::Tool),
            idle: self.idle_seconds,
            has_summariser: self.summarizer,
            memory: self.memory,
            today: self.today,
            now_ms: self.now_ms,
            ..Request::default()
        }
    }
}

fn parsed<'j, T: Deserialize<'j>>(json: &'j str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| Error::Options(error.to_string()))
}

fn setting(key: &str, value: Value, origin: String) -> Setting {
    Setting { key: key.to_owned(), given: Given::Value(value), origin: Origin::Flag(origin) }
}

/// Keys of the section `compression` may be written without it.
fn full_key(key: &str) -> String {
    if key.contains('.') { key.to_owned() } else { format!("compression.{key}") }
}

/// A format by its name on the command line.
pub(crate) fn format_of(name: &str) -> Result<Format, Error> {
    let known = Format::NAMES.iter().find(|(_, known)| *known == name).map(|(format, _)| *format);
    known.ok_or_else(|| {
        let names: Vec<&str> = Format::NAMES.iter().map(|(_, name)| *name).collect();
        Error::Options(format!("format: {name:?} is not known, expected one of {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> String {
        Options::read(json).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            refused(r#"{"settings": {"threshold": 1.4}}"#),
            "settings: compression.threshold: 1.4 is out of range, expected a number from 0.05 to 0.95"
        );
        assert!(refused(r#"{"preset": "stady"}"#).starts_with("preset=\"stady\": compression.preset: "));
        assert!(refused(r#"{"wndow": 5}"#).contains("unknown field `wndow`"));
        assert!(refused(r#"{"format": "openai"}"#).contains("expected one of "));
        assert!(Ask::read(r#"{"target": 5}"#).unwrap_err().to_string().contains("target_tokens"));
    }

    #[test]
    fn an_option_of_its_own_wins_over_a_setting() {
        let options = Options::read(r#"{"window": 16000, "settings": {"model.window": 8000}}"#).unwrap();
        assert_eq!(options.policy, Options::read(r#"{"window": 16000}"#).unwrap().policy);
    }
}
