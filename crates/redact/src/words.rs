//! Words that decide what a name or a value means.

/// A list of words, packed into numbers when the program is compiled: a look-up is a few comparisons of numbers.
pub(crate) struct Words<const N: usize> {
    /// In order.
    packed: [u128; N],
    /// Which bytes of a number belong to its word.
    masks: [u128; N],
    /// The last letters of all words, a bit each.
    last: u32,
    /// The first letters of the words of each length, a bit each: most look-ups end here.
    first: [u32; LONGEST + 1],
}

/// A number has room for this many letters.
const LONGEST: usize = 16;

impl<const N: usize> Words<N> {
    pub(crate) const fn new(words: [&str; N]) -> Self {
        let mut list = Self { packed: [0; N], masks: [0; N], last: 0, first: [0; LONGEST + 1] };
        let mut count = 0;
        while count < N {
            let word = pack(words[count]);
            let (letters, length) = (words[count].as_bytes(), words[count].len());
            list.last |= letter(letters[length - 1]);
            list.first[length] |= letter(letters[0]);
            let mut place = count;
            while place > 0 && list.packed[place - 1] > word {
                list.packed[place] = list.packed[place - 1];
                place -= 1;
            }
            list.packed[place] = word;
            count += 1;
        }
        while count > 0 {
            count -= 1;
            list.masks[count] = u128::MAX >> (list.packed[count].leading_zeros() / 8 * 8);
        }
        list
    }

    /// Whether the list holds a word, whatever its case.
    pub(crate) fn has(&self, word: &[u8]) -> bool {
        let (Some(&first), Some(&last)) = (word.first(), word.last()) else { return false };
        let possible = self.first.get(word.len()).is_some_and(|letters| letters & letter(first) != 0);
        possible && self.last & letter(last) != 0 && self.packed.binary_search(&folded(word)).is_ok()
    }

    /// Whether a word ends as one of the list does.
    pub(crate) fn has_ending_of(&self, word: &[u8]) -> bool {
        if word.last().is_none_or(|&last| self.last & letter(last) == 0) {
            return false;
        }
        let packed = folded(word);
        self.packed.iter().zip(&self.masks).any(|(ending, mask)| (packed ^ ending) & mask == 0)
    }
}

/// The bit of a letter, whatever its case. Digits and dashes share those of letters.
const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}

const fn pack(word: &str) -> u128 {
    let bytes = word.as_bytes();
    assert!(!bytes.is_empty() && bytes.len() <= LONGEST, "a listed word has 1 to 16 letters");
    let mut packed = 0;
    let mut index = 0;
    while index < bytes.len() {
        packed = packed << 8 | bytes[index] as u128;
        index += 1;
    }
    packed
}

/// The last letters of a word, in small letters.
fn folded(word: &[u8]) -> u128 {
    let tail = word.get(word.len().saturating_sub(LONGEST)..).unwrap_or_default();
    tail.iter().fold(0, |packed, byte| packed << 8 | u128::from(byte.to_ascii_lowercase()))
}

