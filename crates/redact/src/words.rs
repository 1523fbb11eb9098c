//! Words that decide what a name or a value means.
//!
//! Lists are in small letters and in order, which a test checks; a look-up is a binary search.

/// Whether a list holds a word, whatever its case.
pub(crate) fn holds(list: &[&str], word: &[u8]) -> bool {
    list.binary_search_by(|listed| {
        let pairs = listed.bytes().zip(word.iter().map(u8::to_ascii_lowercase));
        pairs.map(|(one, other)| one.cmp(&other)).find(|order| order.is_ne()).unwrap_or(listed.len().cmp(&word.len()))
    })
    .is_ok()
}

/// Whether a word ends as one of a list does.
pub(crate) fn holds_ending(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|ending| {
        let start = word.len().checked_sub(ending.len());
        start.and_then(|start| word.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(ending.as_bytes()))
    })
}

// Names

/// Words for what people choose to log in, also at the end of a compound (`pgpassword`).
#[rustfmt::skip]
pub(crate) const PASSWORDS: &[&str] = &[
    "adgangskode", "contrasena", "geslo", "heslo", "jelszo", "kennwort", "lozinka", "motdepasse", "parola", "passcode",
    "passphrase", "passwd", "password", "passwort", "passwrd", "passwrt", "psswd", "pwd", "salasana", "senha", "sifre",
    "wachtwoord",
];
/// Short forms: as they are.
#[rustfmt::skip]
pub(crate) const PASSWORDS_ALONE: &[&str] = &[
    "adminpass", "clave", "dbpass", "dbpw", "haslo", "hasło", "keypass", "losenord", "mdp", "passe", "passw", "psk", "pswd",
    "pw", "requirepass", "rootpass", "rootpw", "sshpass", "storepass", "userpass", "userpw",
];
/// Short forms that mean a password only after another word.
pub(crate) const PASSWORDS_AFTER: &[&str] = &["pass", "passes", "pat", "pin"];

/// Single words that name a credential, also at the end of a compound without separators (`myapikey`).
#[rustfmt::skip]
pub(crate) const CREDENTIALS: &[&str] = &[
    "accesskey", "accesstoken", "accountkey", "apikey", "apisecret", "apitoken", "appsecret", "authkey", "authtoken",
    "bearertoken", "bottoken", "clientkey", "clientsecret", "connectionstring", "connstr", "encryptionkey", "idtoken",
    "jwttoken", "licencekey", "licensekey", "masterkey", "privatekey", "privkey", "refreshtoken", "secretaccesskey",
    "secretkey", "sessiontoken", "sharedkey", "signingkey", "signingsecret", "userkey", "webhooksecret",
];
/// Credentials as single words.
#[rustfmt::skip]
pub(crate) const CREDENTIALS_ALONE: &[&str] = &[
    "credential", "credentials", "creds", "jwt", "mnemonic", "otp", "privkey", "secret", "secrets", "seedphrase",
    "totp",
];

/// Words that are perhaps credentials, alone or at the end of a compound.
pub(crate) const TOKENS: &[&str] = &["token"];
/// Words that are perhaps credentials, alone.
pub(crate) const VAGUE: &[&str] = &["auth", "bearer", "session", "sessionid"];
/// Before a vague word they name a protocol: `basic_auth`.
pub(crate) const PROTOCOLS: &[&str] = &["basic", "oauth"];

/// Parameters of URLs and forms; with other words before them only in pre-signed URLs, after an `x`.
#[rustfmt::skip]
pub(crate) const PARAMETERS: &[&str] = &[
    "access", "assertion", "code", "key", "nonce", "pass", "pw", "sid", "sig", "signature", "state", "ticket",
];

/// Words before `key` that make it a credential.
#[rustfmt::skip]
pub(crate) const KEY_OWNERS: &[&str] = &[
    "access", "account", "admin", "aes", "airtable", "algolia", "amplitude", "anthropic", "api", "app", "application",
    "auth", "aws", "azure", "backup", "bot", "cf", "cipher", "client", "cloudflare", "cohere", "consumer", "cookie",
    "crypto", "data", "datadog", "db", "dd", "decrypt", "decryption", "deepl", "deploy", "deployment", "django",
    "elastic", "elasticsearch", "encrypt", "encryption", "fastly", "firebase", "gcp", "gemini", "github", "gitlab",
    "google", "gpg", "groq", "heroku", "hmac", "honeycomb", "ingest", "instrumentation", "integration", "jwt",
    "launchdarkly", "licence", "license", "linear", "mailchimp", "mailgun", "management", "maps", "master", "mistral",
    "newrelic", "notion", "openai", "pagerduty", "plaid", "private", "recaptcha", "recovery", "resend", "role",
    "secret", "segment", "sendgrid", "sentry", "server", "service", "session", "shared", "signing", "sonar", "ssh",
    "ssl", "storage", "stripe", "subscription", "supabase", "tavily", "tls", "twilio", "typesense", "unlock", "user",
    "vault", "vonage", "webhook", "wrapping", "write", "xai",
];

