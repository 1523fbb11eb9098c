//! Arguments of a call, as models write them: a number may come as text, and text as a number.

use rmcp::model::JsonObject;
use serde_json::Value;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The arguments of one call.
pub(super) struct Arguments<'a>(pub(super) &'a JsonObject);

impl Arguments<'_> {
    /// A text that says something.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = match self.0.get(name)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// A text that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<String, String> {
        self.text(name).ok_or_else(|| format!("`{name}` is missing; expected a text"))
    }

    /// A value of a type.
    pub(super) fn parse<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, String> {
        self.text(name).map(|text| text.trim().parse().map_err(|error| format!("{name}: {error}"))).transpose()
    }

    /// A whole number within bounds.
    pub(super) fn number(&self, name: &str, bounds: RangeInclusive<usize>) -> Result<Option<usize>, String> {
        let expected = || format!("{name}: expected a whole number from {} to {}", bounds.start(), bounds.end());
        let read =
            |text: String| text.trim().parse().ok().filter(|number| bounds.contains(number)).ok_or_else(expected);
        self.text(name).map(read).transpose()
    }

    /// Whether a switch is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(Value::Bool(is_on)) => *is_on,
            Some(Value::String(text)) => text == "true",
            _ => false,
        }
    }
}
