//! Decides from a name whether the value beside it is a secret, and of which kind.
//!
//! A name is read as words (`dbPassword`, `DB_PASSWORD` and `db.password` are the same two), because a part of a word
//! means nothing: a tokenizer holds no token, and `max_tokens` counts them.

use crate::rule::Rule;
use crate::rules;
use crate::words::{
    CODE_OWNERS, CREDENTIALS, CREDENTIALS_ALONE, HARMLESS_AFTER, HARMLESS_BEFORE, HARMLESS_BEFORE_KEY, KEY_OWNERS,
    PARAMETERS, PASSWORDS, PASSWORDS_AFTER, PASSWORDS_ALONE, PASSWORDS_PERHAPS, PROTOCOLS, TOKEN_OWNERS, TOKENS, VAGUE,
};

/// What a name promises about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// Chosen by people: may be short and may be a word.
    Password,
    /// A credential by its full name: `api_key`, `access_token`, `client_secret`.
    Credential,
    /// Perhaps a password: `pass`, `pin`, `github_pat`. The value has to look like one.
    Short,
    /// Perhaps a credential: `token`, `auth`, `session`. The value has to look like one.
    Vague,
    /// A key of some kind: only a long generated value is a secret.
    Key,
    /// Secret only as a parameter of a URL or a form: `code`, `sig`, `key`.
    Parameter,
}

/// Names longer than this are prose or data.
pub(crate) const LONGEST_NAME: usize = 72;
const MOST_WORDS: usize = 16;

/// Words for a password in scripts without capitals. The word ends the name; what follows it says something about it.
#[rustfmt::skip]
pub(crate) const FOREIGN: &[&str] = &[
    "contraseña", "hasło", "jelszó", "lösenord", "mật khẩu", "şifre", "Şifre", "κωδικός", "Κωδικός", "пароль", "Пароль", "ПАРОЛЬ", "סיסמה", "كلمة المرور", "รหัสผ่าน",
    "口令", "密码", "密碼", "暗証番号", "パスワード", "비밀번호", "암호",
];

/// Names that were classified. The same few names come up again and again.
#[derive(Debug)]
pub(crate) struct Names<'t> {
    last: [Option<Remembered<'t>>; REMEMBERED],
}

/// A name and what it was taken for.
type Remembered<'t> = (&'t [u8], Option<Named>);

/// What a name was taken for, and the rule that findings beside it belong to.
pub(crate) type Named = (NameKind, Option<&'static Rule>);

/// A power of two; more names than this are rarely in use at a time.
const REMEMBERED: usize = 64;

impl<'t> Names<'t> {
    pub(crate) fn new() -> Self {
        Self { last: [None; REMEMBERED] }
    }

    /// As [`classify`].
    pub(crate) fn classify(&mut self, name: &'t [u8]) -> Option<Named> {
        let place = usize::from(digest(name)) % REMEMBERED;
        let Some(place) = self.last.get_mut(place) else { return named(name) };
        match place {
            Some((known, verdict)) if *known == name => *verdict,
            _ => {
                let verdict = named(name);
                *place = Some((name, verdict));
                verdict
            }
        }
    }
}

/// Eight bytes at a time: names are long, and many of them are looked at.
fn digest(name: &[u8]) -> u16 {
    let mix = |digest: u64, bytes: u64| (digest.rotate_left(23) ^ bytes).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (chunks, rest) = name.as_chunks::<8>();
    let digest = chunks.iter().fold(name.len() as u64, |digest, chunk| mix(digest, u64::from_le_bytes(*chunk)));
    let rest = rest.iter().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
    (mix(digest, rest) >> 48) as u16
}

fn named(name: &[u8]) -> Option<Named> {
    classify(name).map(|(kind, word)| (kind, rules::names::rule_of(word)))
}

/// Splits a name into words and classifies it.
///
/// The last word that names a secret comes along: it tells which rule the finding belongs to.
pub(crate) fn classify(name: &[u8]) -> Option<(NameKind, &[u8])> {
    if !name.is_ascii() && FOREIGN.iter().any(|word| ends_with_form(name, word.as_bytes())) {
        return Some((NameKind::Password, name));
    }
    let mut words: [&[u8]; MOST_WORDS] = [&[]; MOST_WORDS];
    let mut count = 0;
    for (start, end) in word_bounds(name) {
        *words.get_mut(count)? = without_number(name.get(start..end)?);
        count += 1;
    }
    let words = words.get(..count)?;
    // The last secret word decides: in `secret_token_name` it is the token that has a name.
    let decide = |index: usize| {
        let (before, after) = (words.get(..index)?, words.get(index + 1..)?);
        let word = words.get(index)?;
        let kind = kind_of(word, before, after)?;
        Some((kind, *word, is_harmless(kind, before, after)))
    };
    let (kind, word, harmless) = (0..count).rev().find_map(decide)?;
    (!harmless).then_some((kind, word))
}

/// Whether a name ends with a word, or with a form of it that is a few letters longer.
fn ends_with_form(name: &[u8], word: &[u8]) -> bool {
    const LONGEST_ENDING: usize = 3;
    let endings = name.iter().rev().take(LONGEST_ENDING).take_while(|byte| byte.is_ascii_lowercase()).count();
    (0..=endings).any(|ending| {
        name.get(..name.len() - ending).is_some_and(|stem| {
            stem.len() >= word.len()
                && stem.get(stem.len() - word.len()..).is_some_and(|end| end.eq_ignore_ascii_case(word))
        })
    })
}

/// The shell keeps its directories under these names.
pub(crate) fn is_working_directory(name: &[u8]) -> bool {
    matches!(name, b"PWD" | b"OLDPWD" | b"pwd")
}

fn kind_of(word: &[u8], before: &[&[u8]], after: &[&[u8]]) -> Option<NameKind> {
    let owner = before.last().copied().unwrap_or_default();
    let second = [&b"word"[..], b"phrase", b"code"].iter().any(|half| word.eq_ignore_ascii_case(half));
    if second && owner.eq_ignore_ascii_case(b"pass") {
        return Some(NameKind::Password);
    }
    // The second half of a login at Vault; elsewhere the name of a secret.
    if word.eq_ignore_ascii_case(b"id") && owner.eq_ignore_ascii_case(b"secret") && after.is_empty() {
        return Some(NameKind::Key);
    }
    if word.eq_ignore_ascii_case(b"id") && owner.eq_ignore_ascii_case(b"session") && after.is_empty() {
        return Some(NameKind::Parameter);
    }
    if word.eq_ignore_ascii_case(b"code") && CODE_OWNERS.has(owner) {
        return Some(NameKind::Short);
    }
    if PASSWORDS.has_ending_of(word) || PASSWORDS_ALONE.has(word) {
        Some(NameKind::Password)
    } else if PASSWORDS_AFTER.has(word) && !before.is_empty() && after.is_empty() {
        Some(NameKind::Short)
    } else if PASSWORDS_PERHAPS.has(word) {
        Some(if before.is_empty() { NameKind::Short } else { NameKind::Password })
    } else if CREDENTIALS.has_ending_of(word) || CREDENTIALS_ALONE.has(word) || is_key(word) && KEY_OWNERS.has(owner) {
        Some(NameKind::Credential)
    } else if is_key(word) && !before.is_empty() {
        Some(NameKind::Key)
    } else if PARAMETERS.has(word)
        && after.is_empty()
        && (before.is_empty() || before.first().is_some_and(|first| first.eq_ignore_ascii_case(b"x")))
    {
        Some(NameKind::Parameter)
    } else if TOKENS.has_ending_of(word) && (TOKEN_OWNERS.has(owner) || word.len() > "token".len()) {
        Some(NameKind::Credential)
    } else {
        (TOKENS.has(word) || VAGUE.has(word)).then_some(NameKind::Vague)
    }
}

fn is_key(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"key") || word.eq_ignore_ascii_case(b"keys")
}

