//! What hides a character: escapes, colours, entities, characters that nobody sees, and the byte that stands for each.

use memchr::memchr3;

/// `\"`: a quote inside a string.
pub(crate) const QUOTE_1: u8 = 0x11;
/// `\\\"`: a quote inside a string inside a string.
pub(crate) const QUOTE_2: u8 = 0x12;
/// The same one level deeper, and all below.
pub(crate) const QUOTE_3: u8 = 0x13;
/// `\'`.
pub(crate) const APOSTROPHE: u8 = 0x14;
/// `%26`.
pub(crate) const URL_AND: u8 = 0x15;
/// `%3D`.
pub(crate) const URL_EQUALS: u8 = 0x16;
/// `&quot;` and the quotation marks of printed text.
pub(crate) const CODED_QUOTE: u8 = 0x17;
/// `%20`, and the blank that a shell was told to keep.
pub(crate) const URL_BLANK: u8 = 0x18;
/// `%22`, `%27`.
pub(crate) const URL_QUOTE: u8 = 0x19;
/// `\n`: a line break inside a string, which ends lines but not the string. White space to patterns, too.
pub(crate) const BREAK_1: u8 = 0x0B;
/// The same one or more levels deeper.
pub(crate) const BREAK_2: u8 = 0x0C;

/// Whether a byte ends a line, in whatever string the line stands.
pub(crate) fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | BREAK_1 | BREAK_2)
}

/// Parameters of a colour or cursor sequence are shorter.
const LONGEST_SEQUENCE: usize = 24;

pub(crate) fn at_byte(raw: &[u8], index: usize) -> u8 {
    raw.get(index).copied().unwrap_or(0)
}

pub(crate) fn backslashes(raw: &[u8], from: usize) -> usize {
    raw.get(from..).unwrap_or_default().iter().take_while(|&&byte| byte == b'\\').count()
}

/// Where a disguise that begins at `at` ends, and the byte that stands for it, if any.
pub(crate) fn disguise(raw: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    let rest = raw.get(at..)?;
    let (length, plain) = match rest {
        [0x1b, ..] => (sequence(rest, 1)?, None),
        // As editors and `cat -v` show the escape character.
        [b'^', b'[', b'[', ..] => (sequence(rest, 2)?, None),
        [b'\\', ..] => return backslash_escape(raw, at),
        [b'%', ..] => percent(rest)?,
        [b'&', ..] => named_entity(rest)?,
        [0xC2, 0xA0, ..] => (2, Some(b' ')),
        [0xC2, 0xAB | 0xBB, ..] => (2, Some(CODED_QUOTE)),
        [0xC2, 0xAD, ..] => (2, None),
        [0xE2, 0x80, 0x82..=0x8A | 0xAF, ..] => (3, Some(b' ')),
        [0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE, ..] | [0xE2, 0x81, 0xA0..=0xAF, ..] | [0xEF, 0xBB, 0xBF, ..] => {
            (3, None)
        }
        [0xE2, 0x80, 0x98..=0x9F, ..] => (3, Some(CODED_QUOTE)),
        // The bars of drawn tables.
        [0xE2, 0x94, 0x82 | 0x83, ..] | [0xE2, 0x95, 0x91, ..] => (3, Some(b'|')),
        // Signs as wide as a Chinese character.
        [0xEF, 0xBC, wide @ 0x81..=0xBF, ..] => (3, Some(wide - 0x60)),
        [0xEF, 0xBD, wide @ 0x80..=0x9E, ..] => (3, Some(wide - 0x20)),
        _ => return None,
    };
    Some((at + length, plain))
}

