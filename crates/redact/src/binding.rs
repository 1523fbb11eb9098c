//! What binds a name to its value: signs, markup, calls, the next line.

use crate::disguise::{CODED_QUOTE, URL_AND, URL_EQUALS, is_break};
use crate::rule::compile;
use crate::string_stats::is_random;
use crate::value::{at, is_quote, skip_blanks};
use crate::words::words;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// How a name is bound to a value. What counts as a value differs: code binds names to names, an environment does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
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
    /// `name …` at the start of a line, as in many configuration files.
    Directive,
    /// `set name …`, `ENV name …`: a verb says that the next two words are a name and its value.
    Set,
    /// `| name | … |`.
    Cell,
}

/// A notation, and where the value begins in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding {
    pub(crate) notation: Notation,
    pub(crate) value: usize,
}

/// No binding reads further than this.
const REACH: usize = 320;

impl Binding {
    /// Reads what follows the name between `start` and `end`.
    pub(crate) fn read(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let before = start.checked_sub(1).map_or(0, |index| at(text, index));
        let quoted = is_quote(at(text, end));
        let after = past_remark(text, past_closers(text, end));
        let sign = skip_blanks(text, after);
        let spaced = sign > after;
        let bound = |notation, length: usize| {
            let from = sign + length;
            // The value of a field may stand in quotes on the next line.
            let from = if quoted { quote_on_next_line(text, from).unwrap_or(from) } else { from };
            Some(Self { notation, value: value_start(text, from) })
        };
        match (at(text, sign), at(text, sign + 1)) {
            (b'=', b'=') if at(text, sign + 2) == b'=' => bound(Notation::Statement, 3),
            (b'=', b'=' | b'>') | (b':' | b'?' | b'+' | b'!', b'=') => bound(Notation::Statement, 2),
            (b'=', b'~') => None,
            (b'=', next) => match (quoted, spaced || matches!(next, b' ' | b'\t')) {
                (true, _) => bound(Notation::Field, 1),
                (false, true) => bound(Notation::Statement, 1),
                _ if matches!(before, b'?' | b'&' | b'#' | b'[' | URL_AND) => bound(Notation::Parameter, 1),
                _ => bound(Notation::Assignment, 1),
            },
            (URL_EQUALS, _) => bound(Notation::Parameter, 1),
            // `${NAME:-default}`.
            (b':', b'-') if before == b'{' => bound(Notation::Assignment, 2),
            (b':', b':') => None,
            (b':', _) => bound(if quoted { Notation::Field } else { Notation::Colon }, 1),
            // Arrows: → ⇒ ➜ ⟶.
            (0xE2, 0x86 | 0x87 | 0x9E | 0x9F) => bound(Notation::Colon, 3),
            // A dash between a label and its value: – —.
            (0xE2, 0x80) if spaced && matches!(at(text, sign + 2), 0x93 | 0x94) && is_first(text, start) => {
                bound(Notation::Colon, 3)
            }
            (b'-', b'>') if spaced => bound(Notation::Colon, 2),
            (b'<', b'-') if spaced => bound(Notation::Statement, 2),
            (b'<', b'/') if is_table_cell(text, sign) => next_cell(text, sign),
            (b'>', _) if before == b'<' || before == b':' => bound(Notation::Element, 1),
            (b'{', _) if quoted || spaced => nested(text, sign).map(|value| Self { notation: Notation::Field, value }),
            (b'|', _) if spaced && (is_cell(text, start) || is_first(text, start)) => bound(Notation::Cell, 1),
            _ if quoted || is_break(at(text, sign)) || at(text, sign) == b'<' => companion(text, start, end)
                .or_else(|| {
                    (at(text, sign) == b',')
                        .then(|| Self { notation: call(text, start), value: value_start(text, sign + 1) })
                })
                .or_else(|| listed_flag(text, start, sign)),
            _ if spaced => spaced_binding(text, start, end, sign),
            _ => None,
        }
    }
}

/// The quote that begins the next line, perhaps behind the type and length that PHP prints: `string(9) "…"`.
fn quote_on_next_line(text: &[u8], from: usize) -> Option<usize> {
    static QUOTE: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\A[ \t]*{nl}\s*(?:string\(\d{1,5}\) )?{q}"));
    if !is_break(at(text, skip_blanks(text, from))) {
        return None;
    }
    let window = text.get(from..text.len().min(from + REACH)).unwrap_or_default();
    Some(from + QUOTE.as_ref()?.find(window)?.end() - 1)
}

/// Whether a cell of a table ends here, or a term of a list.
fn is_table_cell(text: &[u8], from: usize) -> bool {
    matches!(text.get(from..from + 5), Some(b"</td>" | b"</th>" | b"</dt>"))
}

