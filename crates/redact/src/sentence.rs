//! Secrets in sentences: "the password is …", "use … as the password", in several languages.
//!
//! A word after "is" is a secret when no language has it: it has digits, signs or capitals inside, or stands in quotes. A
//! plain word counts only at the end of its sentence, and only if it does not describe: "required", "stored", "valid".

use crate::disguise::is_break;
use crate::gibberish::is_gibberish;
use crate::name::NameKind;
use crate::rule::{Rule, compile};
use crate::rules::prose;
use crate::scan::{Scan, is_word};
use crate::string_stats::{is_mixed, is_random, is_wordy};
use crate::value::{at, is_quote, skip_blanks};
use crate::words::{PLACEHOLDERS, SENTENCE_WORDS, words};
use crate::{Mode, name_value, placeholder, wrapped};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// A sentence about a secret is not longer.
const REACH: usize = 160;

/// Called at a word for a secret.
pub(crate) fn check(scan: &mut Scan<'_>, rule: &'static Rule, start: usize, end: usize) {
    if scan.mode == Mode::Code {
        return;
    }
    let keyword = scan.text.get(start..end).unwrap_or_default();
    // Some keywords have the blank behind them; words of other languages have endings.
    let end = end - usize::from(keyword.ends_with(b" "));
    let next = at(scan.text, end);
    let inflected = !keyword.is_ascii() && next.is_ascii_lowercase();
    let goes_on =
        matches!(next, b' ' | b'\t' | b's' | b')' | b'*' | 0x80..) || is_quote(next) || is_break(next) || inflected;
    let ends = matches!(next, b' ' | b'.' | b',' | b'!' | b')' | b';' | 0) || is_break(next);
    if !goes_on && !ends {
        return;
    }
    let Some(subject) = Subject::read(scan, start, end) else { return };
    if goes_on {
        told_after(scan, rule, &subject);
    }
    if ends && !subject.vague {
        told_before(scan, rule, subject.start);
    }
}

/// The words for a secret.
struct Subject<'t> {
    start: usize,
    end: usize,
    keyword: &'t [u8],
    /// Whether it may be of many kinds: a token, a key. Only a password is what a sentence says it is, whatever it looks
    /// like.
    vague: bool,
    /// Whether it is a name as programs have them.
    identifier: bool,
}

impl<'t> Subject<'t> {
    fn read(scan: &mut Scan<'t>, start: usize, end: usize) -> Option<Self> {
        words! {
            VAGUE = ["credentials", "creds", "key", "secret", "token"]
        }
        let text = scan.text;
        let keyword = text.get(start..end)?;
        let floor = scan.floor(start);
        let before = start.checked_sub(1).map_or(b' ', |index| at(text, index));
        if is_word(before) || before == b'-' {
            // The end of a name: `dbPassword is …`.
            if at(text, end) != b' ' {
                return None;
            }
            let first = name_value::name_start(text, start, floor);
            let outside = first.checked_sub(1).map_or(b' ', |index| at(text, index));
            let (kind, _) = text.get(first..end).and_then(|name| scan.names.classify(name))?;
            let named =
                matches!(kind, NameKind::Password | NameKind::Credential) && !matches!(outside, b'-' | b'/' | b'$');
            return named.then_some(Self { start: first, end, keyword, vague: false, identifier: true });
        }
        if matches!(before, b'.' | b'/' | b'$') {
            return None;
        }
        let lead = text.get(start.saturating_sub(8)..start).unwrap_or_default();
        let vague = VAGUE.has(keyword);
        if vague && lead.to_ascii_lowercase().ends_with(b"public ") {
            return None;
        }
        // `client secret`, `GitHub token`: the word before says which one.
        match name_value::owner_before(text, start, floor).filter(|_| vague) {
            Some(owner) => Some(Self { start: owner, end, keyword, vague: false, identifier: false }),
            None => Some(Self { start, end, keyword, vague, identifier: false }),
        }
    }
}

