//! Secrets that are known by the name beside them: assignments, fields, configuration, flags, parameters.

use crate::binding::{Binding, Carrier, is_first, is_option};
use crate::name::{Kind, LONGEST_NAME};
use crate::rule::{Reveal, Rule};
use crate::rules::names;
use crate::scan::{Scan, is_word};
use crate::shape::{self, has_digit, is_mixed, is_name, is_number, is_random, is_wordy};
use crate::value::{Quoting, Value, at, is_quote, skip_blanks};
use crate::view::{URL_AND, URL_EQUALS, is_break};
use crate::words::{KEY_OWNERS, TOKEN_OWNERS, words};
use crate::{Mode, block, verdict, wrap};

/// A name and the notation that binds it to its value.
#[derive(Debug, Clone, Copy)]
struct Pair<'t> {
    name: &'t [u8],
    kind: Kind,
    carrier: Carrier,
    start: usize,
}

/// Called at a word that names secrets. Reads the whole name, what binds it, and the value.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    if start < scan.named {
        return;
    }
    let text = scan.text;
    // Some keywords have the sign in them that binds the name.
    let signs = text.get(start..end).unwrap_or_default().iter().rev().take_while(|&&byte| byte < 0x80 && !byte.is_ascii_alphanumeric()).count();
    let end = name_end(text, end - signs);
    scan.named = end;
    if !may_bind(text, end) {
        return;
    }
    let start = name_start(text, start, scan.floor);
    let inside = scan.rejected.0 < start && start < scan.rejected.1;
    if inside && !matches!(at(text, start - 1), b'?' | b'&' | b';' | b',' | URL_AND | b'"' | b'\'') {
        return;
    }
    let Some(name) = text.get(start..end) else { return };
    let Some((kind, word)) = scan.names.classify(name) else { return };
    let Some(binding) = Binding::read(text, start, end) else { return };
    let pair = Pair { name, kind, carrier: binding.carrier, start };
    if matches!(at(text, binding.value), b'<' | b'(' | b')' | b'}' | b']' | b',' | b';' | b'&') {
        // Nothing, a placeholder or an expression.
        return;
    }
    if let Some((value, reveal)) = secret(scan, rule, &pair, binding.value) {
        let open = value.quoting == Quoting::Bare || is_break(at(text, value.end));
        let stop = if open { wrap::extended(text, value.start, value.end) } else { value.end };
        scan.report_as(names::rule_of(word).unwrap_or(rule), value.start, stop, reveal);
    }
}

/// A look at the next byte spares the work on most names, which are followed by anything but a value.
fn may_bind(text: &[u8], end: usize) -> bool {
    let next = at(text, end);
    matches!(next, b' ' | b'\t' | b'=' | b':' | b']' | b'*' | b'?' | b'>' | b'[' | b'!' | b'+' | b'-' | b'<' | URL_EQUALS | 0xE2)
        || is_quote(next)
        || is_break(next)
}