/// The cell behind one that holds a name: `<td>name</td><td>…`.
fn next_cell(text: &[u8], from: usize) -> Option<Binding> {
    static CELL: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"\A</(?:td|th|dt)>\s*<(?:td|dd)(?: [^<>\n]{0,80})?>\s*(?:<code>)?"));
    let window = text.get(from..text.len().min(from + REACH)).unwrap_or_default();
    Some(Binding { notation: Notation::Element, value: from + CELL.as_ref()?.find(window)?.end() })
}

/// Past a closing quote, bracket or emphasis, and what marks a name as optional.
fn past_closers(text: &[u8], end: usize) -> usize {
    const LONGEST_LEADER: usize = 60;
    let mut index = end + usize::from(is_quote(at(text, end)));
    let closers = text.get(index..).unwrap_or_default().iter().take(3);
    index += closers.take_while(|byte| matches!(byte, b']' | b'*' | b'`' | b'?')).count();
    // Dots lead to a value in a column of its own.
    let dots =
        text.get(index..).unwrap_or_default().iter().take(LONGEST_LEADER).take_while(|&&byte| byte == b'.').count();
    index += if dots > 2 { dots } else { 0 };
    index += inline_tag(text, index);
    if at(text, index) == b'[' {
        let digits =
            text.get(index + 1..).unwrap_or_default().iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        if at(text, index + 1 + digits) == b']' {
            index += digits + 2;
        }
    }
    index
}

/// Length of the tag that ends the emphasis of a label: `<b>Password</b>: …`.
fn inline_tag(text: &[u8], from: usize) -> usize {
    const TAGS: [&[u8]; 6] = [b"</b>", b"</i>", b"</em>", b"</strong>", b"</code>", b"</span>"];
    let rest = text.get(from..).unwrap_or_default();
    let tag = TAGS.iter().find(|tag| rest.starts_with(tag)).map_or(0, |tag| tag.len());
    if matches!(rest.get(tag), Some(b':' | b'=')) { tag } else { 0 }
}

/// Past what stands in brackets between a name and its colon: `password (staging): …`.
fn past_remark(text: &[u8], from: usize) -> usize {
    static REMARK: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\A \([^()\n]{1,40}\)(?:\*\*)?:"));
    const LONGEST: usize = 48;
    if at(text, from + 1) != b'(' {
        return from;
    }
    let window = text.get(from..text.len().min(from + LONGEST)).unwrap_or_default();
    REMARK.as_ref().and_then(|remark| remark.find(window)).map_or(from, |found| from + found.end() - 1)
}

/// Past blanks, emphasis, tags and wrappers between a sign and the value.
fn value_start(text: &[u8], from: usize) -> usize {
    static WRAPPERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r#"\A(?:\*{1,2}[ \t]*|(?:</?[a-z][^<>\n]{0,60}>[ \t]*){1,3}|!!?\w+[ \t]+|&\w+[ \t]+|\[[ \t]*{q}|\(\s{0,40}{q}|"#,
            // A variable with a default.
            r"\$\{\w{1,40}:?-|",
            // A call that makes a secret of a string.
            r#"(?i:convertto-securestring)(?: -string)? {q}|(?:new )?(?:[\w.]+(?:::|\.))?(?:[sS]ecret\w*|String|from|new|Some|Ok|Just|bytes|[pP]assword|[tT]oken|[cC]redential)(?:::(?:new|from))?\([ \t]*{q}|"#,
            // The value is a field of an object.
            r#"\{\s*(?:{q}?\w{1,20}{q}?\s*[:=]\s*(?:{q}[^{}\n"]{0,40}{q}|\w{1,12})\s*,\s*){0,3}?{q}?(?:[vV]alue|[dD]efault|plain(?:[tT]ext)?|S|[sS]tring_?[vV]alue|[sS]ecret|[cC]ontent|current)[\w]{0,12}{q}?[ \t]*[:=][ \t]*)"#,
        ))
    });
    let start = skip_blanks(text, from);
    let first = at(text, start);
    let masked = text.get(start..).is_some_and(|value| value.starts_with(b"***"));
    if masked
        || first.is_ascii_digit()
        || !matches!(first, b'*' | b'!' | b'&' | b'[' | b'(' | b'{' | b'<' | b'$' | b'a'..=b'z' | b'A'..=b'Z')
    {
        return start;
    }
    let window = text.get(start..text.len().min(start + REACH)).unwrap_or_default();
    // A word is no wrapper unless a bracket, a path or another word follows it.
    let word = window.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if word > 0 && !matches!(window.get(word), Some(b'(' | b':' | b'.' | b' ' | b'-')) {
        return start;
    }
    match WRAPPERS.as_ref().and_then(|wrappers| wrappers.find(window)) {
        // The quote is part of the value's notation.
        Some(found) if found.as_bytes().last().is_some_and(|&last| is_quote(last)) && first != b'{' => {
            start + found.end() - 1
        }
        // `&name` is an anchor of YAML, and a type before a sign.
        Some(found) if first == b'&' && at(text, start + found.end()) == b'=' => start,
        Some(found) => start + found.end(),
        None => start,
    }
}