/// "the password [for x] is …" and "with password …".
fn told_after(scan: &mut Scan<'_>, rule: &'static Rule, subject: &Subject<'_>) {
    static VERB: LazyLock<Option<Regex>> = LazyLock::new(|| compile(&prose::verb_pattern()));
    let (text, end) = (scan.text, subject.end);
    let window = text.get(end..text.len().min(end + REACH)).unwrap_or_default();
    let verb = VERB.as_ref().and_then(|pattern| pattern.find(window)).map(|found| (Told::ByVerb, end + found.end()));
    let label = label_end(window).map(|length| (Told::ByLabel, end + length));
    let beside =
        matches!(window.first(), Some(b' ' | b'\t')).then(|| (Told::Beside, past_dash(text, skip_blanks(text, end))));
    // A mask is shorter than what it stands for; what it brings closer was too far away before.
    let masked =
        |from: usize| text.get(end..from).is_some_and(|between| between.windows(3).any(|three| three == b"***"));
    for (told, from) in [verb, label, beside].into_iter().flatten() {
        let Some((value_start, value_end, quoted)) = word(text, from) else { continue };
        let Some(value) = text.get(value_start..value_end) else { continue };
        let word = Word { value, start: value_start, end: value_end, quoted };
        if value.len() >= 4
            && is_told(text, subject, told, &word)
            && is_secret(value)
            && !is_bound(text, value_end)
            && !masked(from)
        {
            let value_end = if quoted { value_end } else { wrapped::extended(text, value_start, value_end) };
            scan.report(rule, value_start, value_end);
            changed_to(scan, rule, value_end);
        }
    }
}

/// Past a dash or dots between blanks.
fn past_dash(text: &[u8], from: usize) -> usize {
    const LONGEST_LEADER: usize = 60;
    let rest = text.get(from..).unwrap_or_default();
    let dots = rest.iter().take(LONGEST_LEADER).take_while(|&&byte| byte == b'.').count();
    let length = match rest {
        [b'-', b' ', ..] => 1,
        _ if dots > 2 => dots,
        _ => 0,
    };
    skip_blanks(text, from + length)
}

/// "changed from … to …".
fn changed_to(scan: &mut Scan<'_>, rule: &'static Rule, end: usize) {
    let text = scan.text;
    let from = end + usize::from(is_quote(at(text, end)));
    if text.get(from..).is_some_and(|rest| rest.starts_with(b" to "))
        && let Some((start, stop, _)) = word(text, from + " to ".len())
        && text.get(start..stop).is_some_and(|value| is_unlike_words(value) && is_secret(value))
    {
        scan.report(rule, start, stop);
    }
}

/// How a sentence leads to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// "the password is …".
    ByVerb,
    /// "the password that you asked for: …".
    ByLabel,
    /// "with password …".
    Beside,
}

/// The word that a sentence leads to.
struct Word<'t> {
    value: &'t [u8],
    start: usize,
    end: usize,
    quoted: bool,
}

fn is_told(text: &[u8], subject: &Subject<'_>, told: Told, word: &Word<'_>) -> bool {
    let blank = word.value.contains(&b' ');
    if subject.vague {
        let chosen = word.quoted && told == Told::ByVerb && is_gibberish(word.value);
        return !blank && (is_random(word.value) || chosen);
    }
    let literal = word.quoted && !placeholder::is_prose(word.value);
    match told {
        Told::ByVerb => {
            let changed = is_changed(text, subject.start);
            let lead = text.get(..word.start - usize::from(word.quoted)).unwrap_or_default();
            let preposition = [&b" to "[..], b" as ", b" on "].iter().any(|preposition| lead.ends_with(preposition));
            if preposition && !changed && is_english(subject.keyword) {
                return is_mixed(word.value) && !is_wordy(word.value);
            }
            literal || is_unlike_words(word.value) && !blank || is_chosen(text, word.value, word.end, changed)
        }
        Told::ByLabel => !blank && (is_mixed(word.value) && !is_wordy(word.value) || is_unlike_words(word.value)),
        // No language has such a word.
        Told::Beside if !blank && is_gibberish(word.value) => true,
        Told::Beside if subject.identifier && !word.quoted => word.value.len() >= 20 && is_random(word.value),
        Told::Beside if blank || !(literal || is_unlike_words(word.value)) => false,
        Told::Beside => {
            word.value.len() >= 20 && is_random(word.value)
                || !is_english(subject.keyword)
                || is_introduced(text, subject.start)
        }
    }
}

/// English manuals are full of words for passwords; in other languages a word beside one is taken for a secret sooner.
fn is_english(keyword: &[u8]) -> bool {
    words! {
        ENGLISH = [
            "access code", "access key", "access token", "api key", "api token", "api-key", "apikey", "auth token",
            "bearer token", "pass", "passcode", "passphrase", "passwd", "password", "pin code", "pwd", "secret key",
        ]
    }
    ENGLISH.has(keyword)
}

