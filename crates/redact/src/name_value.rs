//! Secrets that are known by the name beside them: assignments, fields, configuration, flags, parameters.

use crate::binding::{Binding, Notation};
use crate::disguise::{QUOTE_1, URL_AND, URL_EQUALS, is_break};
use crate::entries::{self, Extent};
use crate::gibberish::is_gibberish;
use crate::name::{LONGEST_NAME, NameKind};
use crate::named_value::is_secret;
use crate::rule::{Reveal, Rule};
use crate::scan::{Scan, is_word};
use crate::string_stats::StringStats;
use crate::value::{Quoting, Value, at, is_quote, skip_blanks};
use crate::words::{CREDENTIALS_ALONE, KEY_OWNERS, TOKEN_OWNERS};
use crate::{Mode, multiline, placeholder, table, wrapped};

/// A name and the notation that binds it to its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameValue<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) kind: NameKind,
    pub(crate) notation: Notation,
    /// Where the name begins.
    pub(crate) start: usize,
    /// Whether a call before it says that something is set: `set("name", …`.
    pub(crate) set: bool,
}

/// Called at a word that names secrets.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    if start < scan.named {
        return;
    }
    let found = scan.count();
    bound_value(scan, rule, start, end);
    if scan.count() == found && scan.mode == Mode::Text {
        string_nearby(scan, rule, start);
    }
}

/// A string further on in the line of a password that nothing binds it to: `fill("#password", "…")`. No language has it.
fn string_nearby(scan: &mut Scan<'_>, rule: &'static Rule, start: usize) {
    const REACH: usize = 72;
    const SHORTEST: usize = 6;
    const LONGEST: usize = 64;
    let text = scan.text;
    let line = text.get(scan.named..text.len().min(scan.named + REACH)).unwrap_or_default();
    let Some(first) = memchr::memchr2(b'"', b'\'', line) else { return };
    let stop = line.iter().position(|&byte| is_break(byte)).unwrap_or(line.len());
    let Some(line) = line.get(..stop).filter(|_| first < stop) else { return };
    let name = text.get(name_start(text, start, scan.floor(start))..scan.named).unwrap_or_default();
    if !scan.names.classify(name).is_some_and(|(kind, _)| kind == NameKind::Password) {
        return;
    }
    let mut from = 0;
    while let Some(offset) = memchr::memchr2(b'"', b'\'', line.get(from..).unwrap_or_default()) {
        let value = Value::quoted_within(text, scan.named + from + offset, LONGEST + 1);
        let bytes = value.of(text);
        if (SHORTEST..=LONGEST).contains(&bytes.len()) && is_gibberish(bytes) && !placeholder::is_placeholder(bytes) {
            return scan.report(rule, value.start, value.end);
        }
        from += offset + 1;
    }
}

