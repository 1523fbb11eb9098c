//! Secrets that are known by value: found once where their surroundings gave them away, hidden wherever else they stand.

use crate::redact::{Mode, find};
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;

/// Values of secrets. They are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Known {
    values: Vec<String>,
}

/// Shorter values, and plain words, stand in too many harmless places to be hidden everywhere.
const SHORTEST: usize = 10;

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.values.len())
    }
}

impl Known {
    /// Learns the secrets of a text.
    pub fn learn(&mut self, text: &str) {
        for finding in find(text, Mode::Text) {
            if let Some(value) = text.get(finding.start..finding.end).filter(|value| is_generated(value)) {
                self.values.push(value.to_owned());
            }
        }
    }

    /// A text without them.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.values.is_empty() {
            return Cow::Borrowed(text);
        }
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.values);
        match search {
            Ok(search) if search.is_match(text) => {
                let masks: Vec<String> = self.values.iter().map(|value| super::mask(value)).collect();
                Cow::Owned(search.replace_all(text, &masks))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

fn is_generated(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= SHORTEST && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_where_nothing_gives_it_away() {
        let secret = format!("{}{}", "zq7Lm2", "Xp9Rt4Vw");
        let mut known = Known::default();
        known.learn(&format!("export DB_PASSWORD={secret}\npassword: letmein\n"));
        assert_eq!(known.hide(&format!("it was {secret}, I think")), "it was ***, I think");
        assert_eq!(known.hide("letmein is a word"), "letmein is a word");
        assert!(!format!("{known:?}").contains(&secret));
    }
}
