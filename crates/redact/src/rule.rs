//! What a rule is.

use regex::bytes::{Regex, RegexBuilder};

/// One kind of secret: where to look for it, how to recognise it, and examples on both sides of the line.
///
/// Rules are data. A keyword opens the gate; only where one stands is a pattern tried, on a bounded piece of text.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name in findings and lists.
    pub name: &'static str,
    /// What the secret is, for people.
    pub what: &'static str,
    /// Words of which one stands in every text with such a secret, whatever the case of its letters.
    pub keywords: &'static [&'static str],
    /// How the secret is recognised where a keyword stands.
    pub shape: Shape,
    /// What the secret must be besides.
    pub checks: &'static [Check],
    /// What remains visible of a long secret.
    pub reveal: Reveal,
    /// How sure a match is.
    pub confidence: Confidence,
    /// What kind of value begins where the pattern ends, or at its empty group.
    pub reads: Reads,
    /// A byte without which the pattern cannot match; looking for it is cheaper.
    pub needs: Option<u8>,
    /// Texts with exactly one secret each. `<a36>` stands for 36 letters and digits, so that no secret is spelled out;
    /// the tests describe the notation.
    pub hits: &'static [&'static str],
    /// Texts without a secret.
    pub misses: &'static [&'static str],
}

/// How a secret is recognised.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A token that begins with the keyword, spelled exactly so; the pattern describes the rest. The token stands alone:
    /// no letter, digit or underscore before or after it.
    Token(&'static str),
    /// A pattern that begins with the keyword. Its first group is the secret; an empty group says where an argument or a
    /// string begins that is the secret.
    From {
        /// The pattern.
        pattern: &'static str,
        /// It reads no more bytes than these.
        reach: usize,
    },
    /// A pattern with the keyword inside. It begins where the run of characters before the keyword begins.
    Back {
        /// The pattern, with groups as above.
        pattern: &'static str,
        /// The characters before the keyword.
        class: Class,
        /// How many of them there are, at least and at most.
        run: (usize, usize),
        /// It reads no more bytes than these after the keyword.
        reach: usize,
    },
    /// The keyword is part of a name; the value beside the name is the secret. Which names, values and notations count
    /// is decided by the words in `words.rs`.
    Name,
    /// The keyword is a program; the pattern describes one of its options, from the dash or slash on.
    Option(&'static str),
    /// The keyword is a program; the pattern is searched in its arguments.
    Command(&'static str),
    /// The keyword names a secret in a sentence.
    Sentence,
    /// The beginning of an `INSERT` with names of columns.
    Insert,
    /// The line of a manifest that says it holds secrets.
    Manifest,
    /// The first line of a private key.
    KeyBegin,
    /// The last line of a private key.
    KeyEnd,
    /// The name of a cookie header.
    Cookies,
    /// A long string that only a generator makes. There is no keyword.
    Random,
}

/// How far a secret reaches from where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// A string in quotes, or a word up to the next blank.
    Argument,
    /// Letters, digits and the signs that headers carry.
    Credential,
    /// Up to the `@` before a host.
    Userinfo,
    /// The same, with signs in it that should have been escaped.
    LooseUserinfo,
    /// Up to the keyword.
    UpToKeyword,
}

/// Characters that stand before a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `0` to `9`.
    Digit,
    /// Digits and the letters `a` to `f`.
    Hex,
    /// Letters, digits and underscores.
    Word,
    /// The same and dashes.
    Dash,
    /// Letters, digits, `+` and `/`.
    Base64,
    /// Letters, digits and `_.~-`.
    Url,
    /// Everything but blanks, quotes, brackets and signs of assignment.
    Unbroken,
}

impl Class {
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dash => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'~' | b'-'),
            Self::Unbroken => {
                byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'=' | b'<' | b'>' | b'(' | b')' | b',' | b'/')
            }
        }
    }
}

/// A condition on the secret that a match has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Check {
    /// At least this long.
    Least(usize),
    /// At most this long.
    Most(usize),
    /// So many digits, at least and at most.
    Digits(usize, usize),
    /// A digit, as words rarely have one.
    Digit,
    /// Letters and digits.
    Mixed,
    /// A stretch of letters and digits longer than a word, or characters that alternate as in generated strings.
    Dense,
    /// Characters alternate as in generated strings.
    Random,
    /// At least so many bits per character.
    Entropy(f64),
    /// No placeholder, variable or type, and no mask.
    Real,
    /// No single word that prose goes on after.
    NotProse,
    /// Letters in an order that no language has, digits or signs: no word that a program would print.
    NotPlain,
    /// No sentence or label about a secret.
    NotSentence,
    /// No sign of an assignment, a path or an option at its beginning.
    NotSign,
    /// No number of a port with a path behind it.
    NotPort,
    /// The keyword stands apart: no letter, digit, dash or sign of arithmetic before it.
    Apart,
}

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
    /// What stands beside the value says so; source code has many such places with harmless values.
    Low,
    /// The shape itself says so.
    High,
}

