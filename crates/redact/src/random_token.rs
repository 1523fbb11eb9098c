//! Tokens that neither a name nor a known form gives away: long strings that only a generator makes.
//!
//! There is no keyword to look for, so the text is read in strides of [`STRIDE`]: a run of at least [`SHORTEST`] characters
//! has [`LOOK`] of them at one of these places, and most places of a text have a blank or a sign.

use crate::disguise::is_break;
use crate::placeholder::is_documented;
use crate::rule::compile;
use crate::scan::Scan;
use crate::string_stats::{has_digit, is_random, is_uuid};
use crate::value::at;
use crate::words::words;
use crate::{Mode, rules};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Shorter strings are random by chance.
const SHORTEST: usize = 20;
/// What is longer is data.
const LONGEST: usize = 400;

/// Reports all such tokens that no other rule has found.
pub(crate) fn check(scan: &mut Scan<'_>) {
    if scan.mode == Mode::Code {
        return;
    }
    let Some(rule) = rules::random_token() else { return };
    let text = scan.text;
    scan.sort();
    let mut found = 0;
    let mut tokens = Vec::new();
    let mut floor = 0;
    let mut index = 0;
    while let Some(inside) = next_inside(text, index) {
        let before = text.get(floor..inside).unwrap_or_default();
        let start = inside - before.iter().rev().take_while(|byte| is_inside(**byte)).count();
        let after = text.get(inside + LOOK..).unwrap_or_default();
        let end = inside + LOOK + after.iter().position(|byte| !is_inside(*byte)).unwrap_or(after.len());
        if (SHORTEST..=LONGEST).contains(&(end - start)) && !scan.is_found(&mut found, start, end) {
            tokens.extend(token(scan, start, end));
        }
        floor = end;
        index = end + 1;
    }
    for (start, end) in tokens {
        scan.report(rule, start, end);
    }
}

/// Bytes that are looked at together.
const LOOK: usize = 8;
/// Every run of [`SHORTEST`] characters has a whole look in it.
const STRIDE: usize = SHORTEST - LOOK + 1;

/// The next place, in strides, where [`LOOK`] characters stand in a row that may be long enough.
#[inline]
fn next_inside(text: &[u8], from: usize) -> Option<usize> {
    /// A run of [`SHORTEST`] characters has so many more of them before a look or behind it.
    const MORE: usize = (SHORTEST - LOOK) / 2;
    let mut index = from;
    loop {
        let look = text.get(index..)?.first_chunk::<LOOK>()?;
        if !has_blank(*look) && all_inside(look) {
            let before = index.checked_sub(MORE).and_then(|before| text.get(before..)?.first_chunk::<LOOK>());
            let after = text.get(index + MORE..).and_then(|after| after.first_chunk::<LOOK>());
            if before.is_none_or(all_inside) | after.is_none_or(all_inside) {
                return Some(index);
            }
        }
        index += STRIDE;
    }
}

/// Whether all of some bytes are characters of tokens. Without a branch: where the first other one stands cannot be
/// foretold.
#[inline]
fn all_inside(look: &[u8; LOOK]) -> bool {
    look.iter().fold(true, |all, &byte| all & is_inside(byte))
}

/// Whether one of some bytes is a blank, a quote, a bracket or another sign below those of tokens: most words end here.
#[inline]
fn has_blank(look: [u8; LOOK]) -> bool {
    const EACH: u64 = u64::MAX / 255;
    const LEAST: u64 = b'+' as u64;
    let bytes = u64::from_le_bytes(look);
    // The highest bit of a byte that is too small is borrowed from; one of bytes beyond ASCII may stay.
    bytes.wrapping_sub(EACH * LEAST) & !bytes & (EACH << 7) != 0
}

#[inline]
fn is_inside(byte: u8) -> bool {
    const INSIDE: [bool; 256] = {
        let mut inside = [false; 256];
        let mut byte = 0;
        while byte < inside.len() {
            let sign = byte as u8;
            inside[byte] = sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'-' | b'+' | b'/');
            byte += 1;
        }
        inside
    };
    INSIDE[usize::from(byte)]
}

