//! The text under the cursor: what every matcher reads from and reports to.

use std::cell::Cell;

use crate::redact::alphabet::{ALNUM, Alphabet, DASH, WORD};
use crate::redact::mask;
use crate::redact::rules::Rule;
use crate::redact::{Finding, Mode};

pub(crate) struct Scan<'t> {
    bytes: &'t [u8],
    pub(crate) mode: Mode,
    findings: Vec<Finding>,
    /// End of the last finding, or of the last masked secret that was passed over.
    floor: Cell<usize>,
    /// The last bare value that was measured.
    pub(crate) bare_run: Cell<Run>,
    /// Bytes that were looked at; tests hold it against the length of the text.
    #[cfg(test)]
    pub(crate) work: Cell<usize>,
}

/// A stretch of text whose end is known for every start inside it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Run {
    pub(crate) fn contains(self, index: usize) -> bool {
        (self.start..self.end).contains(&index)
    }
}

/// How far a look-back for an escape sequence goes: `\u001b[38;5;196m` is the longest usual one.
const MAX_ESCAPE: usize = 18;

impl<'t> Scan<'t> {
    pub(crate) fn new(bytes: &'t [u8], mode: Mode) -> Self {
        Self {
            bytes,
            mode,
            findings: Vec::new(),
            floor: Cell::default(),
            bare_run: Cell::default(),
            #[cfg(test)]
            work: Cell::default(),
        }
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Records that so many bytes were looked at.
    #[inline]
    fn spend(&self, _bytes: usize) {
        #[cfg(test)]
        self.work.set(self.work.get() + _bytes);
    }

    /// The byte at `index`; NUL beyond the end, which no alphabet contains.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> u8 {
        self.spend(1);
        self.bytes.get(index).copied().unwrap_or(0)
    }