/// Words before `token` that make it a credential whatever the value looks like.
#[rustfmt::skip]
pub(crate) const TOKEN_OWNERS: &[&str] = &[
    "access", "account", "admin", "agent", "api", "app", "atlassian", "auth", "aws", "azure", "bearer", "bot", "cf",
    "circleci", "client", "cloudflare", "codecov", "consul", "csrf", "databricks", "deploy", "device", "digitalocean",
    "discord", "do", "docker", "dockerhub", "fly", "gcp", "gh", "github", "gitlab", "google", "grafana", "heroku",
    "hf", "huggingface", "id", "jira", "jwt", "kube", "linear", "login", "mfa", "netlify", "nomad", "notion", "npm",
    "oauth", "personal", "private", "pull", "push", "pypi", "railway", "refresh", "registration", "registry", "render",
    "replicate", "reset", "root", "runner", "secret", "security", "sentry", "service", "session", "slack", "sonar",
    "stripe", "supabase", "telegram", "twilio", "user", "vault", "vercel", "verification", "web", "webhook", "xsrf",
];

/// Words before the secret one that turn it into something harmless: counts, special symbols of a vocabulary, pages.
#[rustfmt::skip]
pub(crate) const HARMLESS_BEFORE: &[&str] = &[
    "allow", "avg", "bos", "budget", "by", "cached", "can", "cancel", "cancellation", "check", "cls", "completion",
    "context", "continuation", "count", "current", "design", "disable", "enable", "end", "eos", "est", "estimated",
    "first", "foreign", "forgot", "has", "have", "hide", "idempotency", "ignore", "input", "invalid", "is", "keyword",
    "last", "lexer", "mask", "max", "min", "missing", "n", "need", "needs", "next", "no", "num", "output", "pad",
    "page", "parser", "peek", "per", "prev", "primary", "prompt", "public", "reasoning", "remaining", "require",
    "requires", "sep", "show", "sort", "start", "stop", "sync", "syntax", "thinking", "total", "unk", "use", "used",
    "uses", "valid", "validate", "verify", "which", "with", "without",
];

/// Words after the secret one that make the value something about the secret, not the secret.
#[rustfmt::skip]
pub(crate) const HARMLESS_AFTER: &[&str] = &[
    "action", "age", "alg", "algorithm", "arn", "array", "at", "attempts", "attribute", "attributes", "audience",
    "auth", "authentication", "bits", "budget", "by", "bytes", "cache", "callback", "change", "changed", "char",
    "chars", "check", "checksum", "class", "client", "cmd", "col", "color", "colors", "column", "columns", "command",
    "config", "confirmation", "cost", "count", "counter", "counts", "created", "date", "desc", "description",
    "detection", "digest", "dir", "directory", "disabled", "domain", "enabled", "end", "endpoint", "entropy", "env",
    "error", "errors", "estimate", "estimator", "exists", "expiration", "expire", "expired", "expires", "expiry",
    "factory", "field", "fields", "file", "filename", "files", "fingerprint", "flag", "flags", "fn", "folder",
    "format", "func", "function", "generator", "group", "handle", "handler", "header", "headers", "help", "helper",
    "hint", "history", "host", "id", "ids", "idx", "in", "index", "info", "input", "issuer", "iterations", "kind",
    "label", "len", "length", "lengths", "level", "lifetime", "limit", "limits", "line", "link", "list", "location",
    "login", "manager", "map", "mask", "masked", "masks", "max", "message", "method", "min", "minute", "minutes",
    "missing", "mode", "name", "named", "names", "number", "offset", "option", "options", "out", "pair", "pairs",
    "param", "params", "path", "paths", "pattern", "patterns", "per", "placeholder", "policies", "policy", "port",
    "pos", "position", "prefix", "present", "price", "prompt", "protected", "provider", "providers", "range", "rate",
    "ratio", "reader", "recovery", "redacted", "redaction", "ref", "reference", "regex", "request", "required",
    "requirements", "reset", "response", "retries", "review", "rotation", "rule", "rules", "scanner", "scope",
    "scopes", "score", "second", "seconds", "selector", "service", "set", "settings", "size", "sizes", "sock",
    "socket", "source", "span", "spans", "start", "state", "status", "stdin", "store", "strategy", "stream",
    "strength", "suffix", "support", "supported", "table", "tag", "template", "text", "threshold", "thumbprint",
    "time", "timeout", "timestamp", "title", "total", "ttl", "type", "types", "uri", "url", "urls", "usage", "used",
    "userdata", "valid", "validation", "validator", "validity", "var", "variable", "version", "visible", "window",
    "writer",
];

