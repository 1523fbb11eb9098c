//! Redaction: made-up secrets as they appear in tool outputs, and harmless texts that look alike.
//!
//! Both lists were written for this comparison from what tools print, by an author who had seen notes on Hermes's redaction and some shapes of
//! [`crate::redact::sets`], but the rules of neither. Secrets are filled in when the
//! program runs ([`crate::redact::sets`] has the form). A secret leaks when more of it can be read than a mask shows; a harmless text is a
//! false alarm when it is changed at all.

use super::driver::{Driver, Reply};
use crate::Failure;
use crate::redact::sets::{Shape, shows};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a redaction does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Redaction {
    /// Texts with a secret that can be read afterwards.
    pub leaks: u64,
    /// Texts with a secret.
    pub secrets: u64,
    /// Harmless texts that were changed.
    pub alarms: u64,
    /// Harmless texts.
    pub harmless: u64,
    /// The first words of texts that leaked; nothing of their secrets.
    pub leaked: Vec<String>,
    /// Harmless texts that were changed.
    pub alarmed: Vec<String>,
}

/// One text, with what must not be readable afterwards.
pub struct Text {
    template: &'static str,
    shape: Shape,
}

/// All texts.
pub fn texts() -> Vec<Text> {
    let templates = SECRETS.iter().chain(HARMLESS).zip(0..);
    templates.map(|(&template, at)| Text { template, shape: Shape::new("", template, 7_000_000 + 31 * at) }).collect()
}

/// What a peer's redaction does with the texts; `None` if it has none.
pub fn trial(driver: &mut Driver, texts: &[Text]) -> Result<Option<Redaction>, Failure> {
    let sent: Vec<&str> = texts.iter().map(|text| text.shape.text.as_str()).collect();
    let Reply::Done(answer) = driver.ask(&json!({"do": "redact", "texts": sent}))? else {
        return Ok(None);
    };
    let masked = answer["texts"].as_array().filter(|masked| masked.len() == texts.len());
    let masked = masked.ok_or("the driver answered another number of texts")?;
    Ok(Some(judge(texts, masked)))
}

fn judge(texts: &[Text], masked: &[Value]) -> Redaction {
    let mut sum = Redaction::default();
    for (text, masked) in texts.iter().zip(masked) {
        let masked = masked.as_str().unwrap_or_default();
        let shape = &text.shape;
        if shape.secrets.is_empty() {
            sum.harmless += 1;
            if masked.trim_end() != shape.text.trim_end() {
                sum.alarms += 1;
                sum.alarmed.push(text.template.to_owned());
            }
            continue;
        }
        sum.secrets += 1;
        if shape.secrets.iter().any(|secret| shows(masked, secret)) {
            sum.leaks += 1;
            sum.leaked.push(text.template.to_owned());
        }
    }
    sum
}

/// As tools print them: settings, logs, requests, code, prose.
const SECRETS: &[&str] = &[
    "OPENAI_API_KEY=«sk-proj-<w48>»",
    "export ANTHROPIC_API_KEY=\"«sk-ant-api03-<w93>»\"",
    "GITHUB_TOKEN=«ghp_<a36>»",
    "remote: https://x-access-token:«ghs_<a36>»@github.com/acme/shop.git (fetch)",
    "aws_access_key_id = AKIA<u16>\naws_secret_access_key = «<b40>»",
    "AWS_SESSION_TOKEN=«<b120>»",
    "DATABASE_URL=postgres://shop:«<a18>»@db.internal:5432/shop",
    "redis://default:«<a24>»@cache-01.internal:6379/0",
    "mongodb+srv://admin:«<a16>»@cluster0.example.net/test?retryWrites=true",
    "amqp://worker:«<a14>»@rabbit:5672/%2f",
    "  password: «<a12>»\n  username: shop",
    "spring.datasource.password=«<a16>»",
    "{\"client_id\": \"web\", \"client_secret\": \"«<w40>»\"}",
    "{\"access_token\":\"«<w64>»\",\"token_type\":\"Bearer\",\"expires_in\":3600}",
    "> Authorization: Bearer «<w48>»",
    "> Authorization: Basic «<b44>»",
    "curl -H 'X-Api-Key: «<a32>»' https://api.example.com/v1/orders",
    "curl -u deploy:«<a20>» https://ci.example.com/job/42/build",
    "curl 'https://maps.example.com/geocode?address=Berlin&key=«AIza<w35>»'",
    "GET /callback?code=«<w43>»&state=xyz HTTP/1.1",
    "Set-Cookie: session=«<w64>»; HttpOnly; Secure",
    "Cookie: sid=«<h40>»; theme=dark",
    "SLACK_BOT_TOKEN=xoxb-«<d12>-<d12>-<a24>»",
    "posting to https://hooks.slack.com/services/T<u8>/B<u8>/«<a24>»",
    "STRIPE_SECRET=«sk_live_<a24>»",
    "stripe: webhook secret is «whsec_<a32>»",
    "SENDGRID_API_KEY=«SG.<w22>.<w43>»",
    "TWILIO_AUTH_TOKEN=«<h32>»",
    "npm config: //npm.example.org/:_authToken=«npm_<a36>»",
    "[pypi]\nusername = __token__\npassword = «pypi-AgEIcHlwaS5vcmc<w80>»",
    "-----BEGIN RSA PRIVATE KEY-----\n«<b64>\n<b64>»\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n«<b70>\n<b70>»",
    "token: «eyJ<w30>.eyJ<w60>.<w43>»",
    "JWT_SECRET=«<a48>»",
    "SECRET_KEY = '«<a50>»'",
    "db = connect(host=\"db\", user=\"app\", password=\"«<a14>»\")",
    "const apiKey = \"«<a40>»\";",
    "DOCKER_AUTH_CONFIG={\"auths\":{\"registry.example.com\":{\"auth\":\"«<b40>»\"}}}",
    "machine api.example.com login bot password «<a22>»",
    "AccountKey=«<b86>==»;EndpointSuffix=core.windows.net",
    "telegram bot token «<d10>:AA<w33>»",
    "DISCORD_TOKEN=«<w24>.<w6>.<w38>»",
    "HF_TOKEN=«hf_<a34>»",
    "vault login «hvs.<w90>»",
    "DIGITALOCEAN_TOKEN=«dop_v1_<h64>»",
    "sshpass -p '«<a12>»' ssh root@10.0.0.4",
    "mysql -u root -p«<a12>» shop < dump.sql",
    "psql: connecting with PGPASSWORD=«<a16>»",
    "The password for the staging account is «<a14>», please do not share it.",
    "my api key: «<a32>»",
    "[2026-05-04 10:11:12] WARN login failed for user=admin password=«<a11>»",
    "2026-05-04T10:11:12Z DEBUG request headers={\"authorization\": \"Bearer «<w40>»\"}",
    "      - name: API_TOKEN\n        value: «<a40>»",
    "<add key=\"SmtpPassword\" value=\"«<a16>»\" />",
    "--token=«<a40>» --cluster prod",
    "ENV REDIS_PASSWORD «<a20>»",
    "+  encryption_key: \"«<b44>»\"",
    "sentry dsn https://«<h32>»@o1234.ingest.sentry.example/42",
    "otpauth://totp/Acme:ann?secret=«<u32>»&issuer=Acme",
    "x-goog-api-key: «AIza<w35>»",
];