/// The place of a token, if a run is one.
fn token(scan: &Scan<'_>, start: usize, end: usize) -> Option<(usize, usize)> {
    let text = scan.text;
    let run = text.get(start..end)?;
    let (first, last) = dotted(text, start, end);
    if !has_digit(run) || is_uuid(run) || !stands_alone(text, first, last) {
        return None;
    }
    let announced = || is_announced(text, start) || is_named_behind(text, end);
    let secret = match Prefix::of(run) {
        _ if run.contains(&b'-') && is_license(run) => true,
        Prefix::Identifier => false,
        Prefix::Credential(length) => run.get(length..).is_some_and(is_random_body),
        Prefix::Other(length) => run.get(length..).is_some_and(|body| {
            is_random_string(body) || is_random_body(body) && (is_long_hex(run, body) || announced())
        }),
        Prefix::None => is_random_string(run) || is_random_body(run) && announced(),
    };
    let (start, end) = (first, last);
    let padding = text.get(end..).unwrap_or_default().iter().take(2).take_while(|&&byte| byte == b'=').count();
    let harmless = || {
        is_line_of_data(scan, start, end)
            || is_digest(text, start)
            || is_documented(run)
            || is_identifier(text, start)
            || is_resource(text, start)
    };
    (secret && !harmless()).then_some((start, end + padding))
}

/// A token with short parts before dots and signed ones behind them: `hcp.….…`.
fn dotted(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    const MOST_PARTS: usize = 2;
    const SHORT: usize = 8;
    const LONG: usize = 16;
    let (mut first, mut last) = (start, end);
    for _ in 0..MOST_PARTS {
        let before = text.get(..first).unwrap_or_default();
        let Some(before) = before.strip_suffix(b".") else { break };
        let part = before.iter().rev().take(SHORT + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if part == 0 || part > SHORT {
            break;
        }
        first -= part + 1;
    }
    for _ in 0..MOST_PARTS {
        let after = text.get(last..).unwrap_or_default();
        let Some(after) = after.strip_prefix(b".") else { break };
        let part = after.iter().take(LONGEST).take_while(|byte| is_inside(**byte)).count();
        if part < LONG {
            break;
        }
        last += part + 1;
    }
    (first, last)
}

/// Whether a run is not a part of something larger: a path of names, an address, an escape.
fn stands_alone(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map_or(b' ', |index| at(text, index));
    let after = at(text, end);
    let goes_on = after == b'.' && at(text, end + 1).is_ascii_alphanumeric();
    !matches!(before, b'.' | b'/' | b'%' | b'~' | b'@' | b'\\' | b'$' | b'&' | 0x80..)
        && !matches!(after, b'%' | b'~' | b'@' | b'(' | 0x80..)
        && !goes_on
}

/// What the first words of a token say.
enum Prefix {
    /// It has none.
    None,
    /// It is a credential: `acme_live_…`, `sk-…`. So many bytes belong to the prefix.
    Credential(usize),
    /// It is an identifier that programs show: `toolu_…`, `chatcmpl-…`, `price_…`.
    Identifier,
    /// It may be either.
    Other(usize),
}

impl Prefix {
    fn of(run: &[u8]) -> Self {
        words! {
            /// Vendors put one of these before the random part of a credential.
            MARKS = [
                "access", "ak", "apikey", "auth", "key", "live", "oat", "pat", "prod", "refresh", "rk", "sandbox", "sec",
                "secret", "signkey", "sk", "svc", "test", "tok", "token", "whsec",
            ]
        }
        words! {
            /// What providers of models and of payments call their objects.
            IDENTIFIERS = [
                "acct", "asst", "batch", "bs", "call", "card", "ch", "chatcmpl", "cmpl", "commit", "ctx", "cus", "deploy",
                "dpl", "evt", "fc", "file", "gen", "h1", "id", "in", "index", "item", "md5", "msg", "obj", "org", "part", "pi", "pm",
                "price", "proj", "py", "req", "request", "resp", "rev", "rs", "run", "sess", "session", "sha1", "sha256",
                "sha384", "sha512", "si", "step", "sub",
                "task", "team", "thread", "toolu", "trace", "tx", "txn", "user", "vs", "ws",
            ]
        }
        const MOST_WORDS: usize = 4;
        let (mut length, mut credential, mut identifier) = (0, false, false);
        for _ in 0..MOST_WORDS {
            let rest = run.get(length..).unwrap_or_default();
            let small = rest.first().is_some_and(u8::is_ascii_lowercase);
            let inside =
                |byte: &&u8| byte.is_ascii_digit() || byte.is_ascii_alphabetic() && byte.is_ascii_lowercase() == small;
            let letters = rest.iter().take_while(inside).count();
            let word = rest.get(..letters).unwrap_or_default();
            let named = (2..=10).contains(&letters) && word.first().is_some_and(u8::is_ascii_alphabetic);
            if !named || !matches!(rest.get(letters), Some(b'_' | b'-')) {
                break;
            }
            credential |= MARKS.has(word) || [&b"key"[..], b"token", b"secret"].iter().any(|end| word.ends_with(end));
            identifier |= IDENTIFIERS.has(word);
            // What a vendor calls public is no secret.
            if [&b"pk"[..], b"pub", b"public", b"anon", b"publishable"].contains(&word) {
                return Self::Identifier;
            }
            length += letters + 1;
        }
        match () {
            () if credential => Self::Credential(length),
            () if identifier => Self::Identifier,
            () if length > 0 => Self::Other(length),
            () => Self::None,
        }
    }
}

/// Behind the prefix of a credential stands one random piece, of any alphabet.
fn is_random_body(body: &[u8]) -> bool {
    const SHORTEST_BODY: usize = 20;
    body.len() >= SHORTEST_BODY && body.iter().filter(|byte| byte.is_ascii_digit()).count() >= 3 && is_random(body)
}

/// Whether a word shortly before, on the same line, says that a secret follows.
fn is_announced(text: &[u8], start: usize) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"(?i)(?:token|secret|passw|passphrase|api.?key|(?:private|access|signing|secret).key|credential|creds|bearer|authori[sz]|login)[^/\n\r\x0b\x0c]*\z",
        )
    });
    const REACH: usize = 40;
    let before = text.get(start.saturating_sub(REACH)..start).unwrap_or_default();
    // A page that follows has a token of its own.
    let page = before.windows(4).any(|word| word.eq_ignore_ascii_case(b"page"));
    // A mask is shorter than what it stands for; what it brings closer was too far away before.
    let masked = before.windows(3).any(|three| three == b"***" || three == b"...");
    !page && !masked && WORD.as_ref().is_some_and(|pattern| pattern.is_match(before))
}

