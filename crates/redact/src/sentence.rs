//! Secrets in sentences: "the password is …", "use … as the password", in several languages.
//!
//! A word after "is" is a secret when no language has it: it has digits, signs or capitals inside, or stands in quotes. A
//! plain word counts only at the end of its sentence, and only if it does not describe: "required", "stored", "valid".

use crate::rule::{Rule, compile};
use crate::scan::{Scan, is_word};
use crate::shape::{has_digit, is_number};
use crate::value::{at, is_quote};
use crate::view::is_break;
use crate::words::{STAND_INS, TELLING, holds};
use crate::{Mode, verdict};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// A sentence about a secret is not longer.
const REACH: usize = 160;

/// Called at a word for a secret.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    let before = start.checked_sub(1).map_or(b' ', |index| at(scan.text, index));
    if scan.mode == Mode::Code || is_word(before) || matches!(before, b'-' | b'.' | b'/' | b'$') {
        return;
    }
    let next = at(scan.text, end);
    if matches!(next, b' ' | b'\t' | b's' | b')' | b'*' | 0x80..) || is_quote(next) || is_break(next) {
        told_after(scan, rule, start, end);
    }
    if matches!(next, b' ' | b'.' | b',' | b'!' | b')' | b';' | 0) || is_break(next) {
        told_before(scan, rule, start);
    }
}

/// "the password [for x] is …" and "with password …".
fn told_after(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    static COPULA: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r"\A(?:s?{q}?[*_)]{0,2})(?:",
            // Languages that write without blanks.
            r"\s*(?:\xE6\x98\xAF|\xE4\xB8\xBA|\xE7\x82\xBA|\xE3\x81\xAF|\xEB\x8A\x94|\xEC\x9D\x80|\xEB\x8A\x94)[ :]*|",
            // What the secret is for, then a verb.
            r"(?:[ \t]+(?:for|of|to|on|in|at|von|vom|f\xC3\xBCr|zum|zur|auf|de|del|do|da|di|du|des|per|pour|para|voor|van|til|till|na|dla|do|\xD0\xB4\xD0\xBB\xD1\x8F|\xD0\xBE\xD1\x82|\xD0\xBA)\s+[^\n.!?;:=,]{1,48}?|[ \t]+\((?:[^()\n]{1,40})\))?",
            r"(?:[ \t]+|[ \t]*{nl}[ \t]*)(?:is|was|are|were|will be|should be|shall be|must be|has been|ist|lautet|war|est|\xC3\xA9tait|es|era|\xC3\xA9|\xC3\xA8|jest|to|\xC3\xA4r|er|on|je|adalah|\xD1\x8D\xD1\x82\xD0\xBE|l\xC3\xA0|\xE2\x80\x94|\xE2\x80\x93)",
            r"(?:[ \t]+(?:now|still|currently|just|simply|always|again|set to|changed to|reset to|jetzt|ahora|maintenant))?(?:[ \t]*:)?(?:[ \t]+|[ \t]*{nl}[ \t]*)|",
            // No verb.
            r"[ \t]+())"
        ))
    });
    let text = scan.text;
    let window = text.get(end..text.len().min(end + REACH)).unwrap_or_default();
    let Some(groups) = COPULA.as_ref().and_then(|copula| copula.captures(window)) else { return };
    let Some(whole) = groups.get(0) else { return };
    let apposition = groups.get(1).is_some();
    let from = end + whole.end();
    let Some((value_start, value_end, quoted)) = word(text, from) else { return };
    let Some(value) = text.get(value_start..value_end) else { return };
    // A token or a key may be of many kinds; only a password is what a sentence says it is, whatever it looks like.
    let keyword = text.get(start..end).unwrap_or_default();
    let vague = [&b"token"[..], b"key", b"secret", b"creds", b"credentials"].iter().any(|word| keyword.eq_ignore_ascii_case(word));
    let literal = quoted && !vague && !verdict::is_prose(value);
    let told = if apposition {
        is_introduced(text, start) && (literal && !value.contains(&b' ') || is_unlike_words(value))
    } else {
        literal || is_unlike_words(value) && !value.contains(&b' ') || !vague && is_chosen(text, value, value_end)
    };
    if told && value.len() >= 4 && is_secret(value) && !is_bound(text, value_end) {
        scan.report(rule, value_start, value_end);
    }
}

/// "use … as the password", "… is the password".
fn told_before(scan: &mut Scan<'_>, rule: &'static Rule, start: usize) {
    static LEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r"(?:\A|\s)(?:{q}([^\s\x22'`\x11-\x14\x17]{4,64}){q}|([^\s\x22'`,;\x11-\x14\x17]{4,64}))",
            r"\s+(?:as|is|for|als|ist|como|comme|come|es|est|\xC3\xA9|\xC3\xA8|jako|som)\s+(?:the|your|my|our|its|his|her|das|dein|mein|la|le|su|mi|a|o|il|new|temporary|initial|default)?\s*(?:(?:new|temporary|initial|default|root|admin|database|db|wifi|sudo|user)\s+)?\z"
        ))
    });
    let text = scan.text;
    let from = start.saturating_sub(120).max(scan.floor);
    let window = text.get(from..start).unwrap_or_default();
    let line = window.iter().rposition(|&byte| is_break(byte)).map_or(0, |index| index + 1);
    let lead = window.get(line..).unwrap_or_default();
    if !lead.ends_with(b" ") {
        return;
    }
    let Some(groups) = LEAD.as_ref().and_then(|pattern| pattern.captures_iter(lead).last()) else { return };
    let quoted = groups.get(1).is_some();
    let Some(value) = groups.get(1).or(groups.get(2)) else { return };
    if (quoted || is_unlike_words(value.as_bytes())) && is_secret(value.as_bytes()) {
        let at = from + line;
        scan.report(rule, at + value.start(), at + value.end());
    }
}

