//! A row of a table: everything that is known about one setting.

use serde_json::Value;

use super::choice::Preset;
use super::error::Problem;
use super::kind::{Fault, ValueKind};
use super::layer::Given;

/// One knob: everything that is known about it, once.
#[derive(Debug)]
pub struct Knob {
    /// Dotted key; also the path of the field.
    pub key: &'static str,
    /// Type and range.
    pub kind: ValueKind,
    /// One line, with the unit.
    pub doc: &'static str,
    /// Default, as it would be typed.
    pub default: &'static str,
    /// Values of presets that differ from the default, as they would be typed.
    pub presets: &'static [(&'static [Preset], &'static str)],
}

impl Knob {
    /// The section, before the dot.
    pub fn section(&self) -> &'static str {
        self.key.split_once('.').map_or("", |(section, _)| section)
    }

    /// The name inside the section, after the dot.
    pub fn name(&self) -> &'static str {
        self.key.split_once('.').map_or(self.key, |(_, name)| name)
    }

    /// What this preset says about the knob, if it says anything.
    pub fn preset(&self, preset: Preset) -> Option<&'static str> {
        let said = self.presets.iter().find(|(presets, _)| presets.contains(&preset));
        said.map(|(_, text)| *text)
    }

    /// The value in effect with only this preset.
    pub fn value_in(&self, preset: Preset) -> &'static str {
        self.preset(preset).unwrap_or(self.default)
    }

    /// The canonical value in effect with only this preset.
    pub(super) fn canonical_in(&self, preset: Preset) -> Value {
        // The tests of each section read every text of its table, so that nothing is null here by mistake.
        self.kind.read(self.value_in(preset)).unwrap_or_default()
    }

    /// Checks what a source gave, and says what is wrong with it.
    pub fn check(&self, given: &Given) -> Result<Value, Problem> {
        let checked = match given {
            Given::Text(text) => self.kind.read(text),
            Given::Value(value) => self.kind.check(value),
        };
        checked.map_err(|fault| {
            let value = given.to_string();
            let expected = self.kind.expected();
            match fault {
                Fault::WrongType => Problem::WrongType { value, expected },
                Fault::OutOfRange => Problem::OutOfRange { value, expected },
                Fault::UnknownName => Problem::UnknownName { value, expected },
            }
        })
    }
}