/// Declares a list of words.
macro_rules! words {
    ($(#[$about:meta])* $visibility:vis $name:ident = [$($word:literal),* $(,)?]) => {
        $(#[$about])*
        $visibility static $name: $crate::words::Words<{ [$($word),*].len() }> = $crate::words::Words::new([$($word),*]);
    };
}
pub(crate) use words;

// Names

words! {
    /// Words for what people choose to log in, also at the end of a compound (`pgpassword`).
    pub(crate) PASSWORDS = [
        "adgangskode", "contrasena", "geslo", "heslo", "jelszo", "kennwort", "lozinka", "motdepasse", "parola",
        "passcode", "passphrase", "passwd", "password", "passwords", "passwort", "passwrd", "passwrt", "psswd", "pwd",
        "salasana", "senha", "sifre", "wachtwoord",
    ]
}
words! {
    /// Short forms: as they are.
    pub(crate) PASSWORDS_ALONE = [
        "adminpass", "clave", "dbpass", "dbpw", "haslo", "hasło", "keypass", "losenord", "mdp", "mnemonic", "passe",
        "passw", "psk", "pswd", "pw", "requirepass", "rootpass", "rootpw", "sandi", "seedphrase", "sshpass",
        "storepass", "userpass", "userpw",
    ]
}
words! {
    /// Words before `code` that make it something to log in with.
    pub(crate) CODE_OWNERS = [
        "2fa", "access", "activation", "auth", "backup", "confirmation", "device", "invitation", "invite", "login", "mfa",
        "otp", "pin", "recovery", "reset", "security", "sms", "verification", "verify",
    ]
}
words! {
    /// Words that have many meanings: alone, the value has to look like a password.
    pub(crate) PASSWORDS_PERHAPS = [
        "otp", "pass", "pin", "totp",
    ]
}
words! {
    /// Short forms that mean a password only after another word.
    pub(crate) PASSWORDS_AFTER = [
        "pat",
    ]
}

words! {
    /// Single words that name a credential, also at the end of a compound without separators (`myapikey`).
    pub(crate) CREDENTIALS = [
        "accesskey", "accesstoken", "accountkey", "apikey", "apikeys", "apisecret", "apitoken", "appsecret", "authkey",
        "authtoken", "bearertoken", "bottoken", "clientkey", "clientsecret", "connectionstring", "connstr",
        "encryptionkey", "idtoken", "jwttoken", "licencekey", "licensekey", "masterkey", "privatekey", "privkey",
        "refreshtoken", "secretaccesskey", "secretkey", "sessiontoken", "sharedkey", "signingkey", "signingsecret",
        "userkey", "webhooksecret",
    ]
}
words! {
    /// Credentials as single words.
    pub(crate) CREDENTIALS_ALONE = [
        "credential", "credentials", "creds", "jwt", "privkey", "secret", "secrets", "verifier",
    ]
}

words! {
    /// Words that are perhaps credentials, alone or at the end of a compound.
    pub(crate) TOKENS = [
        "token",
    ]
}
words! {
    /// Words that are perhaps credentials, alone.
    pub(crate) VAGUE = [
        "auth", "bearer", "jsessionid", "phpsessid", "pepper", "salt", "seed", "sessid", "session", "sessionid",
    ]
}
words! {
    /// Before a vague word they name a protocol: `basic_auth`.
    pub(crate) PROTOCOLS = [
        "basic", "oauth",
    ]
}

words! {
    /// Parameters of URLs and forms; with other words before them only in pre-signed URLs, after an `x`.
    pub(crate) PARAMETERS = [
        "access", "appid", "assertion", "code", "key", "nonce", "pass", "passkey", "pw", "samlresponse", "sid", "sig", "signature",
        "state", "ticket",
    ]
}

words! {
    /// Words before `key` that make it a credential.
    pub(crate) KEY_OWNERS = [
        "access", "account", "admin", "aes", "airtable", "algolia", "amplitude", "anthropic", "api", "app",
        "application", "auth", "aws", "azure", "backup", "bot", "cf", "cipher", "client", "cloudflare", "cohere",
        "consumer", "cookie", "crypto", "data", "datadog", "db", "dd", "decrypt", "decryption", "deepl", "deploy",
        "deployment", "django", "elastic", "elasticsearch", "encrypt", "encryption", "fastly", "firebase", "gcp",
        "gemini", "github", "gitlab", "google", "gpg", "groq", "heroku", "hmac", "honeycomb", "ingest",
        "instrumentation", "integration", "jwt", "launchdarkly", "licence", "license", "linear", "mailchimp",
        "mailgun", "management", "maps", "master", "mistral", "newrelic", "notion", "openai", "pagerduty", "plaid",
        "private", "recaptcha", "recovery", "resend", "role", "secret", "segment", "sendgrid", "sentry", "server",
        "service", "session", "shared", "signing", "sonar", "ssh", "ssl", "storage", "stripe", "subscription",
        "supabase", "tavily", "tls", "twilio", "typesense", "unlock", "user", "vault", "vonage", "webhook", "wrapping",
        "write", "xai",
    ]
}

words! {
    /// Words before `token` that make it a credential whatever the value looks like.
    pub(crate) TOKEN_OWNERS = [
        "access", "account", "admin", "agent", "api", "app", "atlassian", "auth", "aws", "azure", "bearer", "bot",
        "cf", "circleci", "client", "cloudflare", "codecov", "consul", "csrf", "databricks", "deploy", "device",
        "digitalocean", "discord", "do", "docker", "dockerhub", "fly", "gcp", "gh", "github", "gitlab", "google",
        "grafana", "heroku", "hf", "huggingface", "id", "jira", "jwt", "kube", "linear", "login", "mfa", "netlify",
        "nomad", "notion", "npm", "oauth", "personal", "private", "pull", "push", "pypi", "railway", "refresh",
        "registration", "registry", "render", "replicate", "reset", "root", "runner", "secret", "security", "sentry",
        "service", "session", "slack", "sonar", "stripe", "supabase", "telegram", "twilio", "user", "vault", "vercel",
        "verification", "web", "webhook", "xsrf",
    ]
}

words! {
    /// Words before the secret one that turn it into something harmless: counts, special symbols of a vocabulary, pages.
    pub(crate) HARMLESS_BEFORE = [
        "allow", "avg", "bos", "budget", "by", "cached", "can", "cancel", "cancellation", "check", "cls", "completion",
        "context", "continuation", "count", "current", "design", "end", "eos", "est", "estimated", "first", "foreign",
        "forgot", "has", "have", "hide", "idempotency", "ignore", "input", "invalid", "is", "keyword", "last", "lexer",
        "mask", "max", "min", "missing", "n", "need", "needs", "next", "no", "num", "output", "pad", "page", "parser",
        "peek", "per", "prev", "prompt", "public", "reasoning", "remaining", "require", "requires", "sep", "show",
        "sort", "start", "stop", "sync", "syntax", "thinking", "total", "unk", "use", "used", "uses", "valid",
        "validate", "verify", "which", "with", "without",
    ]
}
words! {
    /// The same for keys, which many things have.
    pub(crate) HARMLESS_BEFORE_KEY = [
        "bucket", "cache", "candidate", "composite", "dict", "foreign", "group", "i18n", "index", "json",
        "locale", "map", "message", "natural", "object", "partition", "primary", "query", "recv", "routing", "row", "s3",
        "shard", "sorting", "surrogate", "translation", "unique",
    ]
}

words! {
    /// Words after the secret one that make the value something about the secret, not the secret.
    pub(crate) HARMLESS_AFTER = [
        "action", "age", "alg", "algorithm", "arn", "array", "at", "attempts", "attribute", "attributes", "audience",
        "auth", "authentication", "backend", "backends", "bits", "budget", "by", "bytes", "cache", "callback", "change", "changed", "char",
        "chars", "check", "checksum", "class", "client", "cmd", "col", "color", "colors", "column", "columns",
        "command", "config", "cost", "count", "counter", "counts", "created", "date", "desc",
        "description", "detection", "digest", "dir", "directory", "disabled", "domain", "enabled", "encoder", "encoders", "end", "endpoint",
        "entropy", "env", "error", "errors", "estimate", "estimator", "exists", "expiration", "expire", "expired",
        "expires", "expiry", "factory", "field", "fields", "file", "filename", "files", "fingerprint", "flag", "flags",
        "fn", "folder", "format", "func", "function", "generator", "group", "handle", "handler", "hasher", "hashers", "header", "headers",
        "help", "helper", "hint", "history", "host", "id", "ids", "idx", "in", "index", "info", "input", "issuer",
        "iterations", "kind", "label", "len", "length", "lengths", "level", "lifetime", "limit", "limits", "line",
        "link", "list", "location", "login", "manager", "map", "mask", "masked", "masks", "max", "message", "method",
        "min", "minute", "minutes", "missing", "mode", "name", "named", "names", "number", "offset", "option",
        "options", "out", "pair", "pairs", "param", "params", "path", "paths", "pattern", "patterns", "per",
        "placeholder", "policies", "policy", "port", "pos", "position", "prefix", "present", "price", "prompt",
        "protected", "provider", "providers", "range", "rate", "ratio", "reader", "recovery", "redacted", "redaction",
        "ref", "reference", "regex", "request", "required", "requirements", "reset", "response", "retries", "review",
        "rotation", "rule", "rules", "scanner", "scope", "scopes", "score", "second", "seconds", "selector", "service",
        "set", "settings", "size", "sizes", "sock", "socket", "source", "span", "spans", "spec", "specs", "start", "state", "status",
        "stdin", "store", "strategy", "stream", "strength", "suffix", "support", "supported", "table", "tag",
        "template", "text", "threshold", "thumbprint", "time", "timeout", "timestamp", "title", "total", "ttl", "type",
        "types", "uri", "url", "urls", "usage", "used", "userdata", "valid", "validation", "validator", "validators", "validity",
        "var", "variable", "version", "visible", "window", "writer",
    ]
}

// Values

words! {
    /// Values that stand for "something goes here", for a type, a state or a choice. Compared without case.
    pub(crate) PLACEHOLDERS = [
        "abc", "abcd", "accepted", "allow", "any", "anything", "api-key", "api_key", "apikey", "ascii-text", "auto", "bar", "basic",
        "baz", "bearer", "blank", "bool", "boolean", "bytes", "change-me", "change_me", "changed", "changeit",
        "changeme", "confirmed", "credentials", "default", "denied", "deny", "disabled", "dummy", "dynamic", "empty",
        "enabled", "encrypted", "env", "error", "example", "expired", "failed", "fake", "false", "float", "foo",
        "foobar", "forbid", "generated", "hashed", "hexadecimal", "hidden", "include", "incorrect", "inherit", "int", "integer",
        "invalid", "key", "list", "local", "map", "masked", "missing", "mock", "n/a", "na", "never", "nil", "no",
        "none", "not-set", "not_set", "null", "number", "oauth", "oauth2", "object", "off", "ok", "omit", "omitted",
        "on", "option", "optional", "pass", "passphrase", "passwd", "password", "placeholder", "plain", "plaintext",
        "present", "prompt", "protected", "provided", "pwd", "qux", "random", "read", "readonly", "redacted",
        "rejected", "removed", "required", "same-origin", "sample", "secret", "secrets", "sensitive", "session", "set",
        "some", "something", "static", "str", "string", "strong", "success", "tbd", "test", "testing", "text", "todo",
        "token", "tokens", "true", "type", "undefined", "unknown", "unset", "updated", "user", "username", "valid",
        "value", "varchar", "void", "warn", "weak", "write", "wrong", "yes",
    ]
}

words! {
    /// Words that give a placeholder away when they stand between separators.
    pub(crate) PLACEHOLDER_PARTS = [
        "changeme", "dummy", "example", "fake", "fixme", "goes", "here", "hidden", "insert", "masked", "mock",
        "omitted", "placeholder", "redacted", "replace", "replaceme", "sample", "todo", "your", "yours",
    ]
}

words! {
    /// Words that occur in sentences and labels about secrets.
    pub(crate) SENTENCE_WORDS = [
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "cannot", "confirm", "could", "does", "enter",
        "expected", "failed", "for", "forgot", "from", "has", "if", "in", "incorrect", "invalid", "is", "it", "key",
        "missing", "must", "new", "no", "not", "of", "on", "or", "password", "passwords", "please", "provide",
        "required", "reset", "secret", "should", "that", "the", "this", "to", "token", "too", "unable", "use", "was",
        "were", "when", "will", "with", "wrong", "you", "your",
    ]
}

words! {
    /// Words that mark a fixture in source code.
    pub(crate) FIXTURE_WORDS = [
        "abc", "bar", "dummy", "example", "fake", "fixture", "foo", "hunter2", "invalid", "key", "mock", "my", "new",
        "old", "password", "sample", "secret", "stub", "super", "test", "testing", "tests", "token", "user", "valid",
        "wrong",
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_their_words_in_any_case_and_no_others() {
        assert!(PLACEHOLDERS.has(b"ChangeMe") && !PLACEHOLDERS.has(b"change") && !PLACEHOLDERS.has(b""));
        assert!(!PLACEHOLDERS.has(b"xxxxxxxxxxxxxxxxnull"));
    }

    #[test]
    fn endings_are_compared_from_the_end() {
        assert!(PASSWORDS.has_ending_of(b"PGPASSWORD") && !PASSWORDS.has_ending_of(b"word"));
        assert!(
            PASSWORDS.has_ending_of(b"a-very-long-name-of-a-PASSWORD") && !PASSWORDS.has_ending_of(b"passwordless")
        );
    }
}