/// Length of a terminal sequence whose escape character takes `start` bytes: colours, cursor moves, links.
fn sequence(rest: &[u8], start: usize) -> Option<usize> {
    match rest.get(start)? {
        b'[' => {
            let parameters = rest.get(start + 1..)?.iter().take(LONGEST_SEQUENCE);
            let length = parameters.take_while(|byte| matches!(byte, b'0'..=b'?' | b' '..=b'/')).count();
            let last = rest.get(start + 1 + length)?;
            last.is_ascii_alphabetic().then_some(start + length + 2)
        }
        b']' => {
            const LONGEST_LINK: usize = 512;
            let body = rest.get(start + 1..)?;
            let body = body.get(..LONGEST_LINK).unwrap_or(body);
            let end = memchr3(0x07, 0x1b, b'\n', body)?;
            match body.get(end..)? {
                [0x07, ..] => Some(start + end + 2),
                [0x1b, b'\\', ..] => Some(start + end + 3),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Escapes of JSON, of programming languages and of shells, however often they were escaped again.
fn backslash_escape(raw: &[u8], at: usize) -> Option<(usize, Option<u8>)> {
    let rest = raw.get(at..)?;
    let run = backslashes(raw, at);
    let end = at + run + 1;
    let after = rest.get(run..)?;
    let plain = match *after.first()? {
        // A backslash before a line break joins the lines; JSON writes three of them.
        b'n' if run % 2 == 1 && run > 1 => None,
        b'n' => Some(if run == 1 { BREAK_1 } else { BREAK_2 }),
        b'\n' if run == 1 => None,
        b'\r' if run == 1 && after.get(1) == Some(&b'\n') => return Some((end + 1, None)),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'/' => Some(b'/'),
        b' ' if run == 1 => Some(URL_BLANK),
        b'\'' => Some(APOSTROPHE),
        b'"' => return quote(at, run),
        b'u' | b'x' => {
            let (digits, code) = code_point(after)?;
            let length = run + 1 + digits;
            return match code {
                0x1b => Some((at + sequence(rest, length)?, None)),
                _ => Some((at + length, decoded(code)?)),
            };
        }
        b'0' if after.starts_with(b"033[") => return Some((at + sequence(rest, run + 3)?, None)),
        b'e' if after.starts_with(b"e[") => return Some((at + sequence(rest, run + 1)?, None)),
        _ => return None,
    };
    Some((end, plain))
}

/// Each level of strings doubles the backslashes of the level inside and adds one for the quote.
///
/// Undoing the levels leaves an even number of backslashes, which belong to what stands before the quote.
fn quote(at: usize, run: usize) -> Option<(usize, Option<u8>)> {
    let (mut level, mut left) = (0, run);
    while left % 2 == 1 {
        level += 1;
        left /= 2;
    }
    let byte = match level {
        0 => return None,
        1 => QUOTE_1,
        2 => QUOTE_2,
        _ => QUOTE_3,
    };
    Some((at + run + 1, Some(byte)))
}

/// The number after `u` (four digits) or `x` (two), and how many digits it has.
fn code_point(after: &[u8]) -> Option<(usize, u32)> {
    let digits = if after.first() == Some(&b'u') { 4 } else { 2 };
    let text = std::str::from_utf8(after.get(1..=digits)?).ok()?;
    let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((digits, u32::from_str_radix(text, 16).ok().filter(|_| plain)?))
}

/// The byte for a character that was written as a number. The outer option is empty for what is left as it is.
fn decoded(code: u32) -> Option<Option<u8>> {
    Some(match code {
        0x22 => Some(QUOTE_1),
        0x09 | 0x0A | 0x0D | 0x20..=0x7E => u8::try_from(code).ok(),
        0xA0 => Some(b' '),
        0xAD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFEFF => None,
        0x2018..=0x201F => Some(CODED_QUOTE),
        _ => return None,
    })
}

/// What structures a URL or a form; all else stays encoded, because it is part of a value.
fn percent(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    let mut digits = 1;
    // `%253D` was encoded twice.
    while digits < 7
        && rest.get(digits..digits + 2) == Some(b"25")
        && rest.get(digits + 2).is_some_and(u8::is_ascii_hexdigit)
    {
        digits += 2;
    }
    let plain = match rest.get(digits..digits + 2)? {
        b"3D" | b"3d" => URL_EQUALS,
        b"26" => URL_AND,
        b"22" | b"27" => URL_QUOTE,
        b"20" => URL_BLANK,
        b"3A" | b"3a" => b':',
        b"40" => b'@',
        b"2F" | b"2f" => b'/',
        b"3F" | b"3f" => b'?',
        b"5B" | b"5b" => b'[',
        b"5D" | b"5d" => b']',
        b"7B" | b"7b" => b'{',
        b"7D" | b"7d" => b'}',
        b"0A" | b"0a" | b"0D" | b"0d" => b'\n',
        other => {
            // Letters, digits and what else never needs to be encoded.
            let code = u8::from_str_radix(std::str::from_utf8(other).ok()?, 16).ok()?;
            let plain = code.is_ascii_alphanumeric() || matches!(code, b'_' | b'-' | b'.' | b'~' | b'+');
            plain.then_some(code)?
        }
    };
    Some((digits + 2, Some(plain)))
}

/// Entities of HTML and XML that stand for structure.
fn named_entity(rest: &[u8]) -> Option<(usize, Option<u8>)> {
    const ENTITIES: [(&[u8], u8); 19] = [
        (b"&equals;", b'='),
        (b"&colon;", b':'),
        (b"&amp;", b'&'),
        (b"&quot;", CODED_QUOTE),
        (b"&apos;", CODED_QUOTE),
        (b"&#34;", CODED_QUOTE),
        (b"&#39;", CODED_QUOTE),
        (b"&#x22;", CODED_QUOTE),
        (b"&#x27;", CODED_QUOTE),
        (b"&#61;", b'='),
        (b"&#x3D;", b'='),
        (b"&#58;", b':'),
        (b"&#x3A;", b':'),
        (b"&#38;", b'&'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&#60;", b'<'),
        (b"&#62;", b'>'),
        (b"&nbsp;", b' '),
    ];
    let (name, plain) = ENTITIES.iter().find(|(name, _)| rest.starts_with(name))?;
    Some((name.len(), Some(*plain)))
}