// Values

/// Values that stand for "something goes here", for a type, a state or a choice. Compared without case.
#[rustfmt::skip]
pub(crate) const STAND_INS: &[&str] = &[
    "abc", "abcd", "accepted", "allow", "any", "anything", "api-key", "api_key", "apikey", "auto", "bar", "basic",
    "baz", "bearer", "blank", "bool", "boolean", "bytes", "change-me", "change_me", "changed", "changeit", "changeme",
    "confirmed", "credentials", "default", "denied", "deny", "disabled", "dummy", "dynamic", "empty", "enabled",
    "encrypted", "env", "error", "example", "expired", "failed", "fake", "false", "float", "foo", "foobar", "forbid",
    "generated", "hashed", "hidden", "include", "incorrect", "inherit", "int", "integer", "invalid", "key", "list",
    "local", "map", "masked", "missing", "mock", "n/a", "na", "never", "nil", "no", "none", "not-set", "not_set",
    "null", "number", "oauth", "oauth2", "object", "off", "ok", "omit", "omitted", "on", "option", "optional", "pass",
    "passphrase", "passwd", "password", "placeholder", "plain", "plaintext", "present", "prompt", "protected",
    "provided", "pwd", "qux", "random", "read", "readonly", "redacted", "rejected", "removed", "required",
    "same-origin", "sample", "secret", "secrets", "sensitive", "session", "set", "some", "something", "static", "str",
    "string", "strong", "success", "tbd", "test", "testing", "text", "todo", "token", "tokens", "true", "type",
    "undefined", "unknown", "unset", "updated", "user", "username", "valid", "value", "varchar", "void", "warn",
    "weak", "write", "wrong", "yes",
];

/// Words that give a placeholder away when they stand between separators.
#[rustfmt::skip]
pub(crate) const GIVEAWAYS: &[&str] = &[
    "changeme", "dummy", "example", "fake", "fixme", "goes", "here", "hidden", "insert", "masked", "mock", "omitted",
    "placeholder", "redacted", "replace", "replaceme", "sample", "todo", "your", "yours",
];

/// Words that occur in sentences and labels about secrets.
#[rustfmt::skip]
pub(crate) const TELLING: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "cannot", "confirm", "could", "does", "enter", "expected",
    "failed", "for", "forgot", "from", "has", "if", "in", "incorrect", "invalid", "is", "it", "key", "missing", "must",
    "new", "no", "not", "of", "on", "or", "password", "passwords", "please", "provide", "required", "reset", "secret",
    "should", "that", "the", "this", "to", "token", "too", "unable", "use", "was", "were", "when", "will", "with",
    "wrong", "you", "your",
];

/// Words that mark a fixture in source code.
#[rustfmt::skip]
pub(crate) const FIXTURE_WORDS: &[&str] = &[
    "abc", "bar", "dummy", "example", "fake", "fixture", "foo", "hunter2", "invalid", "key", "mock", "my", "new",
    "old", "password", "sample", "secret", "stub", "super", "test", "testing", "tests", "token", "user", "valid",
    "wrong",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order() {
        for list in [KEY_OWNERS, TOKEN_OWNERS, HARMLESS_BEFORE, HARMLESS_AFTER, STAND_INS, GIVEAWAYS, TELLING, FIXTURE_WORDS, VAGUE, PARAMETERS, PASSWORDS_ALONE, PASSWORDS_AFTER, CREDENTIALS_ALONE, PROTOCOLS] {
            for pair in list.windows(2) {
                assert!(pair[0] < pair[1], "{} before {}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn look_ups_ignore_case() {
        assert!(holds(STAND_INS, b"ChangeMe") && !holds(STAND_INS, b"change") && !holds(STAND_INS, b""));
        assert!(holds_ending(PASSWORDS, b"PGPASSWORD") && !holds_ending(PASSWORDS, b"word"));
    }
}