/// Reads the whole name, what binds it, and the value.
fn bound_value(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    let text = scan.text;
    // Some keywords have the sign in them that binds the name.
    let signs = text
        .get(start..end)
        .unwrap_or_default()
        .iter()
        .rev()
        .take_while(|&&byte| byte < 0x80 && !byte.is_ascii_alphanumeric())
        .count();
    let end = name_end(text, end - signs);
    scan.named = end;
    if !may_bind(text, end) {
        return table::check(scan, rule, start, end);
    }
    let start = name_start(text, start, scan.floor(start));
    let inside = scan.rejected.0 <= start && start < scan.rejected.1;
    if inside && !matches!(at(text, start - 1), b'?' | b'&' | b';' | b',' | b'{' | URL_AND | b'"' | b'\'') {
        return;
    }
    let Some(name) = text.get(start..end) else { return };
    let Some((mut kind, named)) = scan.names.classify(name) else { return };
    if kind == NameKind::Parameter
        && name.eq_ignore_ascii_case(b"key")
        && parent(text, start).is_some_and(|owner| KEY_OWNERS.has(owner) || CREDENTIALS_ALONE.has(owner))
    {
        kind = NameKind::Credential;
    }
    let Some(binding) = Binding::read(text, start, end) else { return table::check(scan, rule, start, end) };
    if binding.notation == Notation::Cell && table::is_heading(text, end) {
        return table::check(scan, rule, start, end);
    }
    // The user before a password in a URL may be called after it: `https://token:…@host`.
    if binding.notation == Notation::Colon && text.get(..start).is_some_and(|before| before.ends_with(b"://")) {
        return;
    }
    let rule = named.unwrap_or(rule);
    let set = binding.notation == Notation::Call && is_setter(text, start);
    let pair = NameValue { name, kind, notation: binding.notation, start, set };
    // Masked text is read again to see that nothing is left in it.
    let quotes = usize::from(is_quote(at(text, binding.value)));
    if text.get(binding.value + quotes..).is_some_and(|value| value.starts_with(b"***")) {
        return;
    }
    let markup = binding.notation == Notation::Element
        || text.get(binding.value..).is_some_and(|value| value.starts_with(b"<<"));
    if !markup && matches!(at(text, binding.value), b'<' | b'(' | b')' | b'}' | b']' | b',' | b';') {
        // Nothing, a placeholder or an expression.
        return;
    }
    if binding.notation == Notation::Colon
        && is_break(at(text, binding.value))
        && matches!(kind, NameKind::Password | NameKind::Credential)
    {
        let items = multiline::items(text, binding.value);
        for item in items.into_iter().filter(|item| is_secret(scan, &pair, item)).collect::<Vec<_>>() {
            scan.report(rule, item.start, item.end);
        }
    }
    if is_map_of_passwords(&pair) && scan.mode == Mode::Text && at(text, binding.value) == b'{' {
        let last = text.len().min(binding.value + LONGEST_MAP);
        entries::report(scan, rule, binding.value + 1, last, Extent::Braces);
        return;
    }
    if let Some((value, reveal)) = secret(scan, rule, &pair, binding.value) {
        let open = value.quoting == Quoting::Bare || is_break(at(text, value.end));
        let stop = if open { wrapped::extended(text, value.start, value.end) } else { value.end };
        scan.report_as(rule, value.start, stop, reveal);
        rest_of_list(scan, rule, &pair, &value);
        changed_value(scan, rule, &pair, &value);
        rest_of_string(scan, rule, &value);
    }
}

/// A map of passwords is not longer; every name of one is looked at but once.
const LONGEST_MAP: usize = 4096;

/// `"passwords": {"root": …`: each value is one.
fn is_map_of_passwords(pair: &NameValue<'_>) -> bool {
    const PLURAL: &[u8] = b"passwords";
    let end = pair.name.len().saturating_sub(PLURAL.len());
    pair.kind == NameKind::Password
        && matches!(pair.notation, Notation::Field | Notation::Colon)
        && pair.name.get(end..).is_some_and(|end| end.eq_ignore_ascii_case(PLURAL))
}

/// The name of the object that a field belongs to: `"api": {"key": …`.
fn parent(text: &[u8], start: usize) -> Option<&[u8]> {
    const REACH: usize = 160;
    let before = text.get(start.saturating_sub(REACH)..start)?;
    let open =
        before.iter().rposition(|byte| matches!(byte, b'{' | b'}')).filter(|&brace| at(before, brace) == b'{')?;
    let before = before.get(..open)?.trim_ascii_end().strip_suffix(b":")?;
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(&[QUOTE_1])).unwrap_or(before);
    let letters = before.iter().rev().take_while(|byte| is_word(**byte)).count();
    before.get(before.len() - letters..).filter(|name| !name.is_empty())
}

/// The other strings of a list: `"keys": ["…", "…"]`.
fn rest_of_list(scan: &mut Scan<'_>, rule: &'static Rule, pair: &NameValue<'_>, first: &Value) {
    const MOST: usize = 64;
    let text = scan.text;
    let opening = first.start.checked_sub(2).map_or(0, |index| at(text, index));
    if first.quoting == Quoting::Bare || !matches!(opening, b'[' | b' ' | b'\n') || pair.notation == Notation::Call {
        return;
    }
    let mut last = *first;
    for _ in 0..MOST {
        let comma = skip_blanks(text, last.end + 1);
        let gap = text
            .get(comma + 1..)
            .unwrap_or_default()
            .iter()
            .take(64)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let next = comma + 1 + gap;
        if at(text, comma) != b',' || at(text, next) != at(text, last.end) {
            return;
        }
        last = Value::quoted(text, next);
        // The string may be the name of the next field.
        if at(text, skip_blanks(text, last.end + 1)) == b':' || !is_secret(scan, pair, &last) {
            return;
        }
        scan.report(rule, last.start, last.end);
    }
}

