//! Secrets that are known by the name beside them: assignments, fields, configuration, flags, parameters, headers.

use crate::redact::Mode;
use crate::redact::alphabet::{DASH, DOTTED, WORD};
use crate::redact::header;
use crate::redact::judge;
use crate::redact::key::{self, Kind, MAX_KEY};
use crate::redact::mask::EARLIEST;
use crate::redact::rules::Rule;
use crate::redact::scan::{Scan, mixes_letters_and_digits};
use crate::redact::value::{Quote, Quoting, Value};
use crate::redact::verdict;

/// A name and the notation that binds it to its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'t> {
    pub(crate) key: &'t [u8],
    pub(crate) kind: Kind,
    pub(crate) carrier: Carrier,
    /// `user, password = …` takes a tuple apart.
    pub(crate) follows_comma: bool,
}

/// How a name is bound to a value. What counts as a value differs: code binds names to names, an environment does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// `"name": …`, a field of JSON or of a literal.
    Field,
    /// `name: …`, YAML, a header or prose.
    Colon,
    /// `name=…` without blanks: environment, properties, logs, forms.
    Assignment,
    /// `name = …` or `name := …`: configuration or code.
    Statement,
    /// `?name=…` or `&name=…`.
    Parameter,
    /// `--name …`.
    Flag,
    /// `<name>…</name>`.
    Element,
    /// `"name", "…"`: a header or a variable that is set by a call.
    Call,
}

/// Called at a word that names secrets. Reads the whole name, what binds it, and the value.
pub(crate) fn find(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let name_end = scan.run(at, &DASH, MAX_KEY);
    // Other words of the same name lead to the same place; tokens cannot begin inside a word.
    let word = scan.slice(at, name_end);
    let resume = Some((at + word.iter().position(|&byte| byte == b'-').unwrap_or(word.len())).max(at + 1));
    let Some(binding) = Binding::read(scan, name_end).filter(|binding| is_worth_reading(scan, binding.value)) else {
        return resume;
    };
    if binding.mark == Mark::Colon && !binding.quoted && !is_header(word) && is_running_text(scan, binding.value) {
        return resume;
    }
    let start = name_start(scan, at);
    let key = scan.slice(start, name_end);
    let Some(kind) = key::classify(key) else { return resume };
    let Some(carrier) = binding.carrier(scan, start, kind, key) else { return resume };
    let follows_comma = scan.before(start) == b' ' && scan.before(start.saturating_sub(1)) == b',';
    let pair = Pair { key, kind, carrier, follows_comma };
    read_value(scan, rule, &pair, binding.value).or(resume)
}

/// A look at the first byte and the length spares the work on most of what is no value: nothing, a variable, a
/// placeholder.
fn is_worth_reading(scan: &Scan<'_>, start: usize) -> bool {
    if matches!(
        scan.at(start),
        0..=b' ' | b'$' | b'<' | b'{' | b'(' | b'&' | b'|' | b')' | b'}' | b']' | b',' | b';' | b'*'
    ) {
        return false;
    }
    let value = Value::read(scan, start);
    // What is generated has digits; in source code nothing else counts.
    if scan.mode == Mode::Code && !value.judged(scan).iter().any(u8::is_ascii_digit) && scan.at(value.end) != b';' {
        return false;
    }
    // A short value before a semicolon may be the first of several cookies; one after a bracket is in a list.
    value.end - value.start >= EARLIEST || matches!(scan.at(value.end), b';') || scan.at(start) == b'['
}

/// Whether a name ends with the one of a header, whose value goes on after its first word.
fn is_header(name: &[u8]) -> bool {
    let letters = name.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    let ends_with = |word: &str| {
        letters.checked_sub(word.len()).is_some_and(|start| {
            name.get(start..letters).is_some_and(|ending| ending.eq_ignore_ascii_case(word.as_bytes()))
        })
    };
    ends_with("authorization") || ends_with("cookie")
}

/// Whether a bare word after a colon is no value, whatever its name: text goes on after it, and it is not generated.
/// What a name means takes longer to tell.
fn is_running_text(scan: &Scan<'_>, start: usize) -> bool {
    let value = Value::read(scan, start);
    let bytes = value.judged(scan);
    let is_joined = mixes_letters_and_digits(bytes) && value.precedes_setting(scan);
    value.quoting == Quoting::Bare
        && !value.ends_line(scan)
        && !judge::is_random(bytes)
        && !is_joined
        && !judge::is_masked(bytes)
        && scan.at(scan.skip_blanks(value.end)) != b'='
}

fn read_value(scan: &mut Scan<'_>, rule: &'static Rule, pair: &Pair<'_>, from: usize) -> Option<usize> {
    match pair.kind {
        Kind::Authorization => return header::authorization(scan, rule, pair, from),
        Kind::Cookie => return header::cookies(scan, rule, pair, from),
        _ => {}
    }
    let value = Value::read(scan, from);
    let bytes = value.judged(scan);
    if judge::is_masked(bytes) {
        return Some(scan.pass(value.end));
    }
    if verdict::is_secret(scan, pair, &value) {
        let value = header::without_scheme(scan, value);
        scan.report(rule, value.start, value.end);
        return Some(value.end);
    }
    let typed = typed_default(scan, pair, &value)?;
    if judge::is_masked(typed.judged(scan)) {
        return Some(scan.pass(typed.end));
    }
    verdict::is_secret(scan, &Pair { carrier: Carrier::Statement, ..*pair }, &typed).then(|| {
        scan.report(rule, typed.start, typed.end);
        typed.end
    })
}