fn is_harmless(kind: NameKind, before: &[&[u8]], after: &[&[u8]]) -> bool {
    let owner = before.last().copied().unwrap_or_default();
    match kind {
        NameKind::Parameter => false,
        NameKind::Key if HARMLESS_BEFORE_KEY.has(owner) && !owner.eq_ignore_ascii_case(b"primary") => true,
        NameKind::Vague if PROTOCOLS.has(owner) => true,
        NameKind::Vague | NameKind::Key | NameKind::Short | NameKind::Password | NameKind::Credential => {
            after.iter().any(|word| HARMLESS_AFTER.has(word)) || HARMLESS_BEFORE.has(owner)
        }
    }
}

/// Word boundaries: separators, a capital after a small letter, the last capital before a small letter (`APIKey`).
fn word_bounds(name: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let at = |index: usize| name.get(index).copied().unwrap_or(0);
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let mut start = 0;
    std::iter::from_fn(move || {
        while start < name.len() && !inside(at(start)) {
            start += 1;
        }
        if start >= name.len() {
            return None;
        }
        let mut end = start + 1;
        while inside(at(end)) {
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
            ("DB_PASSWORD", NameKind::Password),
            ("PGPASSWORD", NameKind::Password),
            ("spring.datasource.password", NameKind::Password),
            ("smtp_pass", NameKind::Password),
            ("password2", NameKind::Password),
            ("MYSQL_PWD", NameKind::Password),
            ("GITHUB_PAT", NameKind::Short),
            ("psk", NameKind::Password),
            ("SSHPASS", NameKind::Password),
            ("contraseña", NameKind::Password),
            ("数据库密码", NameKind::Password),
            ("apiKey", NameKind::Credential),
            ("OPENAI_API_KEY", NameKind::Credential),
            ("X-Api-Key", NameKind::Credential),
            ("APIKey", NameKind::Credential),
            ("API_KEY_PROD", NameKind::Credential),
            ("aws_secret_access_key", NameKind::Credential),
            ("refresh_token", NameKind::Credential),
            ("clientSecret", NameKind::Credential),
            ("secret_value", NameKind::Credential),
            ("_authToken", NameKind::Credential),
            ("token", NameKind::Vague),
            ("X-Amz-Signature", NameKind::Parameter),
        ] {
            assert_eq!(classify(name.as_bytes()).map(|(kind, _)| kind), Some(kind), "{name}");
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
            "row_key",
            "public_key",
            "monkey",
            "cache_key",
            "next_page_token",
            "author",
            "passwordless",
            "apiKeyName",
            "keyboard",
            "blockSignature_count",
            "compass",
            "密码长度",
        ] {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
