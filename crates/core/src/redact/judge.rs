//! Decides from a value alone whether it can be a secret: masked values, placeholders, types and expressions cannot.
//!
//! Judgement reads at most [`JUDGED`] bytes, so that rejecting a value costs the same however long it is.

use crate::redact::alphabet::{ALNUM, TOKEN68};
use crate::redact::mask::{EARLIEST, KEPT_END, KEPT_START};
use crate::redact::scan::{Scan, mixes_letters_and_digits};
use crate::redact::vocabulary::{FIXTURE_WORDS, GIVEAWAYS, STAND_INS, TELLING};
use crate::redact::words::Word;

/// Judgement is given this much of a value: what it reads, and enough more to see a mask that begins there.
pub(crate) const JUDGED: usize = WINDOW + 16;
/// Enough to see what a value is; the rest of a long one tells nothing else.
const WINDOW: usize = 48;

/// Beginnings of a reference to a value that is kept elsewhere, besides signs that no value begins with.
const REFERENCES: &[&str] = &[
    "&lt;",
    "\\u003c",
    "%(",
    "@/",
    "@-",
    "op://",
    "vault:",
    "secret://",
    "arn:",
    "-----begin",
    "env:",
    "env.",
    "env(",
    "os.",
    "process.",
    "secrets.",
    "file:",
    "enc[",
    "!ref",
    "!vault",
    "!sub",
    "ref+",
];

/// Whether the text is what [`crate::redact::mask`] writes.
pub(crate) fn is_masked(value: &[u8]) -> bool {
    value == b"***" || (value.len() == MASKED && masked_ends(value))
}

const MASKED: usize = KEPT_START + 3 + KEPT_END;

fn masked_ends(value: &[u8]) -> bool {
    let dots = value.get(KEPT_START..KEPT_START + 3) == Some(b"...");
    dots && value.iter().all(|&byte| TOKEN68.has(byte))
}

/// Passes over a masked token that starts at `at`, so that its remains are not read as something else.
pub(crate) fn masked_at(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let end = at + MASKED;
    let token = scan.slice(at, end);
    (token.len() == MASKED && masked_ends(token) && scan.ends_token(end)).then(|| scan.pass(end))
}

/// The same for a token that ends at `end`.
pub(crate) fn masked_before(scan: &Scan<'_>, end: usize) -> Option<usize> {
    end.checked_sub(MASKED).and_then(|start| masked_at(scan, start))
}

/// Whether something inside was masked or left out already.
pub(crate) fn is_marked(value: &[u8]) -> bool {
    places(value).any(|rest| MARKS.iter().any(|mark| rest.starts_with(mark)))
}

/// What this program and others leave in the place of a secret.
const MARKS: [&[u8]; 4] = [b"...", b"***", "…".as_bytes(), b"[REDACTED"];

/// Signs of a template that is filled in later.
const HOLES: [&[u8]; 6] = [b"${", b"{{", b"$(", b"%s", b"%v", b"%d"];

/// The places where a mark or a hole can begin.
fn places(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let sign = |byte: u8| matches!(byte, b'.' | b'*' | b'[' | b'$' | b'{' | b'%' | 0xE2);
    value.iter().enumerate().filter(move |&(_, &byte)| sign(byte)).filter_map(|(index, _)| value.get(index..))
}

/// One character repeated, as people write to show the shape of a token.
pub(crate) fn is_filler(value: &[u8]) -> bool {
    let head = window(value);
    let Some(&first) = head.first() else { return true };
    matches!(first, b'x' | b'X' | b'*' | b'.' | b'-' | b'_' | b'0' | b'#' | b'?')
        && head.iter().all(|&byte| byte == first)
}

/// Whether the value stands for another one.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let head = window(value);
    is_filler(head)
        || places(value).any(|rest| MARKS.iter().chain(&HOLES).any(|mark| rest.starts_with(mark)))
        || is_reference(head)
        || has_format_hole(head)
        || (head.first() == Some(&b'%') && head.len() > 2 && head.last() == Some(&b'%'))
        || STAND_INS.has(Word::new(head))
        || (words(head).any(|word| word.len() > 3 && (is_filler(word) || GIVEAWAYS.has(Word::new(word))))
            && !is_random(head))
}

fn is_reference(head: &[u8]) -> bool {
    match head.first() {
        Some(b'$' | b'<' | b'{' | b'[' | b'(' | b'`' | b'*') => true,
        Some(first) => {
            let first = first.to_ascii_lowercase();
            REFERENCES
                .iter()
                .any(|start| start.as_bytes().first() == Some(&first) && starts_any_case(head, start.as_bytes()))
        }
        None => false,
    }
}

/// `{name}`, `{}` or `{0}` inside a value: a template that is filled in later.
fn has_format_hole(head: &[u8]) -> bool {
    let Some(open) = head.iter().position(|&byte| byte == b'{') else { return false };
    let inside = head.get(open + 1..).unwrap_or_default();
    inside.iter().position(|&byte| byte == b'}').and_then(|close| inside.get(..close)).is_some_and(|name| {
        name.iter().all(|&byte| ALNUM.has(byte) || matches!(byte, b'_' | b'.' | b':' | b'!' | b'$' | b'?'))
    })
}

/// Whether a value in source code is there for a test or as an illustration.
pub(crate) fn is_fixture(value: &[u8]) -> bool {
    words(window(value)).any(|word| FIXTURE_WORDS.has(Word::new(word)))
}