/// `name: Type = "value"`: the value stands behind the type.
fn typed_default(scan: &Scan<'_>, pair: &Pair<'_>, type_name: &Value) -> Option<Value> {
    /// Type names are short.
    const MAX_TYPE: usize = 40;
    if pair.carrier != Carrier::Colon || type_name.end - type_name.start > MAX_TYPE {
        return None;
    }
    let equals = scan.skip_blanks(type_name.end);
    if scan.at(equals) != b'=' {
        return None;
    }
    let value = Value::read(scan, scan.skip_blanks(equals + 1));
    (value.quoting == Quoting::Quoted).then_some(value)
}

/// Start of the name that has `at` inside. A dotted path belongs to it, an escape sequence before it does not.
fn name_start(scan: &Scan<'_>, at: usize) -> usize {
    let mut start = scan.run_back(at, &DOTTED, MAX_KEY - 1);
    while start < at {
        let first_word_end = scan.run(start, &WORD, MAX_KEY);
        // `\nNAME`, `%26NAME` and `\u0026NAME` begin with letters that are not part of the name.
        let escape = (1..=4).find(|&length| start + length <= at && scan.escape_before(start + length) > length);
        match escape {
            Some(length) if first_word_end >= start + length => start += length,
            _ => break,
        }
    }
    while matches!(scan.at(start), b'-' | b'.') && start < at {
        start += 1;
    }
    start
}

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy)]
struct Binding {
    mark: Mark,
    quoted: bool,
    spaced: bool,
    value: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Equals,
    Colon,
    Comma,
    Blank,
    Angle,
    /// `"name": "NAME", "value": …`, as lists of variables are written.
    ValueField,
}

impl Binding {
    fn read(scan: &Scan<'_>, name_end: usize) -> Option<Self> {
        let quote = Quote::read(scan, name_end);
        let mut after = quote.map_or(name_end, |(_, end)| end);
        if quote.is_some() && scan.at(after) == b']' {
            after += 1;
        }
        let sign = scan.skip_blanks(after);
        let (mark, length) = match (scan.at(sign), scan.at(sign + 1)) {
            (b'=', b'=') if scan.at(sign + 2) == b'=' => (Mark::Equals, 3),
            (b'=', b'=' | b'>') | (b':', b'=') => (Mark::Equals, 2),
            (b'=', _) => (Mark::Equals, 1),
            (b':', b':') => return None,
            (b':', _) => (Mark::Colon, 1),
            (b'>', _) if sign == name_end => (Mark::Angle, 1),
            (b',', _) if quote.is_some() => match value_field(scan, sign + 1) {
                Some((value, quoted)) => return Some(Self { mark: Mark::ValueField, quoted, spaced: false, value }),
                None => (Mark::Comma, 1),
            },
            (b'\n' | b'\r', _) => {
                let (value, quoted) = value_field(scan, sign)?;
                return Some(Self { mark: Mark::ValueField, quoted, spaced: false, value });
            }
            _ if quote.is_none() && sign > name_end => (Mark::Blank, 0),
            _ => return None,
        };
        let value = scan.skip_blanks(sign + length);
        // `name := …` is a statement even without blanks.
        let spaced = sign > after || value > sign + length || length > 1 || scan.at(sign) == b':';
        Some(Self { mark, quoted: quote.is_some(), spaced, value })
    }

    fn carrier(self, scan: &Scan<'_>, start: usize, kind: Kind, key: &[u8]) -> Option<Carrier> {
        let before = scan.before(start);
        let in_query = matches!(before, b'?' | b'&' | b'#') || scan.escape_before(start) > 2 || is_entity(scan, start);
        match self.mark {
            Mark::Equals if self.quoted => Some(Carrier::Field),
            Mark::Equals if self.spaced => Some(Carrier::Statement),
            Mark::Equals if in_query => Some(Carrier::Parameter),
            Mark::Equals => Some(Carrier::Assignment),
            Mark::Colon | Mark::ValueField if self.quoted => Some(Carrier::Field),
            Mark::Colon | Mark::ValueField => Some(Carrier::Colon),
            Mark::Comma => {
                let header = key.contains(&b'-') || matches!(kind, Kind::Authorization | Kind::Cookie);
                (header || is_upper(key)).then_some(Carrier::Call)
            }
            Mark::Blank => (before == b'-' && scan.before(start - 1) == b'-').then_some(Carrier::Flag),
            Mark::Angle => (before == b'<').then_some(Carrier::Element),
        }
    }
}

/// `&amp;name=`, as URLs are written in markup.
fn is_entity(scan: &Scan<'_>, start: usize) -> bool {
    start >= 5 && scan.starts_with(start - 5, "&amp;")
}

pub(crate) fn is_upper(key: &[u8]) -> bool {
    key.iter().any(u8::is_ascii_uppercase) && !key.iter().any(u8::is_ascii_lowercase)
}

/// Start of the value if a `value` field follows, on this line or the next, and whether that name is in quotes.
fn value_field(scan: &Scan<'_>, from: usize) -> Option<(usize, bool)> {
    /// A line break and its indentation.
    const MAX_GAP: usize = 80;
    let gap = scan.slice(from, from + MAX_GAP);
    let field = from + gap.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let (opening, name) = Quote::read(scan, field).map_or((None, field), |(quote, end)| (Some(quote), end));
    if !scan.starts_with_any_case(name, "value") {
        return None;
    }
    let name_end = name + "value".len();
    let name_end = match opening {
        Some(quote) => Quote::read(scan, name_end).filter(|&(closing, _)| closing == quote)?.1,
        None => name_end,
    };
    let colon = scan.skip_blanks(name_end);
    (scan.at(colon) == b':').then(|| (scan.skip_blanks(colon + 1), opening.is_some()))
}