/// Looks like a secret, and is none.
const HARMLESS: &[&str] = &[
    "commit 3f9a0c51d2e7b8a4c6f1e0d9b7a5c3e1f2d4b6a8",
    "index 3f9a0c51d2e7..b8a4c6f1e0d9 100644",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
    "request_id=550e8400-e29b-41d4-a716-446655440000",
    "trace_id: 4bf92f3577b34da6a3ce929d0e0e4736 span_id: 00f067aa0ba902b7",
    "password = getpass.getpass()",
    "password: str = Field(min_length=12)",
    "def reset_password(user, token):",
    "if token != expected_token:",
    "const token = await getToken(session);",
    "api_key=os.environ[\"OPENAI_API_KEY\"]",
    "api_key: ${API_KEY}",
    "password: {{ vault_db_password }}",
    "SECRET_KEY=",
    "DATABASE_URL=postgres://localhost:5432/test",
    "  --token TOKEN  access token (default: none)",
    "Authorization: Bearer <token>",
    "curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com",
    "max_tokens=4096 prompt_tokens=1200 completion_tokens=310",
    "\"max_tokens\": 8192, \"total_tokens\": 120334",
    "tokens: 12345 → 678",
    "cache_key = f\"{user_id}:{page}\"",
    "primary_key=True, foreign_key='orders.id'",
    "key=lambda item: item.created_at",
    "KeyError: 'client_secret'",
    "AuthenticationError: invalid api key provided",
    "test_password_is_hashed PASSED",
    "tests/auth/test_token_refresh.py::test_expired_token_is_refused PASSED [ 42%]",
    "src/auth/password_reset.rs:118:13: unused variable: `token`",
    "the secret ingredient is patience",
    "She passed the token ring exam and keyed in the results.",
    "Bearer of bad news: the build failed again",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "arn:aws:iam::123456789012:role/deploy-production",
    "https://example.com/docs/authentication#api-keys",
    "https://github.com/acme/shop/commit/3f9a0c51d2e7b8a4c6f1e0d9b7a5c3e1f2d4b6a8",
    "GET /v1/orders?page=2&sort=created_at&token_type=refresh HTTP/1.1\" 200",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJf0mV3x1c2p6r8t5u4w3y2z1a0b9c8d7e6f5g4h3i2j ann@laptop",
    "-----BEGIN CERTIFICATE-----",
    "0x7ffd9a3c5b10 in std::collections::HashMap::insert ()",
    "libssl.so.3 => /lib/x86_64-linux-gnu/libssl.so.3 (0x00007f3e5c2d1000)",
    "checksum = \"b4496b89bb4a0d8d4e0b6a8a2c3d1b8b2e0b2b1a7e5e0f1b2c3d4e5f60718293\"",
    "etag: W/\"5f3c-Qm9vYmFyMTIzNDU2Nzg5MA\"",
    "order 4111-2026-000017 was paid with card ending in 4242",
    "version = \"1.0.0-rc.1+build.20260504\"",
    "user=ann role=admin mfa=true session_timeout=3600",
    "pwd\n/srv/shop",
    "auth: none",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaks_and_false_alarms_are_counted() {
        let texts = texts();
        let untouched: Vec<Value> = texts.iter().map(|text| json!(text.shape.text)).collect();
        let none = judge(&texts, &untouched);
        assert_eq!((none.leaks, none.alarms), (none.secrets, 0));
        assert_eq!((none.secrets, none.harmless), (SECRETS.len() as u64, HARMLESS.len() as u64));
        let blanked: Vec<Value> = texts.iter().map(|_| json!("***")).collect();
        let all = judge(&texts, &blanked);
        assert_eq!((all.leaks, all.alarms), (0, all.harmless));
    }
}