/// Whether an unquoted value is code that computes one: a call, an index, a path of names, a generic type.
pub(crate) fn is_expression(value: &[u8]) -> bool {
    let head = window(value);
    let head = head.strip_prefix(b"&").or_else(|| head.strip_prefix(b"!")).unwrap_or(head);
    let head = head.strip_prefix(b"*").unwrap_or(head);
    let mut names = 0;
    let mut rest = head;
    loop {
        let length = rest.iter().position(|&byte| !(ALNUM.has(byte) || byte == b'_')).unwrap_or(rest.len());
        let starts_like_a_name = rest.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_');
        if length == 0 || !starts_like_a_name {
            return false;
        }
        names += 1;
        let name = rest.get(..length).unwrap_or_default();
        rest = rest.get(length..).unwrap_or_default();
        match rest {
            [] => return names > 1 && !is_random(name),
            [b'(' | b'[' | b'{' | b'<', ..]
            | [b'?', b'.' | b'?', ..]
            | [b'|', ..]
            | [b'!', b'(' | b'.' | b'=' | b'[' | b'{', ..] => return true,
            [b'+' | b'*' | b'/' | b'-', ..] if names > 1 && !rest.starts_with(b"->") => return true,
            [b'.', tail @ ..] | [b':', b':', tail @ ..] | [b'-', b'>', tail @ ..] => rest = tail,
            _ => return false,
        }
    }
}

/// Whether the value is a place in a file system or on the web rather than a credential.
pub(crate) fn is_location(value: &[u8]) -> bool {
    let head = window(value);
    if !head.iter().any(|byte| matches!(byte, b'/' | b'\\' | b'@' | b':')) {
        return false;
    }
    let rooted =
        [&b"/"[..], b"./", b"../", b"~/", b"file:", b"http://", b"https://", b"C:\\", b"ssh://", b"unix:", b"git@"]
            .iter()
            .any(|start| head.starts_with(start));
    let slashes = head.iter().filter(|&&byte| byte == b'/').count();
    let extension =
        || head.iter().rposition(|&byte| byte == b'.').is_some_and(|dot| (2..=6).contains(&(head.len() - dot)));
    if rooted {
        return !is_random(head) || slashes > 2;
    }
    slashes > 0 && !is_random(head) && (extension() || slashes > 1 || !mixes_letters_and_digits(head))
}

/// Whether letters, capitals and digits alternate as they do in generated strings and not in words or names.
pub(crate) fn is_random(value: &[u8]) -> bool {
    /// Shorter strings alternate by chance.
    const SHORTEST: usize = 12;
    let head = window(value);
    if head.len() < SHORTEST {
        return false;
    }
    let mut verdict = false;
    let mut piece = Piece::default();
    // Base64 has slashes and plus signs, which divide it into pieces too short to tell.
    let mut joined = Piece::default();
    for &byte in head {
        let class = CLASSES[usize::from(byte)];
        if class == Class::Other {
            verdict |= std::mem::take(&mut piece).is_random();
            if !matches!(byte, b'+' | b'/' | b'=') {
                verdict |= std::mem::take(&mut joined).is_random_base64();
            }
        } else {
            piece.push(class);
            joined.push(class);
        }
    }
    verdict || joined.is_random_base64() || piece.is_random()
}

/// What was seen of a run of letters and digits.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    length: usize,
    digits: usize,
    /// Changes between letters and digits, or from a small letter to a capital. A capital before a small letter begins
    /// a word.
    changes: usize,
    last: Class,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Other,
    Digit,
    Small,
    Capital,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' => Class::Small,
            b'A'..=b'Z' => Class::Capital,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

impl Piece {
    fn push(&mut self, class: Class) {
        let begins_word = self.last == Class::Capital && class == Class::Small;
        self.changes += usize::from(self.length > 0 && self.last != class && !begins_word);
        self.digits += usize::from(class == Class::Digit);
        self.length += 1;
        self.last = class;
    }

    /// Longer than [`Self::is_random`] asks for, as a path of names has some changes too.
    fn is_random_base64(self) -> bool {
        self.length >= 30 && self.digits > 0 && self.changes * 5 >= self.length
    }

    /// A name changes class about once per word of five letters or more; a random string every two or three characters.
    fn is_random(self) -> bool {
        let mixed = self.length >= 8 && self.digits > 1 && self.digits < self.length;
        (mixed || self.length >= 20) && self.changes * 9 >= self.length * 2
    }
}

/// Whether the value is only words and numbers joined by separators: `my-secret-1`, `token_v2`, `sha256`.
pub(crate) fn is_wordy(value: &[u8]) -> bool {
    let head = window(value);
    let plain = head
        .iter()
        .all(|&byte| ALNUM.has(byte) || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b' ' | b'@' | b','));
    let mut pieces = head.split(|&byte| !ALNUM.has(byte));
    plain && !pieces.any(|word| word.len() >= 6 && mixes_letters_and_digits(word) && !is_versioned(word))
}

/// A word with a number at its end: `sha256`, `part2`.
fn is_versioned(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let digits = word.get(letters..).unwrap_or_default();
    letters >= 2 && digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a quoted text reads as a sentence or a label.
pub(crate) fn is_prose(value: &[u8]) -> bool {
    let head = window(value);
    head.contains(&b' ') && words(head).any(|word| TELLING.has(Word::new(word)))
}

/// The words of a window. One that reaches its end may be the beginning of a longer one and does not count.
fn words(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole =
        if head.len() < WINDOW { head.len() } else { head.iter().rposition(|&byte| !ALNUM.has(byte)).unwrap_or(0) };
    head.get(..whole).unwrap_or(head).split(|&byte| !ALNUM.has(byte)).filter(|word| !word.is_empty())
}

fn starts_any_case(value: &[u8], start: &[u8]) -> bool {
    value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn window(value: &[u8]) -> &[u8] {
    value.get(..WINDOW).unwrap_or(value)
}

/// Whether a value has the length of a credential that a person chose, at least.
pub(crate) fn is_long_enough(value: &[u8]) -> bool {
    value.len() >= EARLIEST
}
