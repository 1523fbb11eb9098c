//! Decides whether the value beside a name is a secret: from the name, the notation, the value and what surrounds it.

use crate::binding::{Notation, is_first, is_option};
use crate::disguise::{URL_AND, is_break};
use crate::gibberish::is_gibberish;
use crate::name::{NameKind, is_working_directory};
use crate::name_value::NameValue;
use crate::random_token::is_resource;
use crate::scan::{Scan, is_word};
use crate::string_stats::StringStats;
use crate::value::{Quoting, Value, at, is_quote, skip_blanks};
use crate::words::words;
use crate::{Mode, placeholder, string_stats};

pub(crate) fn is_secret(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value) -> bool {
    let look = &StringStats::at(value.of(scan.text));
    let bytes = look.bytes;
    if bytes.is_empty() || value.is_between_strings(scan.text) {
        return false;
    }
    if is_working_directory(pair.name) && matches!(bytes.first(), Some(b'/' | b'~' | b'.' | b'C'))
        || pair.kind == NameKind::Short && !fits_short(pair, look)
        || pair.notation == Notation::Colon && is_resource(scan.text, pair.start)
    {
        return false;
    }
    if pair.kind == NameKind::Key || is_plain_key(pair) {
        return look.len() >= LONG_KEY
            && look.is_random()
            && !look.has_blank()
            && !placeholder::is_expression(bytes)
            && !placeholder::is_placeholder(bytes)
            && !placeholder::is_location(bytes);
    }
    let fits = match (scan.mode, value.quoting) {
        (Mode::Code, _) => is_secret_in_code(scan, pair, value, look),
        (Mode::Text, Quoting::Quoted) => is_secret_string(scan, pair, value, look),
        (Mode::Text, Quoting::Bare) => is_secret_word(scan, pair, value, look),
    };
    fits && !placeholder::is_placeholder(bytes) && !placeholder::is_location(bytes)
}

/// Keys of caches, rows and messages are shorter, or made of words.
const LONG_KEY: usize = 28;

/// `key: …` in a file of settings; in a URL the name has a rule of its own.
fn is_plain_key(pair: &NameValue<'_>) -> bool {
    pair.kind == NameKind::Parameter
        && pair.name.eq_ignore_ascii_case(b"key")
        && matches!(pair.notation, Notation::Colon | Notation::Statement | Notation::Field)
}

/// `pass` and `pin` are words of many meanings: results of tests, contacts of a chip, pages that stay on top.
fn fits_short(pair: &NameValue<'_>, look: &StringStats<'_>) -> bool {
    let digits = look.bytes.iter().all(u8::is_ascii_digit);
    match pair.name.to_ascii_lowercase().as_slice() {
        b"pin" | b"otp" | b"totp" => digits && (4..=8).contains(&look.len()) || look.is_long_run(),
        name if name.ends_with(b"code") => {
            (look.has_digit() && (4..=24).contains(&look.len()) || look.is_random()) && !look.has_blank()
        }
        // The result of a test, with its name.
        b"pass" if is_upper(pair.name) && pair.notation == Notation::Colon => {
            is_gibberish(look.bytes) || look.is_random()
        }
        b"pass" => look.len() >= 5 && !digits && !look.has_blank(),
        _ => look.is_random() || look.is_long_run() || is_upper(pair.name) && look.is_mixed() && look.len() >= 6,
    }
}

/// Generated credentials in source code have at least this many characters.
const GENERATED: usize = 16;

fn is_secret_in_code(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value, look: &StringStats<'_>) -> bool {
    let bare = value.quoting == Quoting::Bare;
    let literal = !bare
        || match pair.notation {
            Notation::Parameter => true,
            Notation::Assignment => is_upper(pair.name) || ends(scan.text, value),
            Notation::Statement | Notation::Colon => ends(scan.text, value),
            _ => false,
        };
    look.len() >= GENERATED
        && literal
        && look.is_random()
        && !look.bytes.contains(&b' ')
        && !(bare && placeholder::is_expression(look.bytes))
        && !placeholder::is_fixture(look.bytes)
        && (pair.kind != NameKind::Parameter || pair.notation == Notation::Parameter)
}

