//! Tokens with a vendor's prefix: a fixed beginning, then a body of a known alphabet and length.

use crate::redact::alphabet::Alphabet;
use crate::redact::judge;
use crate::redact::rules::{Anchors, Rule};
use crate::redact::scan::{Scan, longest_stretch};

/// The part of a token after its prefix.
#[derive(Debug, Clone, Copy)]
pub struct Body {
    pub alphabet: &'static Alphabet,
    pub min: usize,
    pub max: usize,
    pub look: Look,
}

/// What a body must show besides its alphabet, so that ordinary words with the same beginning stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The prefix and the length are proof enough.
    Any,
    /// A digit, as words rarely have one.
    Digit,
    /// A digit, or a stretch of letters longer than a word.
    Dense,
    /// Exactly this many bytes `.` in the body.
    Dots(usize),
}

/// No word of a natural language in kebab case is this long.
const LONGER_THAN_A_WORD: usize = 16;

impl Body {
    fn accepts(&self, body: &[u8]) -> bool {
        let has_digit = || body.iter().any(u8::is_ascii_digit);
        match self.look {
            Look::Any => true,
            Look::Digit => has_digit(),
            Look::Dense => {
                longest_stretch(body, self.max) >= LONGER_THAN_A_WORD || (has_digit() && judge::is_random(body))
            }
            Look::Dots(count) => body.iter().filter(|&&byte| byte == b'.').count() == count && has_digit(),
        }
    }
}

pub(crate) fn find(scan: &mut Scan<'_>, rule: &'static Rule, body: &Body, at: usize) -> Option<usize> {
    if !scan.starts_token(at, body.alphabet) {
        return None;
    }
    let (Anchors::Exact(prefixes) | Anchors::AnyCase(prefixes)) = rule.anchors else { return None };
    for prefix in prefixes.iter().filter(|prefix| scan.starts_with(at, prefix)) {
        let from = at + prefix.len();
        let mut end = scan.run(from, body.alphabet, body.max + 1);
        // A full stop ends a sentence, it is not the end of a token.
        while end > from && matches!(scan.before(end), b'.') {
            end -= 1;
        }
        let candidate = scan.slice(from, end);
        let fits = (body.min..=body.max).contains(&candidate.len()) && scan.ends_token(end);
        if fits && body.accepts(candidate) && !judge::is_filler(candidate) {
            scan.report(rule, at, end);
            return Some(end);
        }
    }
    judge::masked_at(scan, at)
}
