//! Masks values that were recognised as secrets elsewhere.

use crate::rule::Reveal;
use crate::words::{PLACEHOLDERS, words};
use crate::{Mode, mask, scan, string_stats};
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Values of secrets. They are never shown.
///
/// ```
/// use foldline_redact::Known;
/// let mut known = Known::default();
/// known.learn(&format!("export DB_PASSWORD={}", "tangerine-42"));
/// assert_eq!(known.hide("it was tangerine-42, I think"), "it was ***, I think");
/// ```
#[derive(Clone, Default)]
pub struct Known {
    /// All spellings of the values, each with its mask.
    spellings: BTreeMap<String, String>,
    /// Built when it is needed first, and again after something was learnt.
    search: OnceLock<Option<AhoCorasick>>,
}

/// Shorter values stand in too many harmless places to be hidden everywhere.
const SHORTEST: usize = 8;
/// A word of letters that stands alone more often in one text is a word of that text, not a password.
const MOST_OF_A_WORD: usize = 3;
/// Private keys and the like are long; their lines are hidden by the rules.
const LONGEST: usize = 4096;

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} spellings of secrets", self.spellings.len())
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.spellings == other.spellings
    }
}

impl Eq for Known {}

impl Known {
    /// Learns the secrets of a text.
    pub fn learn(&mut self, text: &str) {
        for finding in scan::find(text.as_bytes(), Mode::Text) {
            if let (Some(value), Reveal::Ends | Reveal::Nothing) =
                (text.get(finding.start..finding.end), finding.reveal)
            {
                self.add(value);
            }
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// Remembers a value, and how strings, forms and URLs spell it.
    fn add(&mut self, raw: &str) {
        let plain = plain(raw);
        let plain = plain.trim();
        if !(SHORTEST..=LONGEST).contains(&plain.len()) || is_common(plain) {
            return;
        }
        let mask = mask::mask(plain);
        for spelling in [plain.to_owned(), in_json(plain), in_json(&in_json(plain)), in_url(plain), raw.to_owned()] {
            if spelling.len() >= SHORTEST && !self.spellings.contains_key(&spelling) {
                self.spellings.insert(spelling, mask.clone());
                self.search = OnceLock::new();
            }
        }
    }

    /// A text without them.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.spellings.is_empty() {
            return Cow::Borrowed(text);
        }
        let build = || AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(self.spellings.keys()).ok();
        let Some(search) = self.search.get_or_init(build) else { return Cow::Borrowed(text) };
        let masks: Vec<&String> = self.spellings.values().collect();
        let is_part = |value: &str, start, end| is_word(value) && !stands_alone(text, start, end);
        let mut times = vec![0_usize; masks.len()];
        for found in search.find_iter(text) {
            let value = text.get(found.range()).unwrap_or_default();
            if let Some(times) = times.get_mut(found.pattern().as_usize()) {
                *times += usize::from(is_word(value) && !is_part(value, found.start(), found.end()));
            }
        }
        let mut out = String::new();
        let mut from = 0;
        for found in search.find_iter(text) {
            let pattern = found.pattern().as_usize();
            let (Some(mask), Some(value)) = (masks.get(pattern), text.get(found.range())) else { continue };
            let is_frequent = times.get(pattern).is_some_and(|&times| times > MOST_OF_A_WORD);
            if is_frequent || is_part(value, found.start(), found.end()) {
                continue;
            }
            out.push_str(text.get(from..found.start()).unwrap_or_default());
            out.push_str(mask);
            from = found.end();
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }
}

/// The value without the escapes of the string it was found in.
fn plain(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => out.extend(rest.next().filter(|escaped| !matches!(escaped, 'n' | 'r' | 't' | 'u')).or(Some('\\'))),
            '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}' => {}
            other => out.push(other),
        }
    }
    out
}

fn in_json(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

fn in_url(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Words that are passwords in one place and something else in many: names of products, of users, of hosts.
fn is_common(value: &str) -> bool {
    words! {
        COMMON = [
            "administrator", "anonymous", "cassandra", "container", "database", "developer", "development",
            "elasticsearch", "integration", "jenkins", "kubernetes", "localhost", "mongodb", "password", "postgres",
            "postgresql", "production", "rabbitmq", "superuser", "username",
        ]
    }
    let bytes = value.as_bytes();
    COMMON.has(bytes)
        || PLACEHOLDERS.has(bytes)
        || string_stats::is_number(bytes) && bytes.len() < 10
        || string_stats::is_filler(bytes)
}

/// Letters only: such a value is hidden as a word, not as a part of one.
fn is_word(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let before = start.checked_sub(1).and_then(|index| text.as_bytes().get(index));
    !joins(before) && !joins(text.as_bytes().get(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(value: &str) -> Known {
        let mut known = Known::default();
        known.learn(&format!("{{\"db_password\": \"{}\"}}", in_json(value)));
        known
    }

    #[test]
    fn a_secret_is_hidden_where_nothing_gives_it_away() {
        let secret = format!("{}{}", "zq7Lm2", "Xp9Rt4Vw");
        let mut known = Known::default();
        known.learn(&format!("export DB_PASSWORD={secret}\npassword: letmein\n"));
        assert_eq!(known.hide(&format!("it was {secret}, I think")), "it was ***, I think");
        assert_eq!(known.hide("letmein is a word"), "letmein is a word");
        assert!(!format!("{known:?}").contains(&secret));
    }

    #[test]
    fn a_secret_is_hidden_however_it_is_spelled() {
        let secret = format!("{}{}", "pa\"ss", "\\w0rd/42");
        let known = known(&secret);
        for text in [secret.clone(), in_json(&secret), in_json(&in_json(&secret)), in_url(&secret)] {
            assert_eq!(known.hide(&format!("say {text}.")), "say ***.", "{text}");
        }
    }

    #[test]
    fn short_values_and_common_words_are_no_patterns() {
        for value in ["abc1234", "postgres", "password"] {
            assert!(known(value).is_empty(), "{value}");
        }
        let word = known("tangerine");
        assert_eq!(word.hide("a tangerine, tangerines"), "a ***, tangerines");
        let recipe = "peel the tangerine, cut the tangerine, eat the tangerine or give the tangerine away";
        assert_eq!(word.hide(recipe), recipe);
    }
}