/// What a plan changes a value into: `"…" -> "…"`.
fn changed_value(scan: &mut Scan<'_>, rule: &'static Rule, pair: &NameValue<'_>, first: &Value) {
    let text = scan.text;
    let arrow = skip_blanks(text, first.end + 1);
    let next = skip_blanks(text, arrow + 2);
    if first.quoting == Quoting::Quoted
        && matches!(text.get(arrow..arrow + 2), Some(b"->" | b"=>"))
        && at(text, next) == at(text, first.end)
    {
        let value = Value::quoted(text, next);
        if is_secret(scan, pair, &value) {
            scan.report(rule, value.start, value.end);
        }
    }
}

/// What a string goes on with on the next line: `"…" + "…"`.
fn rest_of_string(scan: &mut Scan<'_>, rule: &'static Rule, first: &Value) {
    const MOST: usize = 16;
    let text = scan.text;
    let mut last = *first;
    for _ in 0..MOST {
        if last.quoting == Quoting::Bare || !StringStats::at(last.of(text)).is_random() {
            return;
        }
        let gap = text.get(last.end + 1..).unwrap_or_default().iter().take(64);
        let next = last.end
            + 1
            + gap.take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'+' | b'.' | b'\\')).count();
        let between = text.get(last.end + 1..next).unwrap_or_default();
        // Strings with only blanks between them are one string, too.
        let joined = !between.is_empty();
        if !joined || at(text, next) != at(text, last.end) {
            return;
        }
        last = Value::quoted(text, next);
        if !StringStats::at(last.of(text)).is_random() || at(text, skip_blanks(text, last.end + 1)) == b':' {
            return;
        }
        scan.report(rule, last.start, last.end);
    }
}

/// Whether the call that a name is an argument of sets something.
fn is_setter(text: &[u8], start: usize) -> bool {
    const LONGEST: usize = 32;
    // What reads a variable has its default behind the name.
    const VERBS: [&[u8]; 9] = [b"set", b"put", b"add", b"with", b"append", b"define", b"header", b"env", b"getenv"];
    let Some(before) = text.get(start.saturating_sub(LONGEST)..start) else { return false };
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let Some(called) = before.strip_suffix(b"(") else { return false };
    let letters = called.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let call = called.get(called.len() - letters..).unwrap_or_default();
    VERBS.iter().any(|verb| call.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb)))
}

/// A look at the next byte spares the work on most names, which are followed by anything but a value.
fn may_bind(text: &[u8], end: usize) -> bool {
    let next = at(text, end);
    matches!(
        next,
        b' ' | b'\t'
            | b'='
            | b':'
            | b'.'
            | b']'
            | b'*'
            | b'?'
            | b'>'
            | b'['
            | b'!'
            | b'+'
            | b'-'
            | b'<'
            | URL_EQUALS
            | 0xE2
    ) || is_quote(next)
        || is_break(next)
}

pub(crate) fn name_end(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default().iter().take(LONGEST_NAME);
    let mut stop = end + rest.take_while(|&&byte| is_word(byte) || byte == b'-' || is_letter_byte(byte)).count();
    while stop > end && at(text, stop - 1) == b'-' {
        stop -= 1;
    }
    stop
}

/// Part of a letter outside of ASCII. Arrows, dashes and quotation marks begin with the two bytes that are left out.
fn is_letter_byte(byte: u8) -> bool {
    byte >= 0x80 && byte != 0xE2 && byte != 0xEF
}