/// Where a label ends that begins with the word for the secret.
fn label_end(window: &[u8]) -> Option<usize> {
    const LONGEST: usize = 64;
    let line = window.get(..LONGEST).unwrap_or(window);
    let stops = |byte: &u8| {
        is_break(*byte)
            || is_quote(*byte)
            || matches!(byte, b'.' | b':' | b'=' | b';' | b'{' | b'}' | b'(' | b')' | b'<' | b'>')
    };
    let colon = line.iter().position(stops).filter(|&place| place > 0)?;
    (at(line, colon) == b':' && matches!(at(line, colon + 1), b' ' | b'\t')).then(|| skip_blanks(line, colon + 1))
}

/// "use … as the password", "… is the new password".
fn told_before(scan: &mut Scan<'_>, rule: &'static Rule, start: usize) {
    words! {
        ARTICLES = [
            "a", "admin", "client", "das", "database", "db", "default", "dein", "her", "his", "il", "initial", "its", "la", "le", "login", "master",
            "mein", "mi", "my", "new", "o", "our", "root", "su", "sudo", "temporary", "the", "user", "wifi", "your",
        ]
    }
    words! {
        VERBS = [
            "als", "as", "come", "comme", "como", "es", "est", "for", "is", "ist", "jako", "som",
        ]
    }
    const MOST_ARTICLES: usize = 3;
    let text = scan.text;
    let floor = scan.floor(start);
    let Some(mut before) = word_before(text, start, floor) else { return };
    for _ in 0..MOST_ARTICLES {
        let Some(word) = text.get(before.0..before.1).filter(|word| ARTICLES.has(word)) else { break };
        let Some(next) = word_before(text, before.0, floor).filter(|_| !word.is_empty()) else { return };
        before = next;
    }
    if !text.get(before.0..before.1).is_some_and(|word| VERBS.has(word)) {
        return;
    }
    let Some((from, to)) = word_before(text, before.0, floor) else { return };
    let quoted = is_quote(at(text, from)) && to > from + 1 && is_quote(at(text, to - 1));
    let (from, to) = if quoted { (from + 1, to - 1) } else { (from, to) };
    let value = text.get(from..to).unwrap_or_default();
    if value.len() >= 4
        && (quoted || is_unlike_words(value) || is_imperative(text, from, floor) && is_undescriptive(value))
        && !value.iter().any(|&byte| is_quote(byte))
        && is_secret(value)
    {
        scan.report(rule, from, to);
    }
}

/// "Use …": the word is a value, whatever it looks like.
fn is_imperative(text: &[u8], start: usize, floor: usize) -> bool {
    words! {
        VERBS = ["enter", "try", "type", "use", "using"]
    }
    word_before(text, start, floor).is_some_and(|(from, to)| text.get(from..to).is_some_and(|word| VERBS.has(word)))
}

/// "set the password to …", "changed my password to …".
fn is_changed(text: &[u8], start: usize) -> bool {
    static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"(?i)\b(?:set|change[ds]?|reset|rotated?|updated?|switched)\s+(?:(?:the|my|your|our|its|his|her|their) )?(?:\w+ )?\z",
        )
    });
    let before = text.get(start.saturating_sub(40)..start).unwrap_or_default();
    CHANGE.as_ref().is_some_and(|pattern| pattern.is_match(before))
}

/// The word before a blank that ends at `end`, on the same line.
fn word_before(text: &[u8], end: usize, floor: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 66;
    let stop = end.checked_sub(1).filter(|&index| index > floor && at(text, index) == b' ')?;
    let window = text.get(stop.saturating_sub(LONGEST).max(floor)..stop)?;
    let length = window
        .iter()
        .rev()
        .take_while(|&&byte| byte > b' ' && !matches!(byte, b',' | b';') || (0x11..=0x19).contains(&byte))
        .count();
    (length > 0 && length < LONGEST).then_some((stop - length, stop))
}

/// The next word and whether it stands in quotes.
fn word(text: &[u8], from: usize) -> Option<(usize, usize, bool)> {
    const LONGEST: usize = 200;
    // Up to two stars make a word bold; three are a mask.
    let stars = text.get(from..)?.iter().take(3).take_while(|&&byte| byte == b'*').count();
    if stars > 2 {
        return None;
    }
    let from = from + stars;
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
    let inside =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'`' | b'<' | b'>' | b',' | b';' | b'(' | b')');
    let length = rest.iter().take_while(|byte| inside(byte)).count();
    let word = rest.get(..length)?;
    let stop = word.iter().rposition(|byte| !matches!(byte, b'.' | b':' | b'\'' | b'*' | b'?'))? + 1;
    Some((from, from + stop, false))
}

