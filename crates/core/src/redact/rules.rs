//! What a rule is, and the table of all rules.

use crate::redact::alphabet::Alphabet;
use crate::redact::fields::FIELDS;
use crate::redact::scan::Scan;
use crate::redact::structured::STRUCTURED;
use crate::redact::token::{self, Body, Look};
use crate::redact::vendors::VENDORS;

/// One kind of secret: where to look for it, how to recognise it, and examples on both sides of the line.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name in findings and lists.
    pub name: &'static str,
    /// What the secret is, for people.
    pub what: &'static str,
    /// Where it may begin.
    pub anchors: Anchors,
    pub(crate) shape: Shape,
    /// What remains visible of a long secret.
    pub reveal: Reveal,
    /// How sure a match is.
    pub confidence: Confidence,
    /// Texts with exactly one secret each. `<a36>` stands for 36 letters and digits, so that no secret is spelled out;
    /// see the tests for the notation.
    pub hits: &'static [&'static str],
    /// Texts without a secret.
    pub misses: &'static [&'static str],
}

/// Where the scan stops for a rule.
#[derive(Debug, Clone, Copy)]
pub enum Anchors {
    /// Words of three or more bytes, spelled exactly so.
    Exact(&'static [&'static str]),
    /// Words of four or more bytes in upper, lower or mixed case.
    AnyCase(&'static [&'static str]),
    /// One set of bytes for each of four positions, for secrets without a fixed word.
    Classes([&'static str; 4]),
}

#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Token(Body),
    ByHand(Matcher),
}

/// Checks an anchor and reports what it finds. Answers where the scan goes on, or `None` if there is nothing here.
pub(crate) type Matcher = fn(&mut Scan<'_>, &'static Rule, usize) -> Option<usize>;

/// How much of a masked secret people get to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reveal {
    /// Both ends of a long token, enough to tell which one it was.
    Ends,
    /// Nothing: what people choose can be guessed from its ends.
    Nothing,
    /// A fixed text.
    Label(&'static str),
}

/// How sure a match is without regard to the kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The name beside the value says so; source code has many such names with harmless values.
    Low,
    /// The shape itself says so.
    High,
}

const COUNT: usize = VENDORS.len() + STRUCTURED.len() + FIELDS.len();

/// All rules. Where two fit the same place the earlier one wins.
pub static RULES: &[Rule] = &TABLE;

static TABLE: [Rule; COUNT] = {
    let mut table = [VENDORS[0]; COUNT];
    let mut i = 0;
    while i < COUNT {
        table[i] = if i < VENDORS.len() {
            VENDORS[i]
        } else if i < VENDORS.len() + STRUCTURED.len() {
            STRUCTURED[i - VENDORS.len()]
        } else {
            FIELDS[i - VENDORS.len() - STRUCTURED.len()]
        };
        i += 1;
    }
    table
};

impl Rule {
    /// A row for a token with a vendor's prefix.
    pub(crate) const fn token(
        name: &'static str,
        what: &'static str,
        prefixes: &'static [&'static str],
        (alphabet, min, max): (&'static Alphabet, usize, usize),
        hits: &'static [&'static str],
    ) -> Self {
        let body = Body { alphabet, min, max, look: Look::Any };
        Self {
            name,
            what,
            anchors: Anchors::Exact(prefixes),
            shape: Shape::Token(body),
            reveal: Reveal::Ends,
            confidence: Confidence::High,
            hits,
            misses: &[],
        }
    }

    /// A row for a secret that a matcher written by hand recognises.
    pub(crate) const fn by_hand(name: &'static str, what: &'static str, anchors: Anchors, matcher: Matcher) -> Self {
        Self {
            name,
            what,
            anchors,
            shape: Shape::ByHand(matcher),
            reveal: Reveal::Ends,
            confidence: Confidence::High,
            hits: &[],
            misses: &[],
        }
    }

    pub(crate) const fn look(mut self, look: Look) -> Self {
        if let Shape::Token(body) = &mut self.shape {
            body.look = look;
        }
        self
    }

    pub(crate) const fn reveal(mut self, reveal: Reveal) -> Self {
        self.reveal = reveal;
        self
    }

    pub(crate) const fn low(mut self) -> Self {
        self.confidence = Confidence::Low;
        self
    }

    pub(crate) const fn hits(mut self, hits: &'static [&'static str]) -> Self {
        self.hits = hits;
        self
    }

    pub(crate) const fn misses(mut self, misses: &'static [&'static str]) -> Self {
        self.misses = misses;
        self
    }

    pub(crate) fn check(&'static self, scan: &mut Scan<'_>, at: usize) -> Option<usize> {
        match &self.shape {
            Shape::Token(body) => token::find(scan, self, body, at),
            Shape::ByHand(matcher) => matcher(scan, self, at),
        }
    }

    /// The shape in words, for documentation.
    pub fn pattern(&self) -> String {
        let anchors = match self.anchors {
            Anchors::Exact(words) => words.join(" | "),
            Anchors::AnyCase(words) => format!("{} (any case)", words.join(" | ")),
            Anchors::Classes(classes) => classes.map(|class| format!("[{class}]")).concat(),
        };
        match self.shape {
            Shape::Token(body) => format!("{anchors} + [{}]{{{},{}}}", body.alphabet.spec(), body.min, body.max),
            Shape::ByHand(_) => anchors,
        }
    }
}
