//! Authorization and cookie headers: the value has a structure of its own.

use crate::redact::Mode;
use crate::redact::alphabet::{DASH, TOKEN68};
use crate::redact::judge;
use crate::redact::pair::{Carrier, Pair};
use crate::redact::rules::Rule;
use crate::redact::scan::{Scan, mixes_letters_and_digits};
use crate::redact::value::{Quote, Quoting, Value};

/// Schemes that one opaque credential follows.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "negotiate",
    "ntlm",
    "apikey",
    "api-key",
    "key",
    "bot",
    "ssws",
    "geniekey",
    "splunk",
    "jwt",
    "oauth",
    "dpop",
    "private-token",
    "gitlab-ci-token",
    "snowflake",
];

/// Attributes of `Set-Cookie`, which are no secrets.
const COOKIE_ATTRIBUTES: &[&str] =
    &["path", "domain", "expires", "max-age", "samesite", "priority", "version", "secure", "httponly"];

/// Cookies that keep a choice and not an identity have short values.
const SHORT_COOKIE: usize = 6;
/// More cookies than browsers send.
const MAX_COOKIES: usize = 64;

/// The credential after `Authorization:`; the scheme before it stays.
pub(crate) fn authorization(scan: &mut Scan<'_>, rule: &'static Rule, pair: &Pair<'_>, from: usize) -> Option<usize> {
    let value = Value::read(scan, skip_list(scan, pair, from));
    if pair.carrier == Carrier::Call && value.quoting == Quoting::Bare {
        return None;
    }
    let credential = after_scheme(scan, value);
    let known_scheme = credential.start > value.start;
    if !known_scheme && !credential.judged(scan).iter().any(u8::is_ascii_digit) {
        return None;
    }
    let bytes = scan.slice(credential.start, scan.run(credential.start, &TOKEN68, judge::JUDGED).min(credential.end));
    let judged = Value { end: credential.start + bytes.len(), ..credential };
    if judge::is_masked(bytes) {
        return Some(scan.pass(judged.end));
    }
    let shaped = match scan.mode {
        Mode::Code => {
            bytes.len() >= 16 && mixes_letters_and_digits(bytes) && judge::is_random(bytes) && !judge::is_fixture(bytes)
        }
        Mode::Text if known_scheme => mixes_letters_and_digits(bytes) || judged.ends_line(scan),
        Mode::Text => bytes.len() >= 8 && mixes_letters_and_digits(bytes) && !judge::is_wordy(bytes),
    };
    let possible = || judge::is_long_enough(bytes) && !judge::is_placeholder(bytes) && !judge::is_expression(bytes);
    let accepted = shaped && is_bounded(scan, judged.end) && possible();
    accepted.then(|| {
        let end = scan.run(credential.start, &TOKEN68, credential.end - credential.start);
        scan.report(rule, credential.start, end);
        end
    })
}

/// What follows a credential is punctuation or a blank, not the rest of an expression or a mask.
fn is_bounded(scan: &Scan<'_>, end: usize) -> bool {
    !matches!(scan.at(end), b'(' | b'{' | b'$' | b'<' | b'[' | b'%' | b'*')
}

/// `Bearer` and a credential, wherever they stand.
pub(crate) fn bearer(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    /// Words that follow "bearer" in prose are shorter.
    const SHORTEST: usize = 16;
    if !scan.starts_token(at, &DASH) {
        return None;
    }
    let start = at + "bearer ".len();
    let mut end = scan.run(start, &TOKEN68, usize::MAX - start);
    while end > start && matches!(scan.before(end), b'.' | b'-') {
        end -= 1;
    }
    let bytes = scan.slice(start, end);
    if judge::is_masked(bytes) {
        return Some(scan.pass(end));
    }
    let fixture = || scan.mode == Mode::Code && (judge::is_fixture(bytes) || !judge::is_random(bytes));
    let accepted =
        bytes.len() >= SHORTEST && mixes_letters_and_digits(bytes) && !judge::is_placeholder(bytes) && !fixture();
    (accepted && is_bounded(scan, end)).then(|| {
        scan.report(rule, start, end);
        end
    })
}

/// A value that begins with a scheme keeps it, whatever its name is: `"token": "Bearer …"`.
pub(crate) fn without_scheme(scan: &Scan<'_>, value: Value) -> Value {
    match value.quoting {
        Quoting::Quoted => after_scheme(scan, value),
        Quoting::Bare => value,
    }
}

fn after_scheme(scan: &Scan<'_>, value: Value) -> Value {
    const LONGEST_SCHEME: usize = 24;
    let scheme_end = scan.run(value.start, &DASH, LONGEST_SCHEME);
    let scheme = scan.slice(value.start, scheme_end);
    let start = scan.skip_blanks(scheme_end);
    let known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
    if !known || start == scheme_end {
        return value;
    }
    match value.quoting {
        Quoting::Quoted => Value { start: start.min(value.end), ..value },
        Quoting::Bare => Value { start, end: crate::redact::value::bare_end(scan, start), ..value },
    }
}

/// The values of `Cookie:` and `Set-Cookie:`; names and attributes stay.
pub(crate) fn cookies(scan: &mut Scan<'_>, rule: &'static Rule, pair: &Pair<'_>, from: usize) -> Option<usize> {
    let bound = matches!(pair.carrier, Carrier::Colon | Carrier::Field | Carrier::Call);
    let from = skip_list(scan, pair, from);
    if !bound {
        return None;
    }
    let mut next = Quote::read(scan, from).map_or(from, |(_, start)| start);
    let mut resume = None;
    for _ in 0..MAX_COOKIES {
        let name_end = scan.run(next, &crate::redact::alphabet::DOTTED, crate::redact::key::MAX_KEY);
        if name_end == next {
            break;
        }
        let name = scan.slice(next, name_end);
        let mut end = name_end;
        if scan.at(name_end) == b'=' {
            end = cookie_end(scan, name_end + 1);
            let value = scan.slice(name_end + 1, end);
            if judge::is_masked(value) {
                scan.pass(end);
            } else if is_secret_cookie(scan, name, value) {
                scan.report(rule, name_end + 1, end);
            }
            resume = Some(end);
        }
        if scan.at(end) != b';' {
            break;
        }
        next = scan.skip_blanks(end + 1);
    }
    resume
}

fn cookie_end(scan: &Scan<'_>, from: usize) -> usize {
    let mut end = from;
    while !matches!(
        scan.at(end),
        0..=b' ' | b';' | b',' | b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>' | b'{' | b'}' | b'$' | 0x7f
    ) {
        end += 1;
    }
    end
}

fn is_secret_cookie(scan: &Scan<'_>, name: &[u8], value: &[u8]) -> bool {
    let attribute = COOKIE_ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    let plausible = value.len() >= SHORT_COOKIE && !judge::is_placeholder(value);
    let identity = mixes_letters_and_digits(value) || value.len() >= 16;
    let generated = scan.mode == Mode::Text || (judge::is_random(value) && !judge::is_fixture(value));
    !attribute && plausible && identity && generated
}

/// Libraries show headers as lists: `"set-cookie": ["…"]`.
fn skip_list(scan: &Scan<'_>, pair: &Pair<'_>, from: usize) -> usize {
    let list = scan.at(from) == b'[' && matches!(pair.carrier, Carrier::Field | Carrier::Colon);
    if list { scan.skip_blanks(from + 1) } else { from }
}
