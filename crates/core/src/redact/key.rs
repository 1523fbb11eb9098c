//! Decides from a name whether the value beside it is a secret, and of which kind.
//!
//! A name is read as words (`dbPassword`, `DB_PASSWORD` and `db.password` are the same two), because a part of a word
//! means nothing: a tokenizer holds no token, and `max_tokens` counts them.

use crate::redact::vocabulary::{
    AUTHORIZATION, COOKIE, CREDENTIALS, HARMLESS_AFTER, HARMLESS_BEFORE, KEY, KEY_OWNERS, PARAMETERS, PASS,
    PASS_COMPOUNDS, PASSWORDS, PRESIGNED, PROTOCOLS, TOKEN_OWNERS, TOKENS, VAGUE,
};
use crate::redact::words::Word;

/// What a name promises about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Chosen by people: may be short and may be a word.
    Password,
    /// A credential by its full name: `api_key`, `access_token`, `client_secret`.
    Credential,
    /// Perhaps a credential: `token`, `secret`, `auth`. The value has to look like one.
    Vague,
    /// An authorization header: a scheme and a credential.
    Authorization,
    /// A cookie header: names with values.
    Cookie,
    /// Secret only as a parameter of a URL or a form: `code`, `sig`, `key`.
    Parameter,
}

/// Names longer than this are prose or data.
pub(crate) const MAX_KEY: usize = 64;
const MAX_WORDS: usize = 16;

/// Splits a name into words and classifies it.
pub(crate) fn classify(name: &[u8]) -> Option<Kind> {
    if is_working_directory(name) {
        return None;
    }
    let mut words = [Word::EMPTY; MAX_WORDS];
    let mut count = 0;
    for (start, end) in word_bounds(name) {
        *words.get_mut(count)? = Word::new(without_number(name.get(start..end)?));
        count += 1;
    }
    let words = words.get(..count)?;
    // The last secret word decides: in `secret_token_name` it is the token that has a name.
    let decide = |index: usize| {
        let (before, after) = (words.get(..index)?, words.get(index + 1..)?);
        let kind = kind_of(*words.get(index)?, before)?;
        Some((kind, is_harmless(kind, before, after)))
    };
    let (kind, harmless) = (0..count).rev().find_map(decide)?;
    (!harmless).then_some(kind)
}

/// The shell keeps its directories under these names.
fn is_working_directory(name: &[u8]) -> bool {
    matches!(name, b"PWD" | b"OLDPWD" | b"pwd")
}

fn kind_of(word: Word, before: &[Word]) -> Option<Kind> {
    let owner = before.last().copied().unwrap_or(Word::EMPTY);
    if PASSWORDS.has_ending_of(word) || PASS_COMPOUNDS.has(word) || (PASS.has(word) && !before.is_empty()) {
        Some(Kind::Password)
    } else if CREDENTIALS.has_ending_of(word) || (KEY.has(word) && KEY_OWNERS.has(owner)) {
        Some(Kind::Credential)
    } else if PARAMETERS.has(word) {
        let presigned = before.first().is_some_and(|&first| PRESIGNED.has(first));
        (before.is_empty() || presigned).then_some(Kind::Parameter)
    } else if TOKENS.has(word) && TOKEN_OWNERS.has(owner) {
        Some(Kind::Credential)
    } else if TOKENS.has_ending_of(word) || VAGUE.has(word) {
        Some(Kind::Vague)
    } else if AUTHORIZATION.has(word) {
        Some(Kind::Authorization)
    } else {
        COOKIE.has(word).then_some(Kind::Cookie)
    }
}

fn is_harmless(kind: Kind, before: &[Word], after: &[Word]) -> bool {
    let owner = before.last().copied().unwrap_or(Word::EMPTY);
    let tail = || after.iter().any(|&word| HARMLESS_AFTER.has(word));
    match kind {
        Kind::Authorization | Kind::Cookie => !after.is_empty(),
        Kind::Parameter => tail(),
        Kind::Vague if PROTOCOLS.has(owner) => true,
        Kind::Vague | Kind::Password | Kind::Credential => tail() || HARMLESS_BEFORE.has(owner),
    }
}

/// Word boundaries: separators, a capital after a small letter, the last capital before a small letter (`APIKey`).
fn word_bounds(name: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let at = |index: usize| name.get(index).copied().unwrap_or(0);
    let mut start = 0;
    std::iter::from_fn(move || {
        while start < name.len() && !at(start).is_ascii_alphanumeric() {
            start += 1;
        }
        if start >= name.len() {
            return None;
        }
        let mut end = start + 1;
        while at(end).is_ascii_alphanumeric() {
            let rises = at(end).is_ascii_uppercase() && !at(end - 1).is_ascii_uppercase();
            let turns =
                at(end).is_ascii_uppercase() && at(end - 1).is_ascii_uppercase() && at(end + 1).is_ascii_lowercase();
            if rises || turns {
                break;
            }
            end += 1;
        }
        let bounds = (start, end);
        start = end;
        Some(bounds)
    })
}

/// `password2` is a password.
fn without_number(word: &[u8]) -> &[u8] {
    let letters = word.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(word.len(), |last| last + 1);
    word.get(..letters).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_in_every_spelling() {
        for (name, kind) in [
            ("DB_PASSWORD", Kind::Password),
            ("PGPASSWORD", Kind::Password),
            ("spring.datasource.password", Kind::Password),
            ("smtp_pass", Kind::Password),
            ("password2", Kind::Password),
            ("apiKey", Kind::Credential),
            ("OPENAI_API_KEY", Kind::Credential),
            ("X-Api-Key", Kind::Credential),
            ("APIKey", Kind::Credential),
            ("API_KEY_PROD", Kind::Credential),
            ("aws_secret_access_key", Kind::Credential),
            ("refresh_token", Kind::Credential),
            ("clientSecret", Kind::Credential),
            ("secret_value", Kind::Vague),
            ("_authToken", Kind::Credential),
            ("token", Kind::Vague),
            ("Set-Cookie", Kind::Cookie),
            ("Proxy-Authorization", Kind::Authorization),
            ("X-Amz-Signature", Kind::Parameter),
        ] {
            assert_eq!(classify(name.as_bytes()), Some(kind), "{name}");
        }
    }

    #[test]
    fn names_about_secrets_are_not_names_of_secrets() {
        for name in [
            "MAX_TOKENS",
            "max_token",
            "token_count",
            "tokenizer",
            "input_tokens",
            "pad_token",
            "password_min_length",
            "secretary",
            "TOKEN_URL",
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "PWD",
            "primary_key",
            "public_key",
            "monkey",
            "cache_key",
            "next_page_token",
            "author",
            "authorization_url",
            "cookie_name",
            "passwordless",
            "apiKeyName",
            "keyboard",
            "blockSignature",
        ] {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
