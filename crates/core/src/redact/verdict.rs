//! Decides whether the value beside a name is a secret, from the name, the notation, the value and the kind of text.

use crate::redact::Mode;
use crate::redact::alphabet::WORD;
use crate::redact::judge;
use crate::redact::key::Kind;
use crate::redact::pair::{Carrier, Pair, is_upper};
use crate::redact::scan::{Scan, mixes_letters_and_digits};
use crate::redact::value::{Quoting, Value};

/// Generated credentials in source code have at least this many characters.
const GENERATED: usize = 16;

pub(crate) fn is_secret(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value) -> bool {
    let bytes = value.judged(scan);
    if is_unquoted_beside_a_quoted_name(pair, value) || is_between_strings(value, bytes) {
        return false;
    }
    match scan.mode {
        Mode::Code => is_secret_in_code(scan, pair, value, bytes),
        Mode::Text if !judge::is_long_enough(bytes) => false,
        Mode::Text => match value.quoting {
            Quoting::Quoted => {
                fits_kind(pair, bytes) && is_value(bytes) && !(pair.carrier == Carrier::Call && is_name(bytes))
            }
            Quoting::Bare => is_secret_bare(scan, pair, value, bytes) && is_value(bytes),
        },
    }
}

/// What no secret is, whatever its name.
fn is_value(bytes: &[u8]) -> bool {
    judge::is_long_enough(bytes) && !judge::is_placeholder(bytes) && !judge::is_location(bytes)
}

/// Bare values of JSON fields are numbers and literals: a mask in their place would break the document.
fn is_unquoted_beside_a_quoted_name(pair: &Pair<'_>, value: &Value) -> bool {
    value.quoting == Quoting::Bare && matches!(pair.carrier, Carrier::Field | Carrier::Call)
}

/// After an empty value at the end of a string, the closing quote looks like an opening one: `{"a": "token=", "b":
/// "…"}`.
fn is_between_strings(value: &Value, bytes: &[u8]) -> bool {
    value.quoting == Quoting::Quoted && matches!(bytes.first(), Some(b',' | b':' | b'}' | b']'))
}

fn is_secret_in_code(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    let bare = value.quoting == Quoting::Bare;
    let literal = || match pair.carrier {
        _ if !bare => true,
        Carrier::Parameter => true,
        Carrier::Assignment => is_upper(pair.key) || value.ends_line(scan),
        Carrier::Statement | Carrier::Colon => value.ends_line(scan),
        _ => false,
    };
    let generated = || judge::is_random(bytes) && !bytes.contains(&b' ') && !(bare && judge::is_expression(bytes));
    bytes.len() >= GENERATED
        && literal()
        && generated()
        && is_value(bytes)
        && !judge::is_fixture(bytes)
        && fits_carrier(pair, bytes)
}

fn is_secret_bare(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value, bytes: &[u8]) -> bool {
    let environment = pair.carrier == Carrier::Assignment && is_upper(pair.key);
    let ends_line = value.ends_line(scan);
    let fits = match pair.carrier {
        Carrier::Parameter => fits_parameter(pair, bytes),
        Carrier::Element => scan.starts_with(value.end, "</") && fits_kind(pair, bytes),
        Carrier::Assignment if environment => fits_environment(pair, bytes),
        Carrier::Assignment => fits_kind(pair, bytes) && (!is_name(bytes) || ends_line && !is_in_call(scan, value)),
        Carrier::Colon | Carrier::Statement => {
            let plain = || is_name(bytes) || judge::is_wordy(bytes) || is_identifier(pair, bytes);
            let chosen =
                || ends_line && is_lower_word(bytes) && is_setting(scan, pair, value) && !is_in_call(scan, value);
            // A word before the next setting of a joined line may be prose; one with digits is no word.
            let joined = || mixes_letters_and_digits(bytes) && value.precedes_setting(scan);
            (ends_line || judge::is_random(bytes) || joined()) && fits_kind(pair, bytes) && (!plain() || chosen())
        }
        Carrier::Flag => fits_kind(pair, bytes) && !judge::is_wordy(bytes),
        Carrier::Field | Carrier::Call => false,
    };
    fits && !judge::is_expression(bytes)
}

fn fits_carrier(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    match pair.kind {
        Kind::Parameter => pair.carrier == Carrier::Parameter && fits_parameter(pair, bytes),
        _ => true,
    }
}

