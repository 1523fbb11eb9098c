//! Rules for secrets with a structure that a prefix and an alphabet do not describe.

use crate::redact::Mode;
use crate::redact::alphabet::{ALNUM, DASH, DIGIT, DOTTED, HEX, TOKEN68};
use crate::redact::command;
use crate::redact::header;
use crate::redact::judge;
use crate::redact::pem;
use crate::redact::rules::{Anchors, Reveal, Rule};
use crate::redact::scan::Scan;
use crate::redact::url;

const DIGITS: &str = "0123456789";

/// The last character of a URL's scheme, then `://`.
const URL_START: Anchors =
    Anchors::Classes(["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", ":", "/", "/"]);

/// How base64 spells the first three digits of a Discord user's id.
const DISCORD_START: Anchors = Anchors::Classes(["MNO", "DTjz", "AEIMQUYcgk", "wxyz012345"]);

#[rustfmt::skip]
pub(crate) static STRUCTURED: [Rule; 18] = [
    Rule::by_hand("private-key", "Private key in PEM or OpenPGP armour", Anchors::Exact(&["-BEGIN "]), pem::begin).reveal(Reveal::Label("[REDACTED PRIVATE KEY]"))
        .hits(&["-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b20>==\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n-----END PRIVATE KEY-----\\n",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n<b70>\n<b70>\n<b50>", "   1\t-----BEGIN EC PRIVATE KEY-----\n   2\t<b64>\n   3\t<b64>\n   4\t-----END EC PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n<b64>\n<b64>\n=<a4>\n-----END PGP PRIVATE KEY BLOCK-----"])
        .misses(&["-----BEGIN CERTIFICATE-----\n<b64>\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n<b64>\n", "if s == \"-----BEGIN PRIVATE KEY-----\" { return Kind::Key }",
            "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----"]),
    Rule::by_hand("private-key-end", "The end of a private key whose beginning was cut off", Anchors::Exact(&["-END "]), pem::end).reveal(Reveal::Label("[REDACTED PRIVATE KEY]"))
        .hits(&["… 40 lines left out …\n<b64>\n<b64>\n<b20>\n-----END RSA PRIVATE KEY-----"])
        .misses(&["<b64>\n-----END CERTIFICATE-----", "the line -----END PRIVATE KEY-----"]),
    Rule::by_hand("jwt", "JSON web token", Anchors::Exact(&["eyJ"]), jwt)
        .hits(&["eyJ<a33>.eyJ<a60>.<w43>", "eyJ<a33>.eyJ<a60>", "eyJhbGciOi<a40>", "t=eyJ<a33>.eyJ<a60>.<w43>&x=1"])
        .misses(&["eyJ<a20>", "XeyJ<a33>.eyJ<a60>.<w43>"]),
    Rule::by_hand("url-password", "User and password, or a token, before the host of a URL", URL_START, url::userinfo).reveal(Reveal::Nothing)
        .hits(&["postgres://app:<a12>@db.internal:5432/main", "https://deploy:<a10>@example.org/repo.git", "redis://:<a8>@cache:6379/0", "mysql://root:p@<a6>@host/db", "https://<a40>@github.com/org/repo",
            "mongodb+srv://u:<a9>@cluster0.mongodb.net/?retryWrites=true", "amqp://guest:guest@localhost//", "postgres://u:<a4>/<a4>@host/db"])
        .misses(&["https://example.org/@user/post", "git clone ssh://git@github.com/org/repo", "postgres://{user}:{password}@{host}/db", "postgres://$USER:$PASSWORD@host/db", "redis://localhost:6379/0?x=a@b",
            "https://user:***@host/", "http://localhost:8080/path@v1", "postgres://localhost:5432/db\nmail me@example.org", "https://deploy-user@example.org/x"]),
    Rule::by_hand("mysql-dsn", "Password in a Go data source name", Anchors::Exact(&["@tcp(", "@unix("]), url::go_dsn).reveal(Reveal::Nothing)
        .hits(&["root:<a12>@tcp(127.0.0.1:3306)/app"]).misses(&["%s:%s@tcp(%s)/app", "root@tcp(localhost)/app"]),
    Rule::by_hand("sshpass", "Password for sshpass", Anchors::Exact(&["sshpass -p"]), command::sshpass).low().reveal(Reveal::Nothing)
        .hits(&["sshpass -p '<a9>' ssh host", "sshpass -p<a9> ssh host"]).misses(&["sshpass -p $PASS ssh host", "sshpass -p"]),
    Rule::by_hand("netrc", "Password in a login file", Anchors::Exact(&["login "]), command::netrc).low().reveal(Reveal::Nothing)
        .hits(&["machine example.org login bob password <a9>", "machine example.org\n  login bob\n  password <a9>\n"]).misses(&["login with password authentication()", "after login the password prompt"]),
    Rule::by_hand("curl-user", "Password after curl's user option", Anchors::Exact(&[" -u ", "--user "]), command::curl_user).low().reveal(Reveal::Nothing)
        .hits(&["curl -u bob:<a9> https://example.org", "curl -s --user \"bob:<a9>\" https://example.org"]).misses(&["docker run -u 1000:1000 image", "curl -u bob https://example.org", "curl -u $USER:$PASS https://example.org", "chown --user bob:staff"]),
    Rule::by_hand("bearer", "Credential after the word Bearer", Anchors::AnyCase(&["bearer "]), header::bearer)
        .hits(&["got bearer <a32>!", "sent Bearer <a40>.", "auth := \"Bearer <a32>\""]).misses(&["bearer authentication-required", "Bearer ${TOKEN}", "the bearer of this message", "Bearer {token}"]),
    Rule::by_hand("telegram", "Telegram bot token", Anchors::Exact(&[":AA"]), telegram).hits(&["<d9>:AA<w33>", "bot<d10>:AA<w33>"]).misses(&["12:AA<w33>", "<d9>:AA<w10>"]),
    Rule::by_hand("telegram-url", "Telegram bot token of the older form in a URL", Anchors::Exact(&["/bot"]), telegram_url).hits(&["https://api.telegram.org/bot<d9>:B<w34>/getMe"]).misses(&["/bot<d9>", "/bottom:<a40>"]),
    Rule::by_hand("discord", "Discord bot token", DISCORD_START, discord).hits(&["MTAx<w21>.G<w5>.<w38>"]).misses(&["MTAx<w21>.G<w5>", "MTAx<a40>"]),
    Rule::by_hand("webhook", "Webhook address with its key: Discord, Slack, Teams", Anchors::Exact(&["api/webhooks/", "hooks.slack.com/", "webhook.office.com/"]), webhook)
        .hits(&["https://discord.com/api/webhooks/<d18>/<w68>", "https://hooks.slack.com/services/T<u9>/B<u9>/<a24>", "https://acme.webhook.office.com/webhookb2/<h8>-<h4>-<h4>-<h4>-<h12>@<h8>-<h4>-<h4>-<h4>-<h12>/IncomingWebhook/<h32>/<h8>-<h4>-<h4>-<h4>-<h12>"])
        .misses(&["https://hooks.slack.com/services/...", "see hooks.slack.com/docs", "api/webhooks/{id}/{token}"]),
    Rule::by_hand("mailchimp", "Mailchimp API key", Anchors::Classes(["-", "u", "s", DIGITS]), mailchimp).hits(&["<h32>-us12"]).misses(&["<h8>-us1", "<h40>-us1", "x-us1"]),
    Rule::by_hand("new-relic-license", "New Relic licence key", Anchors::Exact(&["NRAL"]), new_relic_license).hits(&["<h36>NRAL"]).misses(&["NRAL", "<h30>NRAL"]),
    Rule::by_hand("azure-client-secret", "Azure application secret", Anchors::Classes(["78", "Q", "~", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~-"]), azure_client_secret).hits(&["<a3>8Q~<w34>"]).misses(&["8Q~<w34>", "<a3>8Q~<w10>"]),
    Rule::by_hand("terraform-cloud", "Terraform Cloud token", Anchors::Exact(&[".atlasv1."]), terraform_cloud).hits(&["<a14>.atlasv1.<w67>"]).misses(&[".atlasv1.<w67>", "<a14>.atlasv1.<w6>"]),
    Rule::by_hand("phone", "Telephone number in international form", Anchors::Classes(["+", "123456789", DIGITS, DIGITS]), phone).low().reveal(Reveal::Nothing)
        .hits(&["call +1415555<d4> today", "tel:+49301234<d4>"]).misses(&["+123456", "a+12345678901", "@@ -1,5 +1234,7 @@", "2024-01-01T00:00:00+0100", "1e+10", "+1234567890123456789"]),
];

/// Three parts of URL-safe base64 joined by dots. A cut one is known by the start of its header.
fn jwt(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    /// `{"alg":`, `{"typ":`, `{"kid":` and `{"k":` in base64.
    const HEADERS: [&str; 4] = ["eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi", "eyJrIjoi"];
    const SHORTEST_PART: usize = 10;
    if !scan.starts_token(at, &DASH) {
        return None;
    }
    let unbounded = |from: usize| scan.run(from, &DASH, usize::MAX - from);
    let header_end = unbounded(at);
    let payload_end = if scan.starts_with(header_end, ".eyJ") { unbounded(header_end + 1) } else { header_end };
    let known = HEADERS.iter().any(|header| scan.starts_with(at, header)) && header_end - at >= 20;
    if !known && (header_end - at < SHORTEST_PART || payload_end - header_end <= SHORTEST_PART) {
        return judge::masked_at(scan, at);
    }
    let signed = payload_end > header_end && scan.at(payload_end) == b'.';
    let end = if signed { unbounded(payload_end + 1) } else { payload_end };
    let end = if end == payload_end + 1 { payload_end } else { end };
    scan.report(rule, at, end);
    Some(end)
}

/// Digits, a colon, 35 characters. The digits are the bot's public id and stay.
fn telegram(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let digits = at - scan.run_back(at, &DIGIT, 11);
    let (start, end) = (at + 1, scan.run(at + 1, &DASH, 46));
    if (8..=10).contains(&digits) && (34..=45).contains(&(end - start)) {
        scan.report(rule, start, end);
        return Some(end);
    }
    judge::masked_at(scan, start)
}

fn telegram_url(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let id = at + "/bot".len();
    let colon = scan.run(id, &DIGIT, 12);
    let (start, end) = (colon + 1, scan.run(colon + 1, &DASH, 64));
    if colon - id >= 6 && scan.at(colon) == b':' && end - start >= 30 {
        scan.report(rule, start, end);
        return Some(end);
    }
    judge::masked_at(scan, start)
}

/// The user's id in base64, a dot, six characters of time, a dot, the signature.
fn discord(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    if !scan.starts_token(at, &DASH) {
        return None;
    }
    let id_end = scan.run(at, &DASH, 29);
    let time_end = scan.run(id_end + 1, &DASH, 8);
    let end = scan.run(time_end + 1, &DASH, 46);
    let lengths = (23..=28).contains(&(id_end - at))
        && (5..=7).contains(&(time_end - id_end - 1))
        && (25..=45).contains(&(end - time_end - 1));
    if lengths && scan.at(id_end) == b'.' && scan.at(time_end) == b'.' {
        scan.report(rule, at, end);
        return Some(end);
    }
    judge::masked_at(scan, at)
}

/// What follows the first part of a webhook's path; that part names the kind of hook or the channel.
fn webhook(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    const LONGEST: usize = 400;
    const SHORTEST_KEY: usize = 20;
    let slash = |from: usize| {
        scan.slice(from, from + LONGEST).iter().position(|&byte| byte == b'/').map(|index| from + index + 1)
    };
    let host_end = scan.run(at, &TOKEN68, LONGEST);
    let anchor_end = if scan.starts_with(at, "api/") { slash(at + "api/".len())? } else { slash(at)? };
    let start = slash(anchor_end).filter(|&start| start <= host_end)?;
    let mut end = host_end;
    while end < at + LONGEST && (scan.at(end) == b'@' || TOKEN68.has(scan.at(end))) {
        end += 1;
    }
    let key = scan.slice(start, end);
    if judge::is_masked(key) {
        return Some(scan.pass(end));
    }
    (key.len() >= SHORTEST_KEY && end < at + LONGEST && judge::is_random(key) && !judge::is_placeholder(key)).then(
        || {
            scan.report(rule, start, end);
            end
        },
    )
}

/// The anchor stands at the end of the secret: the scan goes on from there, as it does when the secret is masked.
fn mailchimp(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let start = scan.run_back(at, &HEX, 33);
    let end = scan.run(at + "-us".len(), &DIGIT, 3);
    if at - start == 32 && scan.starts_token(start, &DOTTED) && scan.ends_token(end) {
        scan.report(rule, start, end);
        return None;
    }
    judge::masked_before(scan, end);
    None
}

/// As above, the anchor is the end of the secret.
fn new_relic_license(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let start = scan.run_back(at, &HEX, 37);
    let end = at + "NRAL".len();
    if at - start == 36 && scan.starts_token(start, &DOTTED) && scan.ends_token(end) {
        scan.report(rule, start, end);
        return None;
    }
    judge::masked_before(scan, end);
    None
}

/// Three characters, a digit, `Q~`, then 31 to 34 characters.
fn azure_client_secret(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let body = |byte: u8| DASH.has(byte) || matches!(byte, b'.' | b'~');
    let start = at.checked_sub(3).filter(|&start| start >= scan.floor())?;
    let window = scan.slice(at, at + 44);
    let mut end = at + window.iter().position(|&byte| !body(byte)).unwrap_or(window.len());
    while end > at && scan.before(end) == b'.' {
        end -= 1;
    }
    let complete = scan.slice(start, at).iter().all(|&byte| body(byte)) && scan.starts_token(start, &DOTTED);
    if complete && (34..=40).contains(&(end - at)) {
        scan.report(rule, start, end);
        return Some(end);
    }
    judge::masked_at(scan, start)
}

/// Fourteen characters that name the token, `.atlasv1.`, then the token.
fn terraform_cloud(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let name = scan.run_back(at, &ALNUM, 15);
    let start = at + ".atlasv1.".len();
    let end = scan.run(start, &DASH, 90);
    if at - name == 14 && (55..90).contains(&(end - start)) {
        scan.report(rule, start, end);
        return Some(end);
    }
    judge::masked_at(scan, start)
}

/// A plus sign and 8 to 15 digits that stand alone.
fn phone(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let end = scan.run(at + 1, &DIGIT, 16);
    let before = scan.before(at);
    // A line of a patch that adds a number begins with a plus sign as well.
    let shortest = if matches!(before, b'\n' | 0) { 10 } else { 8 };
    let alone = !ALNUM.has(before)
        && !matches!(before, b')' | b']' | b'.' | b'+' | b'=' | b'/' | b'_')
        && !matches!(scan.at(end), b'.' | b'=' | b'/' | b'+' if scan.at(end + 1).is_ascii_alphanumeric());
    let stands = alone && scan.ends_token(end) && scan.mode == Mode::Text;
    (stands && (shortest..=15).contains(&(end - at - 1))).then(|| {
        scan.report(rule, at + 1, end);
        end
    })
}