/// `variable "name" { … default = … }` and the like.
fn nested(text: &[u8], brace: usize) -> Option<usize> {
    static NESTED: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"\A\{[^{}]{0,240}?\b(?:default|value|secret_string)\s*[:=]\s*"));
    let window = text.get(brace..text.len().min(brace + REACH)).unwrap_or_default();
    Some(brace + NESTED.as_ref()?.find(window)?.end())
}

/// A name that is itself a value (`name: NAME`, `key="NAME"`), with a companion that holds the secret.
fn companion(text: &[u8], start: usize, end: usize) -> Option<Binding> {
    static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"(?i)(?:name|key|variable|id|field|label|option|attribute|env|header|param(?:eter)?|property|setting|type|kind){q}?\s*[:=>]\s*{q}?[\w./-]{0,60}\z",
        )
    });
    static COMPANION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            // Another field of the same object or the next line, with at most two in between.
            r"(?i)\A{q}?\s*(?:[,;]\s*(?:\#{any}*)?)?(?:{q}?[\w-]{1,24}{q}?\s*[:=]\s*{q}?[\w ./-]{0,48}{q}?\s*,?\s*){0,2}?",
            r"{q}?(?:\w{0,16}value|val|content|default|secret_?string|data){q}?\s*[:=]\s*|",
            // The text of an element, or of the element after it.
            r"\A{q}(?:\s+[\w:-]+={q}[\w. ]{0,40}{q}){0,2}\s*>\s*(?:<(?:value|string)>\s*)?|\A</(?:key|name)>\s*<(?:string|value)>\s*",
        ))
    });
    // The end of an identifier may look like a word.
    if text.get(start..end).is_some_and(is_random) {
        return None;
    }
    let label = text.get(start.saturating_sub(64)..start).unwrap_or_default();
    let sign = label.iter().rev().take(12).find(|byte| !matches!(byte, b' ' | b'\t') && !is_quote(**byte));
    if !matches!(sign, Some(b':' | b'=' | b'>' | b'.' | b'/' | b'-')) {
        return None;
    }
    if !LABEL.as_ref()?.is_match(label) {
        return None;
    }
    let window = text.get(end..text.len().min(end + REACH)).unwrap_or_default();
    let found = COMPANION.as_ref()?.find(window)?;
    let notation = match at(text, end) {
        _ if found.as_bytes().ends_with(b">") => Notation::Element,
        quote if is_quote(quote) => Notation::Field,
        _ => Notation::Colon,
    };
    Some(Binding { notation, value: end + found.end() })
}

/// What a name before a comma is: an option in a list of arguments, or an argument of a call.
fn call(text: &[u8], start: usize) -> Notation {
    if is_option(text, start) { Notation::Flag } else { Notation::Call }
}

/// An option in a list with one item on each line.
fn listed_flag(text: &[u8], start: usize, sign: usize) -> Option<Binding> {
    static NEXT_ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\A{q}?,?\s*{nl}\s*(?:-[ \t]+)?"));
    if !is_option(text, start) || !is_break(at(text, sign)) {
        return None;
    }
    let window = text.get(sign..text.len().min(sign + REACH)).unwrap_or_default();
    Some(Binding { notation: Notation::Flag, value: sign + NEXT_ITEM.as_ref()?.find(window)?.end() })
}

/// A name with only blanks between it and its value.
fn spaced_binding(text: &[u8], start: usize, end: usize, value: usize) -> Option<Binding> {
    if is_option(text, start) {
        return Some(Binding { notation: Notation::Flag, value });
    }
    if matches!(start.checked_sub(1).map(|index| at(text, index)), Some(b'<' | b':')) {
        if let Some(value) = attributes_end(text, value) {
            return Some(Binding { notation: Notation::Element, value });
        }
        if let Some(value) = value_attribute(text, value) {
            return Some(Binding { notation: Notation::Field, value });
        }
    }
    if is_set(text, start) {
        return Some(Binding { notation: Notation::Set, value });
    }
    // A name of several words is no word of a sentence, wherever it stands.
    let compound = || {
        let name = text.get(start..end).unwrap_or_default();
        name.iter().any(|byte| matches!(byte, b'-' | b'_')) && name.iter().all(|byte| !byte.is_ascii_uppercase())
    };
    typed(text, value)
        .or_else(|| (is_first(text, start) || compound()).then_some(Binding { notation: Notation::Directive, value }))
}

