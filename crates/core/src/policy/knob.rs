//! A row of the table, and how rows are found by what users type.

use serde_json::Value;

use super::choice::Preset;
use super::error::Problem;
use super::kind::{Fault, Kind};
use super::layer::Given;
use super::table::{KNOBS, Policy};

/// One knob: everything that is known about it, once.
#[derive(Debug)]
pub struct Knob {
    /// Dotted key; also the path of the field in [`Policy`].
    pub key: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// One line, with the unit.
    pub doc: &'static str,
    /// Default, as it would be typed.
    pub default: &'static str,
    /// Values of presets that differ from the default, as they would be typed.
    pub presets: &'static [(&'static [Preset], &'static str)],
    /// Puts a checked value into its field.
    pub(crate) take: fn(&mut Policy, &Value) -> bool,
    /// Reads the field.
    pub(crate) give: fn(&Policy) -> Value,
}

/// All knobs, in the order of the documentation.
pub fn knobs() -> &'static [Knob] {
    KNOBS
}

/// The knob with this exact key.
pub fn knob(key: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.key == key)
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

/// The key a user most likely meant, if one is close enough to be worth naming.
pub fn nearest_key(typed: &str) -> Option<&'static str> {
    // A key without its section is the most common slip, and a far one by letters.
    if let Some(knob) = KNOBS.iter().find(|knob| knob.name() == typed) {
        return Some(knob.key);
    }
    let (section, name) = typed.rsplit_once('.').map_or((None, typed), |(section, name)| (Some(section), name));
    let by_distance = KNOBS.iter().map(|knob| {
        let whole = distance(knob.key, typed);
        // A right name in the wrong section costs one step, so that it beats chance neighbours.
        let elsewhere = section.is_some_and(|section| section != knob.section());
        let part = distance(knob.name(), name) + usize::from(elsewhere);
        (whole.min(part), knob.key)
    });
    let (steps, key) = by_distance.min_by_key(|(steps, _)| *steps)?;
    // More than a third of the letters wrong is a guess, and a wrong guess is worse than none.
    (steps <= 1 + name.chars().count() / 3).then_some(key)
}

/// Edits (insert, delete, replace) between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for ((y, above), diagonal) in b.iter().zip(row.iter().skip(1)).zip(row.iter()) {
            let left = next.last().copied().unwrap_or(i + 1);
            let replaced = diagonal + usize::from(x != *y);
            next.push(replaced.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
