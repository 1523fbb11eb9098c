//! A rule as it is tried: with its pattern, compiled when it is needed first.

use crate::rule::{Rule, compile};
use regex::bytes::Regex;
use std::sync::OnceLock;

/// A rule with its pattern, which is compiled when it is needed first.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) rule: &'static Rule,
    regex: OnceLock<Option<Regex>>,
    lead: OnceLock<Option<Lead>>,
}

/// What a pattern begins with: at least so many bytes of one kind. Most tries of a pattern end there, and counting bytes
/// takes a tenth of the time that asking a pattern takes.
#[derive(Debug)]
pub(crate) struct Lead {
    inside: [bool; 256],
    pub(crate) fewest: usize,
}

impl Lead {
    /// Reads a pattern like `[A-Z0-9]{20,}…`. Others have no lead.
    fn of(pattern: &str) -> Option<Self> {
        let class_end = match pattern.as_bytes() {
            [b'[', ..] => pattern.find(']')? + 1,
            [b'\\', b'w' | b'd', ..] => 2,
            _ => return None,
        };
        let (class, rest) = pattern.split_at_checked(class_end)?;
        let count = rest.strip_prefix('{')?;
        let digits = count.find(|sign: char| !sign.is_ascii_digit())?;
        let fewest = count.get(..digits)?.parse().ok().filter(|_| !rest.contains('|'))?;
        let one = compile(&format!(r"\A{class}\z"))?;
        let mut inside = [false; 256];
        for (byte, inside) in (0..=u8::MAX).zip(&mut inside) {
            *inside = one.is_match(&[byte]);
        }
        Some(Self { inside, fewest })
    }

    /// How many of the bytes that it needs stand at the beginning of a text.
    pub(crate) fn count(&self, text: &[u8]) -> usize {
        text.iter().take(self.fewest).take_while(|byte| self.inside[usize::from(**byte)]).count()
    }
}

/// What the pattern of a rule says about the secret, as places in the text that it was matched with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Secret {
    /// It is this.
    Is(usize, usize),
    /// It is the argument or string that begins here.
    BeginsAt(usize),
}

impl Secret {
    pub(crate) fn moved(self, by: usize) -> Self {
        match self {
            Self::Is(start, end) => Self::Is(start + by, end + by),
            Self::BeginsAt(start) => Self::BeginsAt(start + by),
        }
    }
}

impl Prepared {
    pub(crate) fn new(rule: &'static Rule) -> Self {
        Self { rule, regex: OnceLock::new(), lead: OnceLock::new() }
    }

    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| self.rule.compile()).as_ref()
    }

    pub(crate) fn lead(&self) -> Option<&Lead> {
        self.lead.get_or_init(|| self.rule.pattern().and_then(Lead::of)).as_ref()
    }

    /// Searches from `from` on, which may lie behind the end: a value may go on where the arguments that are searched end.
    /// Groups cost several times as much as the end of a match; where the secret begins at the end, they are not asked for.
    pub(crate) fn search(&self, text: &[u8], from: usize) -> Option<Secret> {
        let regex = self.regex().filter(|_| from <= text.len())?;
        let found = regex.find_at(text, from)?;
        if self.rule.pattern().is_some_and(|pattern| pattern.ends_with("()")) {
            return Some(Secret::BeginsAt(found.end()));
        }
        let groups = regex.captures_at(text, from)?;
        let secret = groups.iter().skip(1).flatten().last()?;
        Some(match secret.is_empty() {
            true => Secret::BeginsAt(secret.start()),
            false => Secret::Is(secret.start(), secret.end()),
        })
    }
}