/// A digest behind an underscore: build systems write theirs behind a dash.
fn is_long_hex(run: &[u8], body: &[u8]) -> bool {
    const DIGEST: usize = 32;
    let underscore = run.len().checked_sub(body.len() + 1).is_some_and(|place| at(run, place) == b'_');
    underscore && body.len() >= DIGEST && body.iter().all(u8::is_ascii_hexdigit)
}

/// Groups of capitals and digits, all of one length, as keys of licences are printed.
fn is_license(run: &[u8]) -> bool {
    const FEWEST: usize = 4;
    let mut groups = run.split(|&byte| byte == b'-').peekable();
    let length = groups.peek().map_or(0, |group| group.len());
    let plain = |group: &[u8]| group.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    (4..=6).contains(&length)
        && groups.clone().count() >= FEWEST
        && groups.all(|group| group.len() == length && plain(group))
        && digits >= 3
        && letters >= 6
}

/// Whether words behind a string say that it is a secret: "… is the API key", "… (token)".
fn is_named_behind(text: &[u8], end: usize) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"(?i)\A={0,2}{q}?[ ,:(]{1,3}(?:[a-z]{1,12} ){0,3}(?:api.?key|token|secret|password|credential|signing key|access key|key\b)",
        )
    });
    const REACH: usize = 48;
    let after = text.get(end..text.len().min(end + REACH)).unwrap_or_default();
    WORD.as_ref().is_some_and(|pattern| pattern.is_match(after))
}

/// Small letters, capitals and digits in the disorder that only a generator makes; or small letters and digits, if there
/// are many.
fn is_random_string(run: &[u8]) -> bool {
    /// Identifiers that programs show to people are shorter.
    const LEAST: usize = 24;
    /// A random string of that length has about twenty different signs.
    const FEWEST_SIGNS: u32 = 14;
    const LONG: usize = 40;
    let (mut small, mut capitals, mut digits, mut changes, mut beyond_hex) = (0, 0, 0, 0, 0);
    let mut distinct = 0_u128;
    let mut last = 0;
    for &byte in run {
        distinct |= 1 << (byte & 127);
        let class = match byte {
            b'a'..=b'z' => {
                small += 1;
                beyond_hex += usize::from(byte > b'f');
                b'a'
            }
            b'A'..=b'Z' => {
                capitals += 1;
                beyond_hex += usize::from(byte > b'F');
                b'A'
            }
            b'0'..=b'9' => {
                digits += 1;
                b'0'
            }
            _ => continue,
        };
        // A capital before a small letter begins a word.
        changes += usize::from(last != 0 && last != class && !(last == b'A' && class == b'a'));
        last = class;
    }
    let letters_and_digits = small + capitals + digits;
    let mixed = small >= 4 && capitals >= 4 && digits >= 2;
    let long = run.len() >= LONG && letters_and_digits + 2 >= run.len() && capitals == 0 && digits >= 6;
    let mangled = [&b"_Z"[..], b"_R", b"AAAA", b"MII"].iter().any(|start| run.starts_with(start));
    (mixed && run.len() >= LEAST || long)
        && beyond_hex >= 4
        && changes * 10 >= letters_and_digits * 3
        && distinct.count_ones() >= FEWEST_SIGNS
        && !mangled
        && !is_encoded_text(run)
}