impl Rule {
    const fn new(name: &'static str, what: &'static str, keywords: &'static [&'static str], shape: Shape) -> Self {
        Self {
            name,
            what,
            keywords,
            shape,
            checks: &[],
            reveal: Reveal::Ends,
            confidence: Confidence::High,
            reads: Reads::Argument,
            needs: None,
            hits: &[],
            misses: &[],
        }
    }

    /// A row for a token with a vendor's prefix.
    pub(crate) const fn token(
        name: &'static str,
        what: &'static str,
        prefixes: &'static [&'static str],
        rest: &'static str,
    ) -> Self {
        Self::new(name, what, prefixes, Shape::Token(rest))
    }

    /// A row for what follows a keyword.
    pub(crate) const fn from(
        name: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        reach: usize,
        pattern: &'static str,
    ) -> Self {
        Self::new(name, what, keywords, Shape::From { pattern, reach })
    }

    /// A row for a keyword that stands inside or behind the secret.
    pub(crate) const fn back(
        name: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        (class, fewest, most): (Class, usize, usize),
        reach: usize,
        pattern: &'static str,
    ) -> Self {
        Self::new(name, what, keywords, Shape::Back { pattern, class, run: (fewest, most), reach })
    }

    /// A row for an option of programs.
    pub(crate) const fn option(
        name: &'static str,
        what: &'static str,
        programs: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self::new(name, what, programs, Shape::Option(pattern)).chosen()
    }

    /// A row for arguments of programs.
    pub(crate) const fn command(
        name: &'static str,
        what: &'static str,
        programs: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self::new(name, what, programs, Shape::Command(pattern)).chosen()
    }

    /// A row for secrets that a reader of their own finds.
    pub(crate) const fn special(
        name: &'static str,
        what: &'static str,
        keywords: &'static [&'static str],
        shape: Shape,
    ) -> Self {
        Self::new(name, what, keywords, shape)
    }

    pub(crate) const fn checks(mut self, checks: &'static [Check]) -> Self {
        self.checks = checks;
        self
    }

    /// What people choose: keeps nothing, and counts for less in source code.
    pub(crate) const fn chosen(mut self) -> Self {
        self.reveal = Reveal::Nothing;
        self.confidence = Confidence::Low;
        self
    }

    pub(crate) const fn reads(mut self, reads: Reads) -> Self {
        self.reads = reads;
        self
    }

    pub(crate) const fn needs(mut self, byte: u8) -> Self {
        self.needs = Some(byte);
        self
    }

    pub(crate) const fn low(mut self) -> Self {
        self.confidence = Confidence::Low;
        self
    }

    pub(crate) const fn label(mut self, label: &'static str) -> Self {
        self.reveal = Reveal::Label(label);
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

    /// The pattern as it is written, if the rule has one.
    pub fn pattern(&self) -> Option<&'static str> {
        match self.shape {
            Shape::Token(pattern)
            | Shape::From { pattern, .. }
            | Shape::Back { pattern, .. }
            | Shape::Option(pattern)
            | Shape::Command(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// The pattern as it runs: anchored where it has to be, with the short forms written out.
    pub(crate) fn compile(&self) -> Option<Regex> {
        let pattern = self.pattern()?;
        match self.shape {
            Shape::Command(_) => compile(pattern),
            _ => compile(&format!(r"\A(?:{pattern})")),
        }
    }
}

/// Short forms in patterns, for signs of the normalised text: see `decoded.rs`.
const SHORT_FORMS: [(&str, &str); 8] = [
    // A quotation mark of any depth.
    ("{q}", r#"["'`\x11-\x14\x17\x19]"#),
    // The end of a line, also inside a string.
    ("{nl}", r"[\n\r\x0b\x0c]"),
    // A blank, also in a URL.
    ("{sp}", r"[ \t\x18]"),
    // Equals, also in a URL.
    ("{eq}", r"[=\x16]"),
    // Anything on the same line.
    ("{any}", r"[^\n\r\x0b\x0c]"),
    // The arguments of one command: anything before a pipe, a separator or the end of the line.
    ("{args}", r"[^\n\r\x0b\x0c|;&]"),
    // A character of an unquoted word.
    ("{bare}", r#"[^\s"'`\x11-\x19<>|;&()]"#),
    // A character of a credential as headers carry it.
    ("{t68}", r"[A-Za-z0-9._~+/=\x16-]"),
];

/// A pattern over bytes, without Unicode classes.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    let written = SHORT_FORMS.iter().fold(pattern.to_owned(), |text, (short, long)| text.replace(short, long));
    RegexBuilder::new(&written).unicode(false).build().ok()
}