fn name_end(text: &[u8], end: usize) -> usize {
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
fn name_start(text: &[u8], from: usize, floor: usize) -> usize {
    let window = text.get(from.saturating_sub(LONGEST_NAME).max(floor)..from).unwrap_or_default();
    let inside = |byte: &u8| is_word(*byte) || matches!(byte, b'-' | b'.' | 0x80..);
    let mut start = from - window.iter().rev().take_while(|byte| inside(byte)).count();
    while start < from && matches!(at(text, start), b'-' | b'.' | 0x80..0xC0) {
        start += 1;
    }
    owner_before(text, start, floor).unwrap_or(start)
}

/// `API key`, `Secret access key`: words that make a credential of the next one.
fn owner_before(text: &[u8], start: usize, floor: usize) -> Option<usize> {
    const MOST: usize = 2;
    let mut first = None;
    let mut stop = start;
    for _ in 0..MOST {
        let Some(blank) = stop.checked_sub(1).filter(|&index| index >= floor && at(text, index) == b' ') else { break };
        let letters = text.get(floor..blank)?.iter().rev().take(LONGEST_NAME).take_while(|byte| byte.is_ascii_alphabetic()).count();
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
fn secret(scan: &mut Scan<'_>, rule: &Rule, pair: &Pair<'_>, from: usize) -> Option<(Value, Reveal)> {
    let text = scan.text;
    let may_be_block = scan.mode == Mode::Text
        && matches!(pair.kind, Kind::Password | Kind::Credential)
        && matches!(pair.carrier, Carrier::Colon | Carrier::Field);
    if may_be_block && let Some(value) = block::read(text, pair.start, from, |line| !verdict::is_placeholder(line)) {
        return Some((value, Reveal::Nothing));
    }
    let value = match pair.carrier {
        Carrier::Cell => cell(text, from),
        Carrier::Element => Value { start: from, end: element_end(text, from)?, quoting: Quoting::Quoted },
        _ => Value::read(text, from, &scan.memory),
    };
    if is_secret(scan, pair, &value) {
        return Some((after_scheme(text, value), reveal(rule, pair, &value)));
    }
    if value.quoting == Quoting::Bare {
        scan.rejected = (value.start, value.end);
    }
    let value = typed_default(scan, pair, &value)?;
    let pair = Pair { carrier: Carrier::Statement, ..*pair };
    is_secret(scan, &pair, &value).then_some((value, rule.reveal))
}

/// A number beside a quoted name is a number of JSON; another one takes its place, so that the document stays whole.
fn reveal(rule: &Rule, pair: &Pair<'_>, value: &Value) -> Reveal {
    match (pair.carrier, value.quoting) {
        (Carrier::Field | Carrier::Call, Quoting::Bare) => Reveal::Label("0"),
        _ => rule.reveal,
    }
}

/// A value that begins with a scheme keeps it: `"token": "Bearer …"`.
fn after_scheme(text: &[u8], value: Value) -> Value {
    const SCHEMES: [&[u8]; 4] = [b"bearer ", b"basic ", b"token ", b"apikey "];
    let bytes = value.of(text);
    let scheme = SCHEMES.iter().find(|scheme| bytes.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    Value { start: value.start + scheme.map_or(0, |scheme| scheme.len()), ..value }
}

/// The next cell of a table.
fn cell(text: &[u8], from: usize) -> Value {
    const WIDEST: usize = 200;
    let row = text.get(from..).unwrap_or_default();
    let row = row.get(..WIDEST).unwrap_or(row);
    let end = row.iter().position(|&byte| byte == b'|' || is_break(byte)).unwrap_or(row.len());
    let bytes = row.get(..end).unwrap_or_default();
    let blanks = bytes.iter().rev().take_while(|byte| matches!(byte, b' ' | b'`' | b'*')).count();
    let lead = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'`' | b'*')).count();
    Value { start: from + lead, end: (from + end - blanks).max(from + lead), quoting: Quoting::Bare }
}

/// The text of an element goes up to the next tag.
fn element_end(text: &[u8], from: usize) -> Option<usize> {
    const LONGEST: usize = 2048;
    let rest = text.get(from..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let end = memchr::memchr(b'<', rest)?;
    (rest.get(end + 1) == Some(&b'/')).then_some(from + end)
}

/// `name: Type = "value"`: the value stands behind the type.
fn typed_default(scan: &Scan<'_>, pair: &Pair<'_>, type_name: &Value) -> Option<Value> {
    /// Type names are short.
    const LONGEST: usize = 40;
    if pair.carrier != Carrier::Colon || type_name.end - type_name.start > LONGEST {
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

fn is_secret(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value) -> bool {
    let bytes = shape::head(value.of(scan.text));
    if bytes.is_empty() || value.is_between_strings(scan.text) {
        return false;
    }
    let fits = match (scan.mode, value.quoting) {
        (Mode::Code, _) => is_secret_in_code(scan, pair, value, bytes),
        (Mode::Text, Quoting::Quoted) => is_secret_string(scan, pair, value, bytes),
        (Mode::Text, Quoting::Bare) => is_secret_word(scan, pair, value, bytes),
    };
    fits && !verdict::is_placeholder(bytes) && !verdict::is_location(bytes)
}

/// Generated credentials in source code have at least this many characters.
const GENERATED: usize = 16;

fn is_secret_in_code(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    let bare = value.quoting == Quoting::Bare;
    let literal = !bare
        || match pair.carrier {
            Carrier::Parameter => true,
            Carrier::Assignment => is_upper(pair.name) || ends(scan.text, value),
            Carrier::Statement | Carrier::Colon => ends(scan.text, value),
            _ => false,
        };
    bytes.len() >= GENERATED
        && literal
        && is_random(bytes)
        && !bytes.contains(&b' ')
        && !(bare && verdict::is_expression(bytes))
        && !verdict::is_fixture(bytes)
        && (pair.kind != Kind::Parameter || pair.carrier == Carrier::Parameter)
}

/// A string beside a name.
fn is_secret_string(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    let spaced = bytes.iter().any(u8::is_ascii_whitespace);
    let code = || scan.is_code(pair.start);
    match pair.carrier {
        Carrier::Call if !is_set_by_call(pair) || is_name(bytes) => return false,
        Carrier::Directive if pair.kind == Kind::Vague || code() => return false,
        _ => {}
    }
    match pair.kind {
        Kind::Password => {
            bytes.len() >= 3 && !verdict::is_prose(bytes) && (!spaced || bytes.len() >= 8) && !(is_label(bytes) && code())
        }
        Kind::Credential => {
            bytes.len() >= 6
                && !(spaced && verdict::is_prose(bytes))
                && !(is_number(bytes) && bytes.len() < GENERATED)
                && !(is_wordy(bytes) && (verdict::is_fixture(bytes) || spaced || code()))
        }
        Kind::Vague => {
            bytes.len() >= 6
                && !spaced
                && !is_number(bytes)
                && bytes.first() != Some(&b'#')
                && (pair.carrier == Carrier::Flag || !is_wordy(bytes) && verdict::is_unwordly(bytes) || bytes.len() >= 20 && !is_wordy_list(bytes))
                && (!code() || is_mixed(bytes))
        }
        Kind::Parameter => pair.carrier == Carrier::Parameter && fits_parameter(pair, bytes) && value.start > 0,
    }
}

/// Several words joined, not one long generated run.
fn is_wordy_list(bytes: &[u8]) -> bool {
    is_wordy(bytes) && bytes.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b' '))
}

/// A short text of letters: in a program it is a label, a key or a kind, rather than a password.
fn is_label(bytes: &[u8]) -> bool {
    is_wordy(bytes) && !has_digit(bytes)
}

/// Headers and variables are set by calls; other strings in a row mean nothing.
fn is_set_by_call(pair: &Pair<'_>) -> bool {
    pair.name.contains(&b'-') || is_upper(pair.name)
}

fn is_upper(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

/// A bare word beside a name.
fn is_secret_word(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    if verdict::is_expression(bytes) {
        return false;
    }
    let text = scan.text;
    match pair.carrier {
        Carrier::Field | Carrier::Call => pair.kind == Kind::Password && bytes.len() >= 4 && bytes.iter().all(u8::is_ascii_digit),
        Carrier::Parameter => fits_parameter(pair, bytes),
        Carrier::Element => false,
        Carrier::Assignment if is_upper(pair.name) => fits_environment(pair, bytes),
        Carrier::Assignment if follows_sign(text, pair) || matches!(at(text, value.end), b'&' | URL_AND) => fits_parameter(pair, bytes),
        Carrier::Assignment if is_option(text, pair.start) => fits_flag(scan, pair, value, bytes),
        Carrier::Assignment if pair.kind == Kind::Parameter => bytes.len() >= 40 && is_random(bytes),
        Carrier::Assignment => fits_setting(scan, pair, value, bytes),
        Carrier::Colon | Carrier::Statement => fits_setting(scan, pair, value, bytes),
        Carrier::Flag => fits_flag(scan, pair, value, bytes),
        Carrier::Set if is_spoken(bytes) => false,
        Carrier::Set => is_upper(pair.name) && fits_environment(pair, bytes) || is_mixed(bytes) && !is_wordy(bytes) && fits_kind(pair, bytes),
        Carrier::Directive => {
            pair.kind != Kind::Parameter && pair.kind != Kind::Vague && ends(text, value) && is_mixed(bytes) && bytes.len() >= 6 && !is_wordy(bytes)
        }
        Carrier::Cell => pair.kind != Kind::Parameter && !bytes.contains(&b' ') && fits_kind(pair, bytes),
    }
}

/// `a=b;password=…` and `a=b&password=…`.
fn follows_sign(text: &[u8], pair: &Pair<'_>) -> bool {
    pair.start.checked_sub(1).is_some_and(|before| matches!(at(text, before), b'?' | b'&' | b';' | URL_AND))
}

/// Whether the value can be what the name promises, whatever the notation.
fn fits_kind(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    let number = is_number(bytes);
    match pair.kind {
        Kind::Password => bytes.len() >= 3 && (!number || bytes.len() >= 4),
        Kind::Credential => bytes.len() >= 6 && (!number || bytes.len() >= GENERATED),
        Kind::Vague => bytes.len() >= 6 && !number && !is_wordy(bytes) && verdict::is_unwordly(bytes) && bytes.first() != Some(&b'#'),
        Kind::Parameter => false,
    }
}

/// Variables of an environment hold values, not names of other variables.
fn fits_environment(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    match pair.kind {
        Kind::Vague => {
            let word = bytes.len() >= 6 && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
            !is_number(bytes) && (bytes.len() >= 6 && verdict::is_unwordly(bytes) || word && !verdict::is_fixture(bytes))
        }
        _ => fits_kind(pair, bytes),
    }
}

fn fits_parameter(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    let number = bytes.iter().all(u8::is_ascii_digit);
    match pair.kind {
        Kind::Password | Kind::Credential => bytes.len() >= 3 && (!number || bytes.len() >= 4),
        Kind::Vague => !number && bytes.len() >= 6 && (is_mixed(bytes) || bytes.len() >= GENERATED),
        Kind::Parameter if pair.name.eq_ignore_ascii_case(b"key") => bytes.len() >= GENERATED && is_mixed(bytes) && !is_wordy(bytes),
        Kind::Parameter => bytes.len() >= 10 && is_mixed(bytes) && !is_wordy(bytes),
    }
}

/// Configuration, logs, and what looks like them in programs.
fn fits_setting(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    let text = scan.text;
    if !fits_kind(pair, bytes) && !(pair.kind == Kind::Vague && is_long_run(bytes)) {
        return false;
    }
    if verdict::is_type(bytes) || verdict::is_variable(bytes, pair.name) {
        return false;
    }
    let ends = ends(text, value);
    let strong = is_mixed(bytes) && !is_wordy(bytes) || verdict::is_unwordly(bytes) && !is_name(bytes);
    if scan.is_code(pair.start) {
        return is_random(bytes) && ends || strong && ends && is_first(text, pair.start) && !is_identifier(bytes);
    }
    // `a:b` without a blank is a list or a path; a setting has one.
    let tight = pair.carrier == Carrier::Colon && value.start.checked_sub(1).is_some_and(|before| at(text, before) == b':');
    let object = pair.name.starts_with(b"self.") || pair.name.starts_with(b"this.");
    let setting = !object && !tight && !(pair.carrier == Carrier::Statement && follows_comma(text, pair));
    let listed = pair.carrier == Carrier::Assignment && precedes_setting(text, value);
    let plain = (ends || listed) && setting && !is_passed_on(text, pair, value);
    strong && (ends || is_mixed(bytes) && bytes.len() >= 6) || plain || precedes_setting(text, value) && is_mixed(bytes)
}

/// `f(user=user, password=pw)` passes variables on.
fn is_passed_on(text: &[u8], pair: &Pair<'_>, value: &Value) -> bool {
    let before = pair.start.checked_sub(1).map_or(0, |index| at(text, index));
    let listed = matches!(at(text, value.end), b',' | b')');
    let called = before == b'(' && pair.start.checked_sub(2).is_some_and(|index| is_word(at(text, index)));
    pair.carrier == Carrier::Assignment && (called || listed && follows_comma(text, pair) && is_name(shape::head(value.of(text))) && at(text, value.end) == b')')
}

/// A run of letters that no word is as long as.
fn is_long_run(bytes: &[u8]) -> bool {
    bytes.len() >= 20 && bytes.iter().all(u8::is_ascii_alphanumeric)
}

/// `user, password = …` takes a tuple apart.
fn follows_comma(text: &[u8], pair: &Pair<'_>) -> bool {
    let before = |back: usize| pair.start.checked_sub(back).map_or(0, |index| at(text, index));
    before(1) == b' ' && before(2) == b','
}

/// The name of something in a program: words joined by underscores or capitals.
fn is_identifier(bytes: &[u8]) -> bool {
    let joined = bytes.contains(&b'_') || bytes.windows(2).any(|two| matches!(two, [b'a'..=b'z', b'A'..=b'Z']));
    let named = bytes.first().is_some_and(|first| !first.is_ascii_digit()) && bytes.iter().all(|&byte| is_word(byte));
    named && joined && !is_random(bytes)
}

/// Whether nothing but a comment, punctuation or a closing quote follows on the line.
fn ends(text: &[u8], value: &Value) -> bool {
    let next = skip_blanks(text, value.end);
    let byte = at(text, next);
    let comment = next > value.end && (byte == b'#' || byte == b'/' && at(text, next + 1) == b'/');
    let list = matches!(byte, b',' | b';') && !(at(text, next + 1) == b' ' && at(text, next + 2).is_ascii_lowercase() && !begins_pair(text, next + 2));
    next >= text.len() || is_break(byte) || is_quote(byte) || comment || list || matches!(byte, b')' | b'}' | b']' | b'<' | b'|' | b'&')
}

fn begins_pair(text: &[u8], from: usize) -> bool {
    let name = text.get(from..).unwrap_or_default().iter().take(40).take_while(|&&byte| is_word(byte) || matches!(byte, b'-' | b'.')).count();
    name > 0 && matches!(at(text, from + name), b'=' | b':')
}

/// Whether the next thing on the line is another setting, as in YAML whose lines were joined: `password: … host: db`.
fn precedes_setting(text: &[u8], value: &Value) -> bool {
    let next = skip_blanks(text, value.end);
    next > value.end && begins_pair(text, next)
}

/// The argument of an option.
fn fits_flag(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    let text = scan.text;
    if !is_option(text, pair.start) || is_spoken(bytes) {
        return false;
    }
    let strong = !is_wordy(bytes) || has_digit(bytes);
    match pair.kind {
        Kind::Password => bytes.len() >= 3 && (strong || !reads_on(text, value)),
        Kind::Credential | Kind::Vague => bytes.len() >= 6 && !is_number(bytes) && (strong || !reads_on(text, value)),
        Kind::Parameter => false,
    }
}

/// What stands behind an option in a manual: the next option, a word of a sentence, a name in capitals for the value.
fn is_spoken(bytes: &[u8]) -> bool {
    words! {
        PROSE = [
            "a", "and", "are", "argument", "arguments", "as", "at", "be", "by", "can", "command", "does",
            "environment", "field", "file", "flag", "flags", "for", "from", "has", "if", "in", "instead", "into", "is",
            "it", "may", "must", "not", "of", "on", "option", "options", "or", "parameter", "prompt", "prompts", "set",
            "should", "so", "specifies", "string", "switch", "that", "the", "then", "this", "to", "use", "value",
            "was", "when", "which", "will", "with", "without", "you", "your",
        ]
    }
    let metavariable = bytes.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-' | b'.'));
    metavariable || matches!(bytes.first(), Some(b'-' | b'[')) || PROSE.has(bytes)
}

/// Whether two more words follow, as in a sentence.
fn reads_on(text: &[u8], value: &Value) -> bool {
    let rest = text.get(value.end..text.len().min(value.end + 48)).unwrap_or_default();
    let line = rest.split(|&byte| is_break(byte)).next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let plain = |word: Option<&[u8]>| word.is_some_and(|word| word.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b',' | b'.')));
    plain(words.next()) && plain(words.next())
}