/// `<name attribute="…">`: where the text of the element begins.
fn attributes_end(text: &[u8], from: usize) -> Option<usize> {
    static ATTRIBUTES: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"\A(?:[\w:.-]{1,40}={q}[^<>\n]{0,120}?{q}\s*){1,4}>"));
    let window = text.get(from..text.len().min(from + REACH)).unwrap_or_default();
    Some(from + ATTRIBUTES.as_ref()?.find(window)?.end())
}

/// `<name value="…">`: where the value of the attribute begins.
fn value_attribute(text: &[u8], from: usize) -> Option<usize> {
    static ATTRIBUTE: LazyLock<Option<Regex>> =
        LazyLock::new(|| compile(r"(?i)\A(?:[\w:.-]{1,40}={q}[^<>\n]{0,120}?{q}\s*){0,3}(?:value|val|content)={q}"));
    let window = text.get(from..text.len().min(from + REACH)).unwrap_or_default();
    Some(from + ATTRIBUTE.as_ref()?.find(window)?.end() - 1)
}

/// Whether a verb before the name says that a value follows it. Options may stand between, and the beginning of a path.
fn is_set(text: &[u8], start: usize) -> bool {
    words! {
        VERBS = [
            "add", "arg", "config", "define", "env", "fastcgi_param", "insert", "put", "set", "set-variable", "setenv", "setx",
            "uwsgi_param", "write",
        ]
    }
    const MOST_OPTIONS: usize = 2;
    let glued = text.get(start.saturating_sub(48)..start).unwrap_or_default();
    // What is glued to the name: a quote, a path.
    let path = glued.iter().rev().take_while(|&&byte| {
        byte > b' ' && (is_quote(byte) || matches!(byte, b'/' | b':' | b'.') || byte.is_ascii_alphanumeric())
    });
    let mut stop = start - path.count();
    for _ in 0..=MOST_OPTIONS {
        let Some((from, to)) = word_before(text, stop) else { return false };
        if at(text, from) != b'-' {
            return text.get(from..to).is_some_and(|word| VERBS.has(word));
        }
        stop = from;
    }
    false
}

/// The letters and dashes before the blanks before `end`.
fn word_before(text: &[u8], end: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 24;
    let before = text.get(end.saturating_sub(LONGEST)..end)?;
    let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let letters = before
        .iter()
        .rev()
        .skip(blanks)
        .take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'))
        .count();
    (blanks > 0 && letters > 0).then_some((end - blanks - letters, end - blanks))
}

/// `name Type = …`.
fn typed(text: &[u8], from: usize) -> Option<Binding> {
    static TYPED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"\A(?:(?:string|String|str|text|char|const|varchar)[\w\[\]*()]{0,12}|as string|:[\w ]{1,20})[ \t]*:?=[ \t]*",
        )
    });
    let window = text.get(from..text.len().min(from + 48)).unwrap_or_default();
    if !matches!(window.first(), Some(b's' | b'S' | b't' | b'c' | b'v' | b'a' | b':')) {
        return None;
    }
    Some(Binding { notation: Notation::Statement, value: from + TYPED.as_ref()?.find(window)?.end() })
}

/// Whether a name is an option of a command: `--name`, `-name`.
pub(crate) fn is_option(text: &[u8], start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).map_or(b' ', |index| at(text, index));
    let opens = |byte: u8| byte <= b' ' || is_quote(byte) || matches!(byte, b'[' | b'(' | b',');
    before(1) == b'-' && (opens(before(2)) || before(2) == b'-' && opens(before(3)))
}

/// Whether a name is the first word of its line, after indentation and marks.
pub(crate) fn is_first(text: &[u8], start: usize) -> bool {
    const DEEPEST: usize = 48;
    let line = text.get(start.saturating_sub(DEEPEST)..start).unwrap_or_default();
    let mark = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'-' | b'+' | b'>' | b'#' | b'*'));
    match mark {
        Some(index) => is_break(at(line, index)),
        None => line.len() == start || line.len() < DEEPEST,
    }
}

/// Whether a name stands in a cell of a table.
fn is_cell(text: &[u8], start: usize) -> bool {
    let line = text.get(start.saturating_sub(24)..start).unwrap_or_default();
    let edge = line.iter().rposition(|byte| !matches!(byte, b' ' | b'*' | b'`' | b'_') && *byte != CODED_QUOTE);
    edge.is_some_and(|index| at(line, index) == b'|')
}
