//! Words that decide what a name or a value means.

use crate::redact::words::WordList;

// Names

/// Words for what people choose to log in, also at the end of a compound (`pgpassword`).
#[rustfmt::skip]
pub(crate) static PASSWORDS: WordList<5> = WordList::new([
    "passcode", "passphrase", "passwd", "password", "pwd",
]);

/// Short forms for a password: one only after another word, others as they are.
pub(crate) static PASS: WordList<1> = WordList::new(["pass"]);
pub(crate) static PASS_COMPOUNDS: WordList<2> = WordList::new(["dbpass", "userpass"]);

/// Single words that name a credential, also at the end of a compound without separators (`myapikey`).
#[rustfmt::skip]
pub(crate) static CREDENTIALS: WordList<20> = WordList::new([
    "accesskey", "accesstoken", "accountkey", "apikey", "apitoken", "authkey", "authtoken", "bottoken",
    "clientsecret", "encryptionkey", "idtoken", "jwttoken", "licensekey", "masterkey", "privatekey", "refreshtoken",
    "secretkey", "sessiontoken", "sharedkey", "signingkey",
]);

/// Words that are perhaps credentials, alone or at the end of a compound.
pub(crate) static TOKENS: WordList<2> = WordList::new(["secret", "token"]);
/// Words that are perhaps credentials, alone.
pub(crate) static VAGUE: WordList<6> = WordList::new(["auth", "bearer", "credential", "credentials", "creds", "jwt"]);
/// Before a vague word they name a protocol: `oauth_token_url`, `basic_auth`.
pub(crate) static PROTOCOLS: WordList<2> = WordList::new(["basic", "oauth"]);

/// Parameters of URLs and forms; with other words before them only in pre-signed URLs, after an `x`.
pub(crate) static PARAMETERS: WordList<5> = WordList::new(["code", "key", "sid", "sig", "signature"]);
pub(crate) static PRESIGNED: WordList<1> = WordList::new(["x"]);

/// Headers.
pub(crate) static AUTHORIZATION: WordList<1> = WordList::new(["authorization"]);
pub(crate) static COOKIE: WordList<1> = WordList::new(["cookie"]);

pub(crate) static KEY: WordList<1> = WordList::new(["key"]);
/// Words before `key` that make it a credential.
#[rustfmt::skip]
pub(crate) static KEY_OWNERS: WordList<69> = WordList::new([
    "access", "account", "admin", "aes", "algolia", "anthropic", "api", "app", "application", "auth", "aws", "azure",
    "bot", "cf", "cipher", "client", "cloudflare", "cohere", "consumer", "cookie", "crypto", "datadog", "dd",
    "decryption", "deploy", "deployment", "encryption", "firebase", "gcp", "gemini", "github", "gitlab", "google",
    "gpg", "groq", "heroku", "hmac", "ingest", "integration", "integrity", "jwt", "license", "mailgun", "management",
    "master", "mistral", "openai", "pagerduty", "private", "role", "secret", "sendgrid", "sentry", "server",
    "service", "session", "shared", "signing", "ssh", "ssl", "storage", "stripe", "subscription", "supabase", "tls",
    "twilio", "user", "webhook", "write",
]);

/// Words before `token` or `secret` that make it a credential.
#[rustfmt::skip]
pub(crate) static TOKEN_OWNERS: WordList<86> = WordList::new([
    "access", "account", "admin", "agent", "api", "app", "atlassian", "auth", "aws", "azure", "bearer", "bot", "cf",
    "circleci", "client", "cloudflare", "codecov", "consul", "consumer", "cookie", "csrf", "databricks", "deploy",
    "device", "digitalocean", "discord", "do", "docker", "dockerhub", "encryption", "fly", "gcp", "gh", "github",
    "gitlab", "google", "heroku", "hf", "hmac", "huggingface", "id", "jira", "jwt", "linear", "login", "master",
    "mfa", "netlify", "nomad", "notion", "npm", "oauth", "personal", "private", "pull", "push", "pypi", "railway",
    "refresh", "registration", "registry", "render", "replicate", "reset", "root", "secret", "security", "sentry",
    "service", "session", "shared", "signing", "slack", "sonar", "stripe", "supabase", "telegram", "totp", "twilio",
    "user", "vault", "vercel", "verification", "web", "webhook", "xsrf",
]);

/// Words before the secret one that turn it into something harmless: counts, special symbols of a vocabulary, pages.
#[rustfmt::skip]
pub(crate) static HARMLESS_BEFORE: WordList<69> = WordList::new([
    "avg", "bos", "budget", "by", "cached", "cancel", "cancellation", "cls", "completion", "context", "continuation",
    "count", "current", "design", "end", "eos", "est", "estimated", "first", "foreign", "forgot", "has", "hide",
    "idempotency", "input", "invalid", "is", "keyword", "last", "lexer", "mask", "max", "min", "missing", "n", "need",
    "needs", "next", "no", "num", "output", "pad", "page", "parser", "pass", "peek", "per", "prev", "primary",
    "prompt", "public", "reasoning", "remaining", "require", "requires", "sep", "show", "start", "stop", "sync",
    "syntax", "thinking", "total", "unk", "use", "used", "which", "with", "without",
]);

