//! Sources of settings: what was given, and where.

use std::fmt;

use serde_json::Value;

use super::choice::Preset;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The table itself.
    Default,
    /// A preset of the table.
    Preset(Preset),
    /// A settings file.
    File {
        /// Path as the user gave it or as it was found.
        path: String,
        /// Line, counted from 1.
        line: u32,
    },
    /// An environment variable, by its name.
    Env(String),
    /// A flag, as typed.
    Flag(String),
}

impl Origin {
    /// True when a person wrote the value, as opposed to the table.
    pub fn is_chosen(&self) -> bool {
        !matches!(self, Self::Default | Self::Preset(_))
    }

    /// How an error message starts.
    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Default | Self::Preset(_) => String::new(),
            chosen => format!("{chosen}: "),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(preset) => write!(f, "preset {preset}"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Env(name) => f.write_str(name),
            Self::Flag(text) => f.write_str(text),
        }
    }
}

/// A value as its source gave it.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Untyped text, from the environment or a flag.
    Text(String),
    /// A typed value, from a file.
    Value(Value),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Value(Value::String(text)) => write!(f, "{text:?}"),
            Self::Value(value) => write!(f, "{value}"),
        }
    }
}

/// One key, the value given for it, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Dotted key.
    pub key: String,
    /// What was given.
    pub given: Given,
    /// Where.
    pub origin: Origin,
}

/// The settings of one source. Each has its own origin, because each has its own line or variable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    /// In the order of the source.
    pub settings: Vec<Setting>,
}