/// A string beside a name.
fn is_secret_string(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value, look: &StringStats<'_>) -> bool {
    let bytes = look.bytes;
    let spaced = look.has_blank();
    let code = || scan.is_code(pair.start);
    match pair.notation {
        Notation::Call if !is_set_by_call(pair) || look.is_name() && !pair.set => return false,
        Notation::Directive if pair.kind == NameKind::Vague || code() => return false,
        Notation::Directive if pair.kind == NameKind::Short && is_amid_words(scan.text, value) => return false,
        _ => {}
    }
    match pair.kind {
        NameKind::Password | NameKind::Short => {
            look.len() >= 3
                && !placeholder::is_prose(bytes)
                && (!spaced || look.len() >= 8 || pair.notation == Notation::Field)
                && !(is_label(look) && code())
        }
        NameKind::Credential => {
            look.len() >= 6
                && !(spaced && placeholder::is_prose(bytes))
                && !(look.is_number() && look.len() < GENERATED)
                && !(look.is_wordy() && (placeholder::is_fixture(bytes) || spaced && !is_phrase(pair, look) || code()))
        }
        NameKind::Vague => {
            look.len() >= 6
                && !is_identity(pair, look)
                && !spaced
                && !look.is_number()
                && bytes.first() != Some(&b'#')
                && (pair.notation == Notation::Flag
                    || !look.is_wordy() && look.is_unwordly()
                    || look.len() >= 20 && !is_wordy_list(look))
                && (!code() || look.is_mixed())
        }
        NameKind::Parameter | NameKind::Key => {
            pair.notation == Notation::Parameter && fits_parameter(pair, look) && value.start > 0
        }
    }
}

/// Sessions, seeds and tokens of many kinds (`changeToken`) have identifiers, which are no secret; what is called a token and
/// nothing else is one in this form, too.
fn is_identity(pair: &NameValue<'_>, look: &StringStats<'_>) -> bool {
    string_stats::is_uuid(look.bytes) && !pair.name.eq_ignore_ascii_case(b"token")
}

/// Several words as the value of a variable of the environment are a phrase that somebody chose.
fn is_phrase(pair: &NameValue<'_>, look: &StringStats<'_>) -> bool {
    const SHORTEST: usize = 16;
    is_upper(pair.name) && pair.notation == Notation::Assignment && look.len() >= SHORTEST
}

/// Several words joined, not one long generated run.
fn is_wordy_list(look: &StringStats<'_>) -> bool {
    look.is_wordy() && look.bytes.iter().any(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b' '))
}

/// A short text of letters: in a program it is a label, a key or a kind, rather than a password.
fn is_label(look: &StringStats<'_>) -> bool {
    look.is_wordy() && !look.has_digit()
}

/// Headers and variables are set by calls; other strings in a row mean nothing.
fn is_set_by_call(pair: &NameValue<'_>) -> bool {
    pair.name.contains(&b'-') || is_upper(pair.name) || pair.set
}

