//! Pins: what people said must stay. They come from the settings, from `/pin …` in a chat, from calls of the tool
//! `foldline_pin` and from earlier handoffs, and hold word for word until `/unpin …` takes them back.

use super::tool::Arguments;
use super::{Gathering, Ledger};
use crate::inserted::{self, Line, Section};
use serde::Serialize;

/// Pins come before everything else.
pub(crate) const PIN_WORTH: f32 = 1_000.0;
/// How a pin begins in a handoff. Those of the settings are told anew by each fold, so that what is taken out of the
/// settings leaves the handoff, too.
const PINNED: &str = "- (pinned) ";
const CONFIGURED: &str = "- (pinned in the settings) ";
/// What people type.
const PIN: &str = "/pin";
const UNPIN: &str = "/unpin";

/// The tool by which agents pin. Its calls stand in the conversation, where folds find them.
const PIN_TOOL: &str = "foldline_pin";
/// Bytes of a pin that a tool may set: what is longer is no rule.
pub const LONGEST_PIN: usize = 2_000;

/// What a message orders about pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinOrder<'w> {
    /// Keep this.
    Pin(&'w str),
    /// Keep it no longer.
    Unpin(&'w str),
}

impl<'w> PinOrder<'w> {
    /// Reads a message that is an order and nothing else.
    pub fn read(words: &'w str) -> Option<PinOrder<'w>> {
        let words = words.trim();
        let what = |command: &str| {
            let rest = words.strip_prefix(command)?;
            rest.starts_with(char::is_whitespace).then(|| rest.trim()).filter(|rest| !rest.is_empty())
        };
        what(PIN).map(PinOrder::Pin).or_else(|| what(UNPIN).map(PinOrder::Unpin))
    }
}

/// Something that a handoff holds for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Why it is held.
    pub kind: HeldKind,
    /// What it says.
    pub text: String,
}

/// Why something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldKind {
    /// The user laid it down.
    Rule,
    /// Somebody pinned it.
    Pin,
}

impl Held {
    /// What a line of the constraints says.
    pub(crate) fn read(line: &str) -> Held {
        let pinned = line.strip_prefix(PINNED).or_else(|| line.strip_prefix(CONFIGURED));
        match pinned {
            Some(text) => Held { kind: HeldKind::Pin, text: text.to_owned() },
            None => Held { kind: HeldKind::Rule, text: line.strip_prefix("- ").unwrap_or(line).to_owned() },
        }
    }
}

/// The rules and pins that a handoff tells.
pub fn held_in(handoff: &str) -> Vec<Held> {
    let lines = inserted::record(handoff).map(|record| inserted::recall(&record)).unwrap_or_default();
    let facts = lines.into_iter().filter_map(|line| match line {
        Line::Fact { section: Section::Constraints, text } => Some(Held::read(&text)),
        _ => None,
    });
    facts.collect()
}

impl Ledger {
    /// The rules and pins that were found, in the order in which they were laid down.
    pub fn held(&self) -> Vec<Held> {
        let held = self.entries.iter().filter(|entry| entry.section == Section::Constraints && entry.worth > 0.0);
        let mut held: Vec<(u32, Held)> = held.map(|entry| (entry.message, Held::read(self.text(entry)))).collect();
        held.sort_by_key(|(message, _)| *message);
        held.into_iter().map(|(_, held)| held).collect()
    }
}

impl Gathering<'_, '_> {
    /// Follows an order.
    pub(super) fn follow(&mut self, order: PinOrder<'_>) {
        match order {
            PinOrder::Pin(text) => self.pin(text),
            PinOrder::Unpin(text) => {
                let text = text.to_lowercase();
                self.pins.retain(|pin| !pin.to_lowercase().contains(&text));
            }
        }
    }

    /// Follows a call of the tool that pins; `false` for any other call.
    pub(super) fn pinned_by_tool(&mut self, tool: &str, arguments: &Arguments<'_>) -> bool {
        if !tool.ends_with(PIN_TOOL) {
            return false;
        }
        if let Some(text) = arguments.get("text").filter(|text| text.len() <= LONGEST_PIN) {
            match arguments.raw("unpin") {
                Some("true") => self.follow(PinOrder::Unpin(&text)),
                _ => self.follow(PinOrder::Pin(&text)),
            }
        }
        true
    }

    fn pin(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !self.pins.contains(&text) {
            self.pins.push(text);
        }
    }

    /// Takes over a line of an earlier handoff if it is a pin.
    pub(super) fn remember_pin(&mut self, line: &str) -> bool {
        if let Some(text) = line.strip_prefix(PINNED) {
            self.pin(text);
        }
        line.starts_with(PINNED) || line.starts_with(CONFIGURED)
    }

    /// Tells all pins.
    pub(super) fn close_pins(&mut self) {
        for pin in self.wishes.pins {
            match pin.contains('*') {
                false => self.fact(0, Section::Constraints, &format!("{CONFIGURED}{pin}"), PIN_WORTH),
                true => self.pin_matching(pin),
            }
        }
        for pin in std::mem::take(&mut self.pins) {
            self.fact(0, Section::Constraints, &format!("{PINNED}{pin}"), PIN_WORTH);
        }
    }

    /// Pins what users said that fits a pattern.
    fn pin_matching(&mut self, pattern: &str) {
        let said = self.ledger.entries.iter().filter(|entry| entry.statement.is_some());
        let found: Vec<String> = said
            .map(|entry| self.ledger.text(entry))
            .filter(|text| matches(pattern, text))
            .map(str::to_owned)
            .collect();
        found.iter().for_each(|text| self.pin(text));
    }
}

/// Whether a text has all parts of a pattern that its stars divide, in order. The case does not matter.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut rest = text.as_str();
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = rest.get(at + part.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_the_whole_message() {
        assert_eq!(PinOrder::read(" /pin no calls before nine "), Some(PinOrder::Pin("no calls before nine")));
        assert_eq!(PinOrder::read("/unpin calls"), Some(PinOrder::Unpin("calls")));
        for other in ["/pin", "/pinned it", "please /pin this", "/unpin  "] {
            assert_eq!(PinOrder::read(other), None, "{other}");
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(matches("*deadline*march", "The DEADLINE is the 3rd of March."));
        assert!(!matches("*march*deadline", "The deadline is in March."));
    }
}