/// Words after the secret one that make the value something about the secret, not the secret.
#[rustfmt::skip]
pub(crate) static HARMLESS_AFTER: WordList<186> = WordList::new([
    "age", "alg", "algorithm", "arn", "array", "at", "attribute", "attributes", "audience", "auth", "authentication",
    "bits", "budget", "by", "bytes", "callback", "changed", "check", "checksum", "class", "client", "cmd", "color",
    "colors", "column", "command", "config", "cost", "count", "counter", "counts", "desc", "description", "detection",
    "digest", "dir", "disabled", "domain", "enabled", "end", "endpoint", "env", "error", "errors", "estimate",
    "estimator", "exists", "expiration", "expire", "expired", "expires", "expiry", "factory", "field", "fields",
    "file", "filename", "files", "fingerprint", "flag", "flags", "fn", "folder", "format", "func", "function",
    "handler", "hash", "hashed", "header", "headers", "help", "helper", "hint", "host", "id", "ids", "idx", "in",
    "index", "info", "issuer", "iterations", "kind", "label", "len", "length", "lifetime", "limit", "limits", "line",
    "list", "location", "login", "manager", "map", "mask", "masked", "masks", "max", "method", "min", "minute",
    "missing", "mode", "name", "names", "number", "offset", "option", "options", "out", "pair", "pairs", "param",
    "params", "path", "paths", "pattern", "patterns", "per", "placeholder", "policy", "port", "pos", "position",
    "prefix", "present", "price", "prompt", "provider", "providers", "range", "rate", "ratio", "redacted",
    "redaction", "ref", "reference", "regex", "request", "required", "reset", "response", "review", "rotation",
    "scanner", "scope", "scopes", "score", "second", "service", "set", "size", "sock", "socket", "source", "span",
    "spans", "start", "state", "status", "stdin", "store", "strategy", "stream", "strength", "suffix", "supported",
    "text", "threshold", "thumbprint", "total", "ttl", "type", "types", "uri", "url", "urls", "usage", "used",
    "userdata", "valid", "var", "version", "window",
]);

// Values

/// Values that stand for "something goes here" or for a type. Compared without case.
#[rustfmt::skip]
pub(crate) static STAND_INS: WordList<105> = WordList::new([
    "abc", "abcd", "allow", "any", "api-key", "api_key", "apikey", "auto", "bar", "basic", "baz", "bearer", "bool",
    "boolean", "bytes", "change-me", "change_me", "changeit", "changeme", "default", "deny", "disabled", "dummy",
    "empty", "enabled", "env", "error", "example", "expired", "failed", "fake", "false", "float", "foo", "foobar",
    "forbid", "hidden", "include", "inherit", "int", "integer", "invalid", "key", "list", "map", "masked", "missing",
    "mock", "never", "nil", "no", "none", "not-set", "not_set", "null", "number", "object", "off", "ok", "omit", "on",
    "option", "optional", "pass", "passphrase", "passwd", "password", "placeholder", "present", "prompt", "provided",
    "pwd", "qux", "read", "redacted", "removed", "required", "same-origin", "sample", "secret", "secrets", "set",
    "some", "str", "string", "tbd", "test", "testing", "text", "todo", "token", "tokens", "true", "type", "undefined",
    "unknown", "unset", "user", "username", "value", "varchar", "void", "warn", "write", "yes",
]);

/// Words that give a placeholder away when they stand at its start, at its end, or between separators.
#[rustfmt::skip]
pub(crate) static GIVEAWAYS: WordList<17> = WordList::new([
    "changeme", "dummy", "example", "fake", "fixme", "here", "hidden", "insert", "masked", "mock", "omitted",
    "placeholder", "redacted", "replace", "sample", "todo", "your",
]);

/// Words that occur in sentences and labels about secrets.
#[rustfmt::skip]
pub(crate) static TELLING: WordList<38> = WordList::new([
    "a", "an", "and", "are", "at", "be", "cannot", "enter", "for", "forgot", "if", "in", "invalid", "is", "key",
    "must", "new", "no", "not", "of", "or", "password", "please", "provide", "reset", "secret", "should", "the",
    "this", "to", "token", "too", "use", "was", "with", "wrong", "you", "your",
]);

/// Words that mark a fixture in source code.
#[rustfmt::skip]
pub(crate) static FIXTURE_WORDS: WordList<26> = WordList::new([
    "abc", "bar", "dummy", "example", "fake", "fixture", "foo", "hunter2", "invalid", "key", "mock", "my", "new",
    "old", "password", "sample", "secret", "stub", "super", "test", "testing", "tests", "token", "user", "valid",
    "wrong",
]);