fn is_upper(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

/// A bare word beside a name.
fn is_secret_word(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value, look: &StringStats<'_>) -> bool {
    if placeholder::is_expression(look.bytes) {
        return false;
    }
    let text = scan.text;
    match pair.notation {
        Notation::Field if is_setting_line(text, pair, value) => fits_setting(scan, pair, value, look),
        Notation::Field | Notation::Call => {
            let least = match pair.kind {
                NameKind::Password => 4,
                NameKind::Credential => GENERATED,
                _ => return false,
            };
            look.len() >= least && look.bytes.iter().all(u8::is_ascii_digit)
        }
        Notation::Parameter => fits_parameter(pair, look),
        Notation::Element => false,
        Notation::Assignment if is_upper(pair.name) => fits_environment(pair, look),
        Notation::Assignment if follows_sign(text, pair) || matches!(at(text, value.end), b'&' | URL_AND) => {
            fits_parameter(pair, look)
        }
        Notation::Assignment if is_option(text, pair.start) => fits_flag(scan, pair, value, look),
        Notation::Assignment if pair.kind == NameKind::Parameter => look.len() >= 40 && look.is_random(),
        Notation::Assignment => fits_setting(scan, pair, value, look),
        Notation::Colon | Notation::Statement => fits_setting(scan, pair, value, look),
        Notation::Flag => fits_flag(scan, pair, value, look),
        Notation::Set if is_spoken(look.bytes) || !look.has_digit() && reads_on(text, value) => false,
        Notation::Set => {
            // A name with a path before it is no word of a sentence.
            let path =
                pair.name.contains(&b'.') || pair.start.checked_sub(1).is_some_and(|before| at(text, before) == b'/');
            is_upper(pair.name) && fits_environment(pair, look)
                || pair.kind == NameKind::Password && is_gibberish(look.bytes)
                || look.is_mixed() && !look.is_wordy() && fits_kind(pair, look)
                || path && pair.kind == NameKind::Password && ends(text, value) && fits_kind(pair, look)
        }
        Notation::Directive => fits_directive(scan, pair, value, look),
        Notation::Cell => pair.kind != NameKind::Parameter && !look.bytes.contains(&b' ') && fits_kind(pair, look),
    }
}

/// `"password": …` alone on a line of YAML: in a program a comma or a bracket would follow.
fn is_setting_line(text: &[u8], pair: &NameValue<'_>, value: &Value) -> bool {
    const DEEPEST: usize = 80;
    let opens = pair.start.checked_sub(1).is_some_and(|quote| is_quote(at(text, quote)) && is_first(text, quote));
    let rest = text.get(value.end..).unwrap_or_default();
    let next = rest.iter().take(DEEPEST).find(|byte| !byte.is_ascii_whitespace());
    opens && rest.first().is_none_or(|&byte| is_break(byte)) && !matches!(next, Some(b'}' | b']' | b')' | b','))
}

/// `a=b;password=…` and `a=b&password=…`.
fn follows_sign(text: &[u8], pair: &NameValue<'_>) -> bool {
    pair.start.checked_sub(1).is_some_and(|before| matches!(at(text, before), b'?' | b'&' | b';' | URL_AND))
}

/// Whether the value can be what the name promises, whatever the notation.
fn fits_kind(pair: &NameValue<'_>, look: &StringStats<'_>) -> bool {
    let number = look.is_number();
    match pair.kind {
        NameKind::Password | NameKind::Short => {
            look.len() >= 3 && (!number || look.len() >= 4 && !look.bytes.starts_with(b"0x"))
        }
        NameKind::Credential => look.len() >= 6 && (!number || look.len() >= GENERATED),
        NameKind::Vague => {
            look.len() >= 6
                && !is_identity(pair, look)
                && !number
                && !look.is_wordy()
                && look.is_unwordly()
                && look.bytes.first() != Some(&b'#')
        }
        NameKind::Parameter | NameKind::Key => false,
    }
}

/// Variables of an environment hold values, not names of other variables.
fn fits_environment(pair: &NameValue<'_>, look: &StringStats<'_>) -> bool {
    match pair.kind {
        NameKind::Vague => {
            let word = look.len() >= 6
                && look.bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
            !look.is_number() && (look.len() >= 6 && look.is_unwordly() || word && !placeholder::is_fixture(look.bytes))
        }
        _ => fits_kind(pair, look),
    }
}

fn fits_parameter(pair: &NameValue<'_>, look: &StringStats<'_>) -> bool {
    let number = look.bytes.iter().all(u8::is_ascii_digit);
    match pair.kind {
        NameKind::Password | NameKind::Short | NameKind::Credential => look.len() >= 3 && (!number || look.len() >= 4),
        NameKind::Vague => !number && look.len() >= 6 && (look.is_mixed() || look.len() >= GENERATED),
        NameKind::Parameter if pair.name.eq_ignore_ascii_case(b"key") => {
            look.len() >= GENERATED && look.is_mixed() && !look.is_wordy()
        }
        NameKind::Parameter | NameKind::Key => look.len() >= 10 && look.is_mixed() && !look.is_wordy(),
    }
}

/// Configuration, logs, and what looks like them in programs.
fn fits_setting(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value, look: &StringStats<'_>) -> bool {
    let text = scan.text;
    if !(fits_kind(pair, look) || pair.kind == NameKind::Vague && look.is_long_run()) {
        return false;
    }
    if placeholder::is_type(look.bytes) || placeholder::is_variable(look.bytes, pair.name) {
        return false;
    }
    let ends = ends(text, value);
    let strong = look.is_mixed() && !look.is_wordy()
        || look.is_unwordly() && !look.is_name()
        || pair.kind == NameKind::Password && is_gibberish(look.bytes);
    if scan.is_code(pair.start) {
        return look.is_random() && ends || strong && ends && is_first(text, pair.start) && !is_identifier(look);
    }
    // `a:b` without a blank is a list or a path; a setting has one.
    // `/password:…` is an option of a command of Windows.
    let option = pair.start.checked_sub(1).is_some_and(|before| at(text, before) == b'/');
    let tight = pair.notation == Notation::Colon
        && pair.name.is_ascii()
        && !(option && pair.kind == NameKind::Password)
        && !is_first(text, pair.start)
        && value.start.checked_sub(1).is_some_and(|before| at(text, before) == b':')
        && !(precedes_setting(text, value)
            || matches!(at(text, value.end), b'}' | b']') && pair.kind == NameKind::Password);
    let object = pair.name.starts_with(b"self.") || pair.name.starts_with(b"this.");
    let setting = !(object || tight || pair.notation == Notation::Statement && follows_comma(text, pair));
    let told = pair.notation == Notation::Assignment
        && pair.kind == NameKind::Password
        && look.len() >= 6
        && at(text, value.end) == b' ';
    let glued = value.start.checked_sub(1).is_some_and(|before| matches!(at(text, before), b'=' | b':'));
    let listed = pair.notation == Notation::Assignment && told || glued && precedes_setting(text, value);
    let plain = (ends || listed) && setting && !is_passed_on(text, pair, value);
    strong && (ends || look.is_mixed() && look.len() >= 6) || plain || precedes_setting(text, value) && look.is_mixed()
}

/// `f(user=user, password=pw)` passes variables on.
fn is_passed_on(text: &[u8], pair: &NameValue<'_>, value: &Value) -> bool {
    let before = pair.start.checked_sub(1).map_or(0, |index| at(text, index));
    let listed = matches!(at(text, value.end), b',' | b')');
    let called = before == b'(' && pair.start.checked_sub(2).is_some_and(|index| is_word(at(text, index)));
    pair.notation == Notation::Assignment
        && (called
            || listed
                && follows_comma(text, pair)
                && string_stats::is_name(string_stats::head(value.of(text)))
                && at(text, value.end) == b')')
}

/// `user, password = …` takes a tuple apart.
fn follows_comma(text: &[u8], pair: &NameValue<'_>) -> bool {
    let before = |back: usize| pair.start.checked_sub(back).map_or(0, |index| at(text, index));
    before(1) == b' ' && before(2) == b','
}

/// The name of something in a program: words joined by underscores or capitals.
fn is_identifier(look: &StringStats<'_>) -> bool {
    let joined =
        look.bytes.contains(&b'_') || look.bytes.windows(2).any(|two| matches!(two, [b'a'..=b'z', b'A'..=b'Z']));
    let named =
        look.bytes.first().is_some_and(|first| !first.is_ascii_digit()) && look.bytes.iter().all(|&byte| is_word(byte));
    named && joined && !look.is_random()
}

/// Whether nothing but a comment, punctuation or a closing quote follows on the line.
fn ends(text: &[u8], value: &Value) -> bool {
    let next = skip_blanks(text, value.end);
    let byte = at(text, next);
    let comment = next > value.end && (byte == b'#' || byte == b'/' && at(text, next + 1) == b'/');
    let list = matches!(byte, b',' | b';')
        && !(at(text, next + 1) == b' ' && at(text, next + 2).is_ascii_lowercase() && !begins_pair(text, next + 2));
    next >= text.len()
        || is_break(byte)
        || is_quote(byte)
        || comment
        || list
        || matches!(byte, b')' | b'}' | b']' | b'<' | b'|' | b'&')
}

/// "Pass `rows` to the printer": nothing follows the value of a directive.
fn is_amid_words(text: &[u8], value: &Value) -> bool {
    let behind = value.end + usize::from(is_quote(at(text, value.end)));
    at(text, behind) == b' ' && at(text, behind + 1).is_ascii_lowercase()
}

fn begins_pair(text: &[u8], from: usize) -> bool {
    let name = text
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take(40)
        .take_while(|&&byte| is_word(byte) || matches!(byte, b'-' | b'.'))
        .count();
    name > 0 && matches!(at(text, from + name), b'=' | b':')
}

/// Whether the next thing on the line is another setting, as in YAML whose lines were joined: `password: … host: db`.
fn precedes_setting(text: &[u8], value: &Value) -> bool {
    let next = skip_blanks(text, value.end);
    next > value.end && begins_pair(text, next)
}

/// The second word of a line: in a list whose second column is aligned any word counts, elsewhere a mixed one.
fn fits_directive(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value, look: &StringStats<'_>) -> bool {
    if !matches!(pair.kind, NameKind::Password | NameKind::Credential | NameKind::Short)
        || !ends(scan.text, value)
        || look.bytes.first() == Some(&b'-')
    {
        return false;
    }
    if pair.kind == NameKind::Password && is_gibberish(look.bytes) {
        return true;
    }
    let mixed = look.is_mixed() && look.len() >= 6 && (pair.kind == NameKind::Password || !look.is_wordy());
    let gap = value.start.checked_sub(2).and_then(|before| scan.text.get(before..value.start)).unwrap_or_default();
    let aligned = gap == b"  " || gap.ends_with(b"\t");
    // `name value;` in the settings of a server; a name of several words is no word of a sentence.
    let statement = at(scan.text, value.end) == b';'
        && (pair.name.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.')) || is_gibberish(look.bytes));
    // Properties need no sign between a name and its value.
    let property = pair.kind == NameKind::Password && pair.name.contains(&b'.') && is_first(scan.text, pair.start);
    mixed
        || (aligned || statement || property)
            && fits_kind(pair, look)
            && !placeholder::is_type(look.bytes)
            && !placeholder::is_variable(look.bytes, pair.name)
            && !scan.is_code(pair.start)
}

/// The argument of an option.
fn fits_flag(scan: &Scan<'_>, pair: &NameValue<'_>, value: &Value, look: &StringStats<'_>) -> bool {
    let text = scan.text;
    if !is_option(text, pair.start) || is_spoken(look.bytes) {
        return false;
    }
    let strong = !look.is_wordy() || look.has_digit();
    match pair.kind {
        NameKind::Password | NameKind::Short => look.len() >= 3 && (strong || !reads_on(text, value)),
        NameKind::Credential | NameKind::Vague => {
            look.len() >= 6 && !look.is_number() && (strong || !reads_on(text, value))
        }
        NameKind::Parameter | NameKind::Key => false,
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
    let plain = |word: Option<&[u8]>| {
        word.is_some_and(|word| word.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b',' | b'.')))
    };
    plain(words.next()) && plain(words.next())
}