/// Start of the name that has `from` inside. A dotted path belongs to it, and so do the words before `key` in prose.
pub(crate) fn name_start(text: &[u8], from: usize, floor: usize) -> usize {
    let window = text.get(from.saturating_sub(LONGEST_NAME).max(floor)..from).unwrap_or_default();
    let inside = |byte: &u8| is_word(*byte) || matches!(byte, b'-' | b'.' | 0x80..);
    let mut start = from - window.iter().rev().take_while(|byte| inside(byte)).count();
    while start < from && matches!(at(text, start), b'-' | b'.' | 0x80..0xC0) {
        start += 1;
    }
    owner_before(text, start, floor).unwrap_or(start)
}

/// `API key`, `Secret access key`: words that make a credential of the next one.
pub(crate) fn owner_before(text: &[u8], start: usize, floor: usize) -> Option<usize> {
    const MOST: usize = 2;
    let mut first = None;
    let mut stop = start;
    for _ in 0..MOST {
        let Some(blank) = stop.checked_sub(1).filter(|&index| index >= floor && at(text, index) == b' ') else { break };
        let letters = text
            .get(floor..blank)?
            .iter()
            .rev()
            .take(LONGEST_NAME)
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let word = text.get(blank - letters..blank)?;
        if !(KEY_OWNERS.has(word) || TOKEN_OWNERS.has(word)) {
            return first;
        }
        stop = blank - letters;
        first = Some(stop);
    }
    first
}

/// The value of a pair, if it is a secret, and what is shown of it.
fn secret(scan: &mut Scan<'_>, rule: &Rule, pair: &NameValue<'_>, from: usize) -> Option<(Value, Reveal)> {
    let text = scan.text;
    let may_be_block = scan.mode == Mode::Text
        && pair.kind != NameKind::Parameter
        && (matches!(pair.notation, Notation::Colon | Notation::Field) || at(text, from) == b'<');
    let accepts = |line: &[u8]| {
        !placeholder::is_placeholder(line) && (pair.kind != NameKind::Vague || StringStats::at(line).is_mixed())
    };
    if may_be_block && let Some(value) = multiline::read(text, pair.start, from, accepts) {
        return Some((value, Reveal::Nothing));
    }
    let value = match pair.notation {
        Notation::Colon | Notation::Statement if is_break(at(text, from)) => multiline::next_line(text, from)?,
        Notation::Cell => cell(text, from),
        Notation::Element => element(text, from)?,
        _ => Value::read(text, from, &scan.memory),
    };
    let value = whole_phrase(text, pair, value);
    if is_secret(scan, pair, &value) {
        return Some((after_scheme(text, value), reveal(text, rule, pair, &value)));
    }
    if value.quoting == Quoting::Bare {
        scan.rejected = (value.start, value.end);
    }
    let value = typed_default(scan, pair, &value)?;
    let pair = NameValue { notation: Notation::Statement, ..*pair };
    is_secret(scan, &pair, &value).then_some((value, rule.reveal))
}

/// A passphrase may have several words without quotes around them.
fn whole_phrase(text: &[u8], pair: &NameValue<'_>, value: Value) -> Value {
    const MOST_BYTES: usize = 200;
    if let Some(end) = app_password_end(text, value.start).filter(|_| value.quoting == Quoting::Bare) {
        return Value { end, ..value };
    }
    let phrase = pair.name.len() >= 6
        && [&b"phrase"[..], b"mnemonic"].iter().any(|word| pair.name.to_ascii_lowercase().ends_with(word));
    let settings = matches!(pair.notation, Notation::Assignment | Notation::Colon | Notation::Statement);
    if !phrase || !settings || value.quoting == Quoting::Quoted || at(text, value.end) != b' ' {
        return value;
    }
    let rest = text.get(value.end..).unwrap_or_default();
    let words = rest.iter().take(MOST_BYTES).take_while(|byte| byte.is_ascii_lowercase() || **byte == b' ').count();
    let ends = is_break(at(text, value.end + words))
        || value.end + words >= text.len()
        || is_quote(at(text, value.end + words));
    Value { end: if ends { value.end + words } else { value.end }, ..value }
}