/// Whether a run is text in base64, as vocabularies and the cursors of pages are.
fn is_encoded_text(run: &[u8]) -> bool {
    /// Fifteen bytes: a generated string looks like text so far in one of a million.
    const LOOK: usize = 20;
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    let mut bytes = [0; LOOK / 4 * 3];
    for (four, three) in run.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
        let bits = four.iter().fold(0_u32, |bits, &byte| bits << 6 | u32::from(digit(byte)));
        let [_, decoded @ ..] = bits.to_be_bytes();
        three.copy_from_slice(&decoded);
        if decoded.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
            return false;
        }
    }
    // The last character may be cut.
    std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none() && error.valid_up_to() > 0, |_| true)
}

/// Whether a run is a line among lines of its like: armour, and what programs print of binary data. A line that is masked
/// is none of them, or the text would be judged anew without it.
fn is_line_of_data(scan: &Scan<'_>, start: usize, end: usize) -> bool {
    let text = scan.text;
    /// Lines of data are as long as their program makes them, up to the last.
    const LONG: usize = 40;
    const WIDEST: usize = 100;
    let mark = |byte: &&u8| !is_break(**byte) && !byte.is_ascii_alphanumeric();
    let before = text.get(start.saturating_sub(WIDEST)..start).unwrap_or_default();
    let lead = before.iter().rev().take_while(mark).count();
    let trail = text.get(end..).unwrap_or_default().iter().take(WIDEST).take_while(mark).count();
    let edge = |index: Option<usize>| index.and_then(|index| text.get(index)).is_none_or(|&byte| is_break(byte));
    if !edge((start - lead).checked_sub(1)) || !edge(Some(end + trail)) {
        return false;
    }
    let is_run = |from: usize, line: &[u8]| {
        let lead = line.iter().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
        let run = line.iter().skip(lead).take_while(|byte| is_inside(**byte)).count();
        (run >= LONG && !scan.is_masked(from + lead, from + lead + run)) || line.starts_with(b"-----")
    };
    let from = start.saturating_sub(lead + WIDEST);
    let above = text.get(from..start - lead).unwrap_or_default().trim_ascii_end();
    let line = above.iter().rposition(|&byte| is_break(byte)).map_or(0, |last| last + 1);
    let behind = text.get(end + trail..text.len().min(end + trail + WIDEST)).unwrap_or_default();
    let below = behind.trim_ascii_start();
    is_run(from + line, above.get(line..).unwrap_or_default())
        || is_run(end + trail + behind.len() - below.len(), below)
}

/// Whether the name of a field says that its value is an identifier: `"jobId": "…"`. Those of sessions are secrets.
fn is_identifier(text: &[u8], start: usize) -> bool {
    const REACH: usize = 48;
    let before = text.get(start.saturating_sub(REACH)..start).unwrap_or_default();
    let sign = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_' && !is_break(*byte);
    let signs = before.iter().rev().take_while(|byte| sign(byte)).count();
    let (before, signs) = before.split_at(before.len() - signs);
    let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let name = before.get(before.len() - letters..).unwrap_or_default();
    let ends = [&b"Id"[..], b"ID", b"_id"].iter().any(|end| name.ends_with(end)) || name == b"id";
    let named = ends && !name.to_ascii_lowercase().starts_with(b"sess");
    named && signs.iter().any(|byte| matches!(byte, b':' | b'='))
}

/// Whether it is part of the name of a resource in a cloud: `arn:aws:…`.
pub(crate) fn is_resource(text: &[u8], start: usize) -> bool {
    const REACH: usize = 200;
    let before = text.get(start.saturating_sub(REACH)..start).unwrap_or_default();
    let inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'/' | b'-' | b'_' | b'.' | b'*');
    let length = before.iter().rev().take_while(inside).count();
    before.get(before.len() - length..).is_some_and(|word| word.starts_with(b"arn:"))
}

/// Whether the words before say that it is a digest, a signature or a public key.
fn is_digest(text: &[u8], start: usize) -> bool {
    static DIGEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r"(?i)sha\d|hash|h1:|integrity|digest|checksum|fingerprint|signature|x509|public|etag|cipher|base64,")
    });
    const REACH: usize = 28;
    let before = text.get(start.saturating_sub(REACH)..start).unwrap_or_default();
    DIGEST.as_ref().is_some_and(|pattern| pattern.is_match(before))
}
