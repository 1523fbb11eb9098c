//! Sources of settings, laid over each other: which value wins, and where it came from.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::choice::Preset;
use super::error::{PolicyError, Problem};
use super::knob::{knob, nearest_key};
use super::table::{KNOBS, Policy, RELATIONS};

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

/// A policy, and where each of its values came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// What the engine reads.
    pub policy: Policy,
    /// One origin for each key of the table.
    pub origins: BTreeMap<&'static str, Origin>,
}

impl Resolved {
    /// Key, value and origin, in the order of the table.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, Value, &Origin)> {
        KNOBS.iter().map(|knob| {
            let origin = self.origins.get(knob.key).unwrap_or(&Origin::Default);
            (knob.key, (knob.give)(&self.policy), origin)
        })
    }
}

/// Lays `layers` over the defaults; later ones win. The preset that the highest layer names sits right
/// above the defaults, wherever it was named. All problems are reported, not only the first.
pub fn resolve(layers: &[Layer]) -> Result<Resolved, Vec<PolicyError>> {
    let mut errors = Vec::new();
    let mut chosen: BTreeMap<&'static str, (Value, Origin)> = BTreeMap::new();
    for layer in layers {
        let mut seen: BTreeMap<&'static str, &Origin> = BTreeMap::new();
        for setting in &layer.settings {
            match checked(setting, &seen) {
                Ok((key, value)) => {
                    seen.insert(key, &setting.origin);
                    chosen.insert(key, (value, setting.origin.clone()));
                }
                Err(problem) => {
                    errors.push(PolicyError { key: setting.key.clone(), origin: setting.origin.clone(), problem })
                }
            }
        }
    }
    let preset = chosen.get("compression.preset").and_then(|(value, _)| Preset::named(value.as_str()?));
    let preset = preset.unwrap_or(Preset::DEFAULT);
    let mut policy = Policy::of(preset);
    let mut origins = BTreeMap::new();
    for knob in KNOBS {
        let origin = match chosen.remove(knob.key) {
            Some((value, origin)) => {
                (knob.take)(&mut policy, &value);
                origin
            }
            None if knob.preset(preset).is_some() => Origin::Preset(preset),
            None => Origin::Default,
        };
        origins.insert(knob.key, origin);
    }
    let resolved = Resolved { policy, origins };
    errors.extend(contradictions(&resolved));
    if errors.is_empty() { Ok(resolved) } else { Err(errors) }
}

/// The table's key and the canonical value of a setting.
fn checked(setting: &Setting, seen: &BTreeMap<&'static str, &Origin>) -> Result<(&'static str, Value), Problem> {
    let Some(knob) = knob(&setting.key) else {
        let section = KNOBS.iter().any(|knob| knob.section() == setting.key);
        return Err(if section {
            let expected = "a section with keys of its own".to_owned();
            Problem::WrongType { value: setting.given.to_string(), expected }
        } else {
            Problem::UnknownKey { nearest: nearest_key(&setting.key) }
        });
    };
    // A flag given twice is how shells override aliases; a line given twice in a file is a mistake.
    if let (Origin::File { .. }, Some(first)) = (&setting.origin, seen.get(knob.key)) {
        return Err(Problem::Twice { first: format!("at {first}") });
    }
    knob.check(&setting.given).map(|value| (knob.key, value))
}

/// Pairs of knobs that disagree. Only a value that somebody chose is blamed: where a preset's low-water
/// mark meets a lower trigger, the budgets give way by themselves.
fn contradictions(resolved: &Resolved) -> Vec<PolicyError> {
    let mut errors = Vec::new();
    for relation in RELATIONS {
        let (Some(value), Some(other_value)) =
            (resolved.policy.value(relation.key), resolved.policy.value(relation.other))
        else {
            continue;
        };
        let (Some(left), Some(right)) = (value.as_f64(), other_value.as_f64()) else { continue };
        let Some(origin) = resolved.origins.get(relation.key).filter(|origin| origin.is_chosen()) else {
            continue;
        };
        if !relation.order.holds(left, right) {
            errors.push(PolicyError {
                key: relation.key.to_owned(),
                origin: origin.clone(),
                problem: Problem::Contradiction {
                    value: value.to_string(),
                    other: relation.other,
                    other_value: other_value.to_string(),
                    expected: format!("{} {}", relation.order.words(), relation.other),
                },
            });
        }
    }
    errors
}