/// Passwords that mail providers make for programs: four groups of four letters, alone on the rest of a line.
fn app_password_end(text: &[u8], start: usize) -> Option<usize> {
    const LENGTH: usize = 19;
    let letters = text.get(start..start + LENGTH)?;
    let grouped = letters.chunks(5).all(|group| {
        group.iter().take(4).all(u8::is_ascii_lowercase) && group.get(4).is_none_or(|&separator| separator == b' ')
    });
    let ends = text.get(start + LENGTH).is_none_or(|&byte| is_break(byte) || is_quote(byte));
    (grouped && ends).then_some(start + LENGTH)
}

/// A number beside a quoted name is a number of JSON; another one takes its place, so that the document stays whole.
fn reveal(text: &[u8], rule: &Rule, pair: &NameValue<'_>, value: &Value) -> Reveal {
    let digits = value.of(text).iter().all(u8::is_ascii_digit);
    match (pair.notation, value.quoting) {
        (Notation::Field | Notation::Call, Quoting::Bare) if digits => Reveal::Label("0"),
        _ => rule.reveal,
    }
}

/// A value that begins with a scheme keeps it: `"token": "Bearer …"`.
fn after_scheme(text: &[u8], value: Value) -> Value {
    const SCHEMES: [&[u8]; 4] = [b"bearer ", b"basic ", b"token ", b"apikey "];
    let bytes = value.of(text);
    let scheme =
        SCHEMES.iter().find(|scheme| bytes.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    Value { start: value.start + scheme.map_or(0, |scheme| scheme.len()), ..value }
}

/// The next cell of a table.
fn cell(text: &[u8], from: usize) -> Value {
    const WIDEST: usize = 200;
    let row = text.get(from..).unwrap_or_default();
    let row = row.get(..WIDEST).unwrap_or(row);
    let end = row
        .iter()
        .position(|&byte| byte == b'|' || byte == b'"' || is_break(byte) || (0x11..=0x13).contains(&byte))
        .unwrap_or(row.len());
    let bytes = row.get(..end).unwrap_or_default();
    let blanks = bytes.iter().rev().take_while(|byte| matches!(byte, b' ' | b'`' | b'*')).count();
    let lead = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'`' | b'*')).count();
    Value { start: from + lead, end: (from + end - blanks).max(from + lead), quoting: Quoting::Bare }
}

/// The text of an element goes up to the next tag, without the white space around it.
fn element(text: &[u8], from: usize) -> Option<Value> {
    const LONGEST: usize = 2048;
    const UNPARSED: &[u8] = b"<![CDATA[";
    let from = from + if text.get(from..)?.starts_with(UNPARSED) { UNPARSED.len() } else { 0 };
    let from = from + inner_tag(text.get(from..)?);
    let rest = text.get(from..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let end = memchr::memchr(b'<', rest)?;
    let inner = rest.get(..end)?;
    let inner = inner.strip_suffix(b"]]>").unwrap_or(inner);
    let blanks = inner.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let closed = rest.get(end + 1) == Some(&b'/');
    closed.then(|| Value {
        start: from + blanks,
        end: from + inner.trim_ascii_end().len().max(blanks),
        quoting: Quoting::Quoted,
    })
}

/// Length of the tag of an element inside that holds the value: `<Password><Value>…`.
fn inner_tag(rest: &[u8]) -> usize {
    const LONGEST: usize = 24;
    let tag = rest.iter().skip(1).take(LONGEST).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let closed = rest.get(tag + 1) == Some(&b'>');
    if rest.first() == Some(&b'<') && tag > 0 && closed { tag + 2 } else { 0 }
}

/// `name: Type = "value"`: the value stands behind the type.
fn typed_default(scan: &Scan<'_>, pair: &NameValue<'_>, type_name: &Value) -> Option<Value> {
    /// Type names are short.
    const LONGEST: usize = 40;
    if pair.notation != Notation::Colon || type_name.end - type_name.start > LONGEST {
        return None;
    }
    let text = scan.text;
    let equals = skip_blanks(text, type_name.end);
    if at(text, equals) != b'=' {
        return None;
    }
    let value = Value::read(text, skip_blanks(text, equals + 1), &scan.memory);
    (value.quoting == Quoting::Quoted).then_some(value)
}