/// The next word and whether it stands in quotes.
fn word(text: &[u8], from: usize) -> Option<(usize, usize, bool)> {
    const LONGEST: usize = 200;
    let marks = text.get(from..)?.iter().take(2).take_while(|&&byte| byte == b'*').count();
    let from = from + marks;
    let quote = at(text, from);
    if is_quote(quote) {
        let rest = text.get(from + 1..)?;
        let rest = rest.get(..LONGEST).unwrap_or(rest);
        let end = rest.iter().position(|&byte| byte == quote || is_break(byte))?;
        let between = matches!(rest.first(), Some(b',' | b':' | b'}' | b']'));
        if between || rest.get(..end)?.contains(&b'"') {
            return None;
        }
        return Some((from + 1, from + 1 + end, true));
    }
    let rest = text.get(from..)?;
    let rest = rest.get(..LONGEST).unwrap_or(rest);
    let inside = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'`' | b'<' | b'>' | b',' | b';' | b'(' | b')');
    let length = rest.iter().take_while(|byte| inside(byte)).count();
    let word = rest.get(..length)?;
    let stop = word.iter().rposition(|byte| !matches!(byte, b'.' | b':' | b'\'' | b'*' | b'?'))? + 1;
    Some((from, from + stop, false))
}

/// Digits among letters, signs, or capitals inside.
fn is_unlike_words(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let signs = value.iter().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'_' | b'~'));
    let capitals = value.windows(2).filter(|two| matches!(two, [b'a'..=b'z', b'A'..=b'Z'])).count();
    letters >= 2 && (has_digit(value) || signs && !value.ends_with(b"!")) || capitals >= 2 || is_number(value) && value.len() >= 6 && value.iter().all(u8::is_ascii_digit)
}

/// A plain word that ends its sentence and does not describe anything.
fn is_chosen(text: &[u8], value: &[u8], end: usize) -> bool {
    #[rustfmt::skip]
    const DESCRIBES: &[&str] = &[
        "absent", "accessible", "active", "acceptable", "available", "back", "better", "case-sensitive", "cached", "compromised", "correct", "current", "different", "enough", "everything", "false", "fine", "good", "gone", "here", "identical", "important", "inaccessible", "insecure", "intact", "lost", "mandatory", "necessary", "needed",
        "nothing", "obsolete", "obvious", "opaque", "open", "out", "possible", "predictable", "private", "public", "ready", "safe", "secure", "shared", "short", "sufficient", "there", "true", "unavailable", "unchanged", "unique", "unnecessary", "unusable", "useless", "usable", "visible", "yours",
    ];
    let next = at(text, end);
    let after = at(text, end + 1);
    let last = matches!(next, b'.' | b'!') && (after <= b' ' || is_quote(after)) || next == 0 || is_break(next) || is_quote(next) && !is_word(after);
    let describes = [&b"ed"[..], b"ing", b"ly", b"able", b"ible", b"ful", b"less", b"ive", b"al", b"en", b"ous", b"ant", b"ent"].iter().any(|ending| value.ends_with(ending));
    let plain = value.iter().all(u8::is_ascii_lowercase) && value.len() >= 6;
    last && plain && !describes && !holds(DESCRIBES, value) && !holds(TELLING, value)
}

/// "with password …", "password: …" in a list of things to type: words that bring in a secret.
fn is_introduced(text: &[u8], start: usize) -> bool {
    static INTRODUCTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r"(?i)(?:with|using|use|und|and|mit|con|com|avec|met|med|enter|type|try|/|,|by|via|as|the|set|new|temp(?:orary)?|old|admin|root|initial|default|user \S+)\s+(?:the |das |la |le |new |admin |root |temporary |default )?\z")
    });
    let before = text.get(start.saturating_sub(40)..start).unwrap_or_default();
    INTRODUCTION.as_ref().is_some_and(|pattern| pattern.is_match(before))
}

fn is_secret(value: &[u8]) -> bool {
    !verdict::is_placeholder(value) && !verdict::is_location(value) && !verdict::is_expression(value) && !holds(STAND_INS, value) && !value.starts_with(b"-")
}

/// Whether the word is itself a name with a value.
fn is_bound(text: &[u8], end: usize) -> bool {
    matches!(at(text, end), b'=' | b'(' | b'[') || at(text, end) == b':' && at(text, end + 1) != b' ' && !is_break(at(text, end + 1))
}