/// Whether the value can be what the name promises.
fn fits_kind(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    let spaced = bytes.iter().any(u8::is_ascii_whitespace);
    let number = bytes.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b','));
    match pair.kind {
        Kind::Password => !judge::is_prose(bytes) && (!spaced || bytes.len() >= 8),
        Kind::Credential if bytes.len() < GENERATED => {
            !(spaced || number || judge::is_wordy(bytes) && judge::is_fixture(bytes))
        }
        Kind::Credential => !spaced,
        Kind::Vague => !spaced && !number && !judge::is_wordy(bytes) && is_mixed(bytes) && bytes.first() != Some(&b'#'),
        Kind::Parameter => pair.key == b"Signature" && bytes.len() >= 40 && judge::is_random(bytes),
        Kind::Authorization | Kind::Cookie => false,
    }
}

/// Letters with digits, or letters with signs that words do not have.
fn is_mixed(bytes: &[u8]) -> bool {
    const SIGNS: &[u8] = b"!@#$%^&*+=~?";
    bytes.len() >= 6
        && (mixes_letters_and_digits(bytes) || bytes.len() >= 8 && bytes.iter().any(|byte| SIGNS.contains(byte)))
}

/// Variables of an environment hold values, not names of other variables.
fn fits_environment(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    let number = bytes.iter().all(u8::is_ascii_digit);
    match pair.kind {
        Kind::Password => true,
        Kind::Credential => !number || bytes.len() >= GENERATED,
        Kind::Vague => {
            !number && (is_mixed(bytes) || bytes.len() >= 6 && is_lower_word(bytes) && !judge::is_fixture(bytes))
        }
        _ => false,
    }
}

fn fits_parameter(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    let number = bytes.iter().all(u8::is_ascii_digit);
    match pair.kind {
        Kind::Password | Kind::Credential => !number || bytes.len() >= 6,
        Kind::Vague => !number && bytes.len() >= 6 && (mixes_letters_and_digits(bytes) || bytes.len() >= GENERATED),
        Kind::Parameter if pair.key.eq_ignore_ascii_case(b"key") => bytes.len() >= GENERATED && judge::is_random(bytes),
        Kind::Parameter => bytes.len() >= 10 && mixes_letters_and_digits(bytes) && !judge::is_wordy(bytes),
        Kind::Authorization | Kind::Cookie => false,
    }
}

/// What could be the name of a variable or a type: letters and underscores, perhaps with a number at the end.
fn is_name(bytes: &[u8]) -> bool {
    let letters = bytes.iter().take_while(|&&byte| byte.is_ascii_alphabetic() || byte == b'_').count();
    letters > 0 && bytes.iter().skip(letters).all(u8::is_ascii_digit) && bytes.len() - letters < 2
}

/// The name of something in a program: words joined by underscores or capitals. Passwords with a digit may look like
/// that.
fn is_identifier(pair: &Pair<'_>, bytes: &[u8]) -> bool {
    let joined = bytes.contains(&b'_') || bytes.windows(2).any(|two| matches!(two, [b'a'..=b'z', b'A'..=b'Z']));
    let named = bytes.first().is_some_and(|first| !first.is_ascii_digit()) && bytes.iter().all(|&byte| WORD.has(byte));
    let password = pair.kind == Kind::Password && mixes_letters_and_digits(bytes);
    named && joined && !password && !judge::is_random(bytes)
}

/// Whether a pair stands as settings do, and not as statements of a program do: alone on its line, no attribute of an
/// object, with a blank after its colon.
fn is_setting(scan: &Scan<'_>, pair: &Pair<'_>, value: &Value) -> bool {
    let object = pair.key.starts_with(b"self.") || pair.key.starts_with(b"this.");
    let spaced = pair.carrier == Carrier::Statement || matches!(scan.before(value.start), b' ' | b'\t');
    !object && spaced && !(pair.carrier == Carrier::Statement && pair.follows_comma)
}

/// A single small word, as people choose for passwords and not for variables.
fn is_lower_word(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}

/// `f(password=pw)` passes a variable on.
fn is_in_call(scan: &Scan<'_>, value: &Value) -> bool {
    matches!(scan.at(value.end), b',' | b')' | b';')
}