    /// The byte before `index`; NUL at the start of the text.
    #[inline]
    pub(crate) fn before(&self, index: usize) -> u8 {
        index.checked_sub(1).map_or(0, |previous| self.at(previous))
    }
    #[inline]
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.bytes.get(start..end.min(self.bytes.len())).unwrap_or_default()
    }
    #[inline]
    pub(crate) fn starts_with(&self, at: usize, word: &str) -> bool {
        self.slice(at, at + word.len()) == word.as_bytes()
    }

    pub(crate) fn starts_with_any_case(&self, at: usize, word: &str) -> bool {
        self.slice(at, at + word.len()).eq_ignore_ascii_case(word.as_bytes())
    }

    /// End of the run of `alphabet` that starts at `from`, at most `limit` bytes long.
    ///
    /// A line of dashes is no part of a run: it belongs to a key in PEM armour, whose mask takes the dashes away.
    #[inline]
    pub(crate) fn run(&self, from: usize, alphabet: &Alphabet, limit: usize) -> usize {
        const LINE: &[u8] = b"-----";
        let limit = from.saturating_add(limit);
        let window = self.slice(from, limit.saturating_add(LINE.len()));
        let run = window
            .iter()
            .position(|&byte| !alphabet.has(byte))
            .map_or(window, |length| self.slice(from, from + length));
        self.spend(run.len() + 1);
        let dashes = if alphabet.has(b'-') { run.iter().position(|&byte| byte == b'-') } else { None };
        let line = dashes.and_then(|dash| Some(dash + memchr::memmem::find(run.get(dash..)?, LINE)?));
        (from + line.unwrap_or(run.len())).min(limit)
    }

    /// Start of the run of `alphabet` that ends before `end`, at most `limit` bytes long.
    pub(crate) fn run_back(&self, end: usize, alphabet: &Alphabet, limit: usize) -> usize {
        let floor = end.saturating_sub(limit).max(self.floor());
        let window = self.slice(floor, end);
        let start = window.iter().rposition(|&byte| !alphabet.has(byte)).map_or(floor, |i| floor + i + 1);
        self.spend(end.saturating_sub(start) + 1);
        start
    }

    /// Past blanks on the same line. Formats align values, but not by more than a screen's width.
    pub(crate) fn skip_blanks(&self, from: usize) -> usize {
        const MAX_BLANKS: usize = 80;
        let window = self.slice(from, from + MAX_BLANKS);
        from + window.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(window.len())
    }

    /// No look-back goes before this: what is masked, or will be, says nothing about what follows.
    #[inline]
    pub(crate) fn floor(&self) -> usize {
        self.floor.get()
    }

    /// Passes over a masked secret. Later matchers see the same as when it was found.
    pub(crate) fn pass(&self, end: usize) -> usize {
        self.floor.set(end);
        end
    }

    pub(crate) fn report(&mut self, rule: &'static Rule, start: usize, end: usize) {
        if start < end && start >= self.floor() {
            self.floor.set(end);
            self.findings.push(Finding { rule: rule.name, start, end, reveal: rule.reveal });
        }
    }

    /// Whether a token may begin at `at`: nothing that could belong to it stands before.
    ///
    /// A dash before it counts too, or a token could begin inside another one.
    ///
    /// The last letter of an escape sequence (`\n`, `%3D`, `\u0026`, a terminal colour) is no part of a word, although
    /// it looks like one in a string inside JSON.
    pub(crate) fn starts_token(&self, at: usize, alphabet: &Alphabet) -> bool {
        let previous = self.masked_before(at);
        !(DASH.has(previous) || alphabet.has(previous)) || self.escape_before(at) > 0
    }

    /// The byte before `at` as it will be when the findings so far are masked.
    fn masked_before(&self, at: usize) -> u8 {
        match self.findings.last() {
            Some(last) if last.end == at => {
                mask::replacement(last.reveal, self.slice(last.start, last.end)).bytes().next_back().unwrap_or(0)
            }
            _ => self.before(at),
        }
    }

    /// Length of the escape sequence that ends right before `at`, or 0.
    pub(crate) fn escape_before(&self, at: usize) -> usize {
        let window = self.slice(at.saturating_sub(MAX_ESCAPE), at);
        let back = |n: usize| window.len().checked_sub(n).and_then(|i| window.get(i)).copied().unwrap_or(0);
        let hex = |n: usize| back(n).is_ascii_hexdigit();
        if back(2) == b'\\' && matches!(back(1), b'n' | b'r' | b't') {
            return 2;
        }
        if back(3) == b'%' && hex(1) && hex(2) {
            return 3;
        }
        if back(6) == b'\\' && back(5) == b'u' && (1..=4).all(hex) {
            return 6;
        }
        if back(1) == b'm' {
            return colour_length(window);
        }
        0
    }

    /// Whether the run of a token ends at `end`: no letter, digit or underscore follows.
    pub(crate) fn ends_token(&self, end: usize) -> bool {
        !WORD.has(self.at(end))
    }
}

/// Length of a terminal colour sequence (`ESC[…m`, with ESC raw or spelled out) at the end of `window`, or 0.
fn colour_length(window: &[u8]) -> usize {
    let Some(bracket) = window.iter().rposition(|&byte| byte == b'[') else { return 0 };
    let parameters = window.get(bracket + 1..window.len() - 1).unwrap_or_default();
    let head = window.get(..bracket).unwrap_or_default();
    let escaped =
        [&b"\x1b"[..], b"\\x1b", b"\\u001b", b"\\033", b"\\e"].into_iter().find(|escape| head.ends_with(escape));
    match escaped {
        Some(escape) if parameters.iter().all(|&byte| byte.is_ascii_digit() || byte == b';') => {
            window.len() - bracket + escape.len()
        }
        _ => 0,
    }
}

/// Whether `bytes` holds at least one digit and one letter.
pub(crate) fn mixes_letters_and_digits(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic)
}

/// Length of the longest stretch of letters and digits, looking at no more than `limit` bytes.
pub(crate) fn longest_stretch(bytes: &[u8], limit: usize) -> usize {
    let window = bytes.get(..limit).unwrap_or(bytes);
    window.split(|&byte| !ALNUM.has(byte)).map(<[u8]>::len).max().unwrap_or(0)
}
