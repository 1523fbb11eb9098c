//! What is masked, what stays, and what stays whole around a mask.

use crate::fixtures::{Random, expand};
use crate::{Mode, find, mask, redact};

#[test]
fn code_mode_keeps_fixtures_and_finds_tokens() {
    for kept in [
        "\"apiKey\": \"test\"",
        "password = \"hunter2\"",
        "const MAX_TOKENS = 4096;",
        "token: \"test-token-1234567890\"",
        "postgres://user:pass@localhost/db",
        "secret := \"super-secret-value-1\"",
        "f\"postgres://{user}:{password}@{host}/db\"",
        "number = \"+14155552671\"",
    ] {
        assert!(find(kept, Mode::Code).is_empty(), "{kept}");
    }
    for template in [
        "let k = \"ghp_<a36>\";",
        "API_KEY = \"<h32>\"",
        "aws_secret_access_key = <b40>",
        "headers = {\"Authorization\": \"Bearer <a40>\"}",
        "postgres://app:<a20>@db/main",
    ] {
        let text = expand(template, 1);
        assert_eq!(find(&text, Mode::Code).len(), 1, "{text}");
    }
}

#[test]
fn what_looks_random_but_is_no_secret_stays() {
    for template in [
        "commit <h40>",
        "sha256:<h64>",
        "id: <h8>-<h4>-<h4>-<h4>-<h12>",
        "\"id\": \"toolu_01<a22>\"",
        "\"id\": \"call_<a24>\"",
        "\"signature\": \"<b400>\"",
        "data:image/png;base64,iVBORw0KGgo<b300>",
        "integrity sha512-<b86>==",
        "ETag: \"<h32>\"",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<a43> me@host",
        "go.sum h1:<b43>=",
        "msg_01<a22>",
        "req_<a24>",
        "\"prompt_cache_key\": \"<h8>\"",
    ] {
        for seed in 0..20 {
            let text = expand(template, seed);
            assert!(find(&text, Mode::Text).is_empty(), "{text} {:?}", find(&text, Mode::Text));
        }
    }
}

/// Secrets that people choose and secrets that machines make.
const SECRETS: [&str; 12] = [
    "<a20>",
    "<a32>",
    "<h32>",
    "<h64>",
    "<b40>",
    "sk-ant-api03-<w80>",
    "ghp_<a36>",
    "AKIA<u16>",
    "eyJ<a30>.eyJ<a60>.<w43>",
    "glpat-<w20>",
    "xoxb-<d12>-<d12>-<a24>",
    "<l10><d4>",
];

const CARRIERS: [&str; 16] = [
    "SERVICE_API_KEY={}",
    "export DB_PASSWORD=\"{}\"",
    "{\"access_token\": \"{}\", \"id\": 7}",
    "database:\n  password: {}\n  host: db",
    "Authorization: Bearer {}\r\nHost: example.org",
    "curl -H 'x-api-key: {}' https://example.org/v1",
    "https://example.org/cb?access_token={}&state=1",
    "const apiKey = \"{}\";",
    "2024-01-01 INFO login user=bob password={} ok=true",
    "{\"body\": \"{\\\"client_secret\\\": \\\"{}\\\"}\"}",
    "{\"a\": \"{\\\"b\\\": \\\"{\\\\\\\"password\\\\\\\": \\\\\\\"{}\\\\\\\"}\\\"}\"}",
    "{\"stdout\": \"HOME=/root\\nAPI_TOKEN={}\\nSHELL=/bin/sh\"}",
    "app.datasource.password={}",
    "<clientSecret>{}</clientSecret>",
    "tool --token {} --verbose",
    "Cookie: theme=dark; session={}; lang=en",
];

#[test]
fn five_hundred_generated_secrets_are_masked_in_every_carrier() {
    let mut count = 0;
    for seed in 0..3 {
        for secret in SECRETS {
            for notation in CARRIERS {
                let secret = expand(secret, seed);
                let text = notation.replace("{}", &secret);
                let masked = redact(&text, Mode::Text);
                assert!(!masked.contains(&secret), "{text}\n{masked}");
                let hidden = &secret[6..secret.len() - 4];
                assert!(!masked.contains(hidden), "{text}\n{masked}");
                if text.starts_with('{') {
                    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&masked);
                    assert!(parsed.is_ok(), "{masked}");
                }
                count += 1;
            }
        }
    }
    assert!(count >= 500, "{count}");
}

#[test]
fn quotes_and_structure_around_a_secret_stay() {
    for (template, expected) in [
        ("-H \"Authorization: Bearer <a12>\" -X", "-H \"Authorization: Bearer ***\" -X"),
        ("{\"password\":\"<a8>\",\"b\":1}", "{\"password\":\"***\",\"b\":1}"),
        ("{\"password\":\"<a4>\\\"<a4>\",\"b\":1}", "{\"password\":\"***\",\"b\":1}"),
        ("postgres://app:<a12>@db:5432/main\nnext@line", "postgres://app:***@db:5432/main\nnext@line"),
        ("Set-Cookie: sid=<a12>; Path=/; HttpOnly", "Set-Cookie: sid=***; Path=/; HttpOnly"),
        ("https://api.telegram.org/bot<d9>:B<w9>", ""),
        ("Endpoint=sb://x/;SharedAccessKey=<a12>;EntityPath=q", "Endpoint=sb://x/;SharedAccessKey=***;EntityPath=q"),
        ("git clone https://x-access-token:<a12>@example.org/a", "git clone https://x-access-token:***@example.org/a"),
        ("sshpass -p'<a9>' scp a b:", "sshpass -p'***' scp a b:"),
        ("SESSION_SECRET=<a12>\nPORT=8080\n", "SESSION_SECRET=***\nPORT=8080\n"),
        ("client_secret=<a12>&code=1", "client_secret=***&code=1"),
        ("password: '<a8>' # the old one", "password: '***' # the old one"),
        ("[\"-----BEGIN PRIVATE KEY-----\", \"<a64>\", \"-----END PRIVATE KEY-----\"]", "[\"[REDACTED PRIVATE KEY]\"]"),
    ] {
        let text = expand(template, 5);
        let expected = if expected.is_empty() { text.clone() } else { expected.to_owned() };
        assert_eq!(redact(&text, Mode::Text), expected);
    }
}

#[test]
fn a_text_without_secrets_is_borrowed() {
    assert!(matches!(redact("nothing to see", Mode::Text), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn the_mask_of_a_secret_never_holds_its_middle() {
    let mut dice = Random::new(3);
    for length in 18..80 {
        let secret = dice.letters(length);
        assert!(!mask(&secret).contains(&secret[6..length - 4]));
    }
}