/// Digits among letters, signs, capitals inside, several dashes, or letters in an order that words do not have.
fn is_unlike_words(value: &[u8]) -> bool {
    let (mut digits, mut capitals, mut rises, mut small, mut signs, mut dashes) = (0, 0, 0, 0, 0, 0);
    let mut last = 0;
    for &byte in value {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'z' => small += 1,
            b'A'..=b'Z' => {
                capitals += 1;
                rises += usize::from(u8::is_ascii_lowercase(&last));
            }
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'_' | b'~' => signs += 1,
            b'-' => dashes += 1,
            _ => {}
        }
        last = byte;
    }
    let letters = capitals + small;
    letters >= 2 && (digits > 0 || signs > 0 && last != b'!')
        || rises >= 2
        || capitals >= 3 && small > 0
        || dashes >= 2 && value.len() >= 12
        || digits >= 6 && digits == value.len()
        || letters == value.len() && is_gibberish(value)
}

/// A plain word that ends its sentence and does not describe anything.
fn is_chosen(text: &[u8], value: &[u8], end: usize, changed: bool) -> bool {
    let next = at(text, end);
    let after = at(text, end + 1);
    let rest = text.get(end..).unwrap_or_default();
    let goes_on = [&b" and "[..], b" then ", b" for ", b", "].iter().any(|word| rest.starts_with(word));
    let last = matches!(next, b'.' | b'!') && (after <= b' ' || is_quote(after))
        || next == 0
        || is_break(next)
        || is_quote(next) && !is_word(after);
    // A capital at the beginning does not make a word descriptive.
    let word = match value.split_first() {
        Some((first, rest)) if rest.iter().all(u8::is_ascii_lowercase) => {
            [&[first.to_ascii_lowercase()], rest].concat()
        }
        _ => value.to_vec(),
    };
    (last || changed && goes_on) && is_undescriptive(&word)
}

/// Whether a plain word does not describe anything: "required", "stored", "valid".
fn is_undescriptive(value: &[u8]) -> bool {
    words! {
        DESCRIBES = [
            "abgelaufen", "absent", "accessible", "active", "acceptable", "available", "back", "better", "case-sensitive", "cached",
            "compromised", "correct", "correcta", "correcte", "correta", "corretta", "current", "different", "empty", "enough", "erforderlich", "errata", "everything", "expire", "falsch", "false", "fine", "good", "gone",
            "here", "identical", "important", "inaccessible", "incorrecta", "incorrecte", "incorreta", "insecure", "intact", "invalida", "invalide", "korrekt", "lost", "mandatory", "match", "necessary", "notwendig",
            "needed", "nothing", "obligatoire", "obligatoria", "obrigatoria", "obsolete", "obvious", "onjuist", "opaque", "open", "out", "possible", "predictable", "private",
            "public", "ready", "requerida", "requis", "richiesta", "richtig", "safe", "scaduta", "secure", "shared", "short", "sufficient", "there", "true", "unavailable",
            "unchanged", "unique", "unnecessary", "unusable", "useless", "usable", "valida", "valide", "verplicht", "visible", "yours",
        ]
    }
    let describes =
        [&b"ed"[..], b"ing", b"ly", b"able", b"ible", b"ful", b"less", b"ive", b"al", b"en", b"ous", b"ant", b"ent"]
            .iter()
            .any(|ending| value.ends_with(ending));
    let plain = value.iter().all(u8::is_ascii_lowercase) && value.len() >= 6;
    plain && !describes && !DESCRIBES.has(value) && !SENTENCE_WORDS.has(value)
}

/// "with password …", "password: …" in a list of things to type: words that bring in a secret.
fn is_introduced(text: &[u8], start: usize) -> bool {
    static INTRODUCTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"(?i)\(\z|(?:with|using|use|und|and|mit|con|com|avec|met|med|enter|type|try|/|,|by|via|as|the|set|new|bad|wrong|invalid|incorrect|temp(?:orary)?|old|admin|root|initial|default|user \S+)\s+(?:[a-z]{2,10} )?\z",
        )
    });
    let before = text.get(start.saturating_sub(40)..start).unwrap_or_default();
    INTRODUCTION.as_ref().is_some_and(|pattern| pattern.is_match(before))
}

fn is_secret(value: &[u8]) -> bool {
    !placeholder::is_placeholder(value)
        && !placeholder::is_location(value)
        && !placeholder::is_expression(value)
        && !PLACEHOLDERS.has(value)
        && !value.starts_with(b"-")
}

/// Whether the word is itself a name with a value.
fn is_bound(text: &[u8], end: usize) -> bool {
    matches!(at(text, end), b'=' | b'(' | b'[')
        || at(text, end) == b':' && at(text, end + 1) != b' ' && !is_break(at(text, end + 1))
}
