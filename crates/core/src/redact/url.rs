//! Credentials in URLs: the part before the `@`.

use crate::redact::Mode;
use crate::redact::alphabet::ALNUM;
use crate::redact::judge;
use crate::redact::rules::Rule;
use crate::redact::scan::{Scan, mixes_letters_and_digits};

/// Schemes whose URLs carry a password by convention, with signs that should have been escaped in it.
const DATABASES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "valkey",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "oracle",
    "clickhouse",
    "cockroachdb",
    "cassandra",
    "neo4j",
    "bolt",
    "couchdb",
    "influxdb",
    "nats",
    "kafka",
    "ldap",
    "ldaps",
    "smtp",
    "smtps",
    "imap",
    "imaps",
    "postgresql+psycopg2",
    "postgresql+asyncpg",
    "mysql+pymysql",
    "snowflake",
];

/// Words that illustrate a URL; in source code they are no passwords.
const ILLUSTRATIONS: &[&str] = &[
    "pass", "passwd", "password", "pwd", "pw", "secret", "token", "postgres", "root", "admin", "user", "test", "guest",
    "mysql", "redis", "mongo", "example", "changeme", "foo", "bar", "p", "pat", "x", "key", "xxx",
];

/// Longer user information is no user information.
const MAX_USERINFO: usize = 512;
const LONGEST_SCHEME: usize = 24;
/// A token without a user name has to be longer than a user name.
const SHORTEST_TOKEN: usize = 16;

/// Called at the last letter of a scheme.
pub(crate) fn userinfo(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let start = at + "x://".len();
    let scheme = scheme_before(scan, at + 1);
    let is_database = DATABASES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
    let end = userinfo_end(scan, start, is_database)?;
    let colon = scan.slice(start, end).iter().position(|&byte| byte == b':');
    let (secret, accepted) = match colon {
        Some(colon) => {
            let secret = start + colon + 1;
            (secret, is_password(scan, scan.slice(secret, end)))
        }
        None => (start, is_token(scan, scan.slice(start, end))),
    };
    if judge::is_masked(scan.slice(secret, end)) {
        return Some(scan.pass(end));
    }
    accepted.then(|| {
        scan.report(rule, secret, end);
        end
    })
}

fn scheme_before<'t>(scan: &Scan<'t>, end: usize) -> &'t [u8] {
    let floor = end.saturating_sub(LONGEST_SCHEME);
    let window = scan.slice(floor, end);
    let start = window.iter().rposition(|&byte| !(ALNUM.has(byte) || matches!(byte, b'+' | b'-' | b'.')));
    window.get(start.map_or(0, |index| index + 1)..).unwrap_or_default()
}

/// Where the `@` stands that ends the user information, if there is one.
fn userinfo_end(scan: &Scan<'_>, start: usize, is_database: bool) -> Option<usize> {
    let mut last = None;
    let mut path = false;
    for (offset, &byte) in scan.slice(start, start + MAX_USERINFO).iter().enumerate() {
        match byte {
            0..=b' ' | 0x7f | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b',' | b'|' => break,
            b'@' => last = Some(start + offset),
            b':' if scan.starts_with(start + offset, "://") => break,
            b'/' | b'?' | b'#' if !is_database || last.is_some() || path => break,
            // A password with an unescaped slash; but what has a port before the slash is a host.
            b'/' | b'?' | b'#' => path = is_host(scan.slice(start, start + offset))?,
            _ => {}
        }
    }
    last
}

/// `None` if the authority is a host with or without a port, so that no user information can follow.
fn is_host(authority: &[u8]) -> Option<bool> {
    let colon = authority.iter().position(|&byte| byte == b':')?;
    let port = authority.get(colon + 1..).unwrap_or_default();
    (!port.iter().all(u8::is_ascii_digit)).then_some(false)
}

fn is_password(scan: &Scan<'_>, bytes: &[u8]) -> bool {
    let illustration = || ILLUSTRATIONS.iter().any(|word| bytes.eq_ignore_ascii_case(word.as_bytes()));
    let template =
        bytes.iter().any(|byte| matches!(byte, b'{' | b'$' | b'<' | b'*' | b'%' if is_template_sign(*byte, bytes)));
    let harmless = bytes.is_empty() || template || judge::is_marked(bytes) || judge::is_filler(bytes);
    match scan.mode {
        Mode::Text => !harmless,
        Mode::Code => bytes.len() >= 6 && !harmless && !illustration() && !judge::is_fixture(bytes),
    }
}

/// `{password}`, `${PASSWORD}`, `$PASSWORD`, `<password>`, `***`, `%s`: something is filled in here later.
fn is_template_sign(sign: u8, bytes: &[u8]) -> bool {
    match sign {
        b'{' => bytes.contains(&b'}'),
        b'$' | b'<' | b'*' => bytes.first() == Some(&sign),
        _ => bytes.get(..2).is_some_and(|start| matches!(start, b"%s" | b"%v" | b"%q" | b"%d")),
    }
}

fn is_token(scan: &Scan<'_>, bytes: &[u8]) -> bool {
    let generated = bytes.len() >= SHORTEST_TOKEN && mixes_letters_and_digits(bytes) && judge::is_random(bytes);
    generated && !judge::is_placeholder(bytes) && !(scan.mode == Mode::Code && judge::is_fixture(bytes))
}

/// `user:password@tcp(host)/name`, as Go programs address MySQL. Called at the `@`.
pub(crate) fn go_dsn(scan: &mut Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    const LONGEST: usize = 128;
    let window_start = at.saturating_sub(LONGEST).max(scan.floor());
    let window = scan.slice(window_start, at);
    let stop = window
        .iter()
        .rposition(|byte| matches!(byte, 0..=b' ' | b'"' | b'\'' | b'`' | b'=' | b'<' | b'>' | b'\\' | b'/'));
    let start = window_start + stop.map_or(0, |index| index + 1);
    let colon = scan.slice(start, at).iter().position(|&byte| byte == b':')?;
    let secret = start + colon + 1;
    let bytes = scan.slice(secret, at);
    if judge::is_masked(bytes) {
        return Some(scan.pass(at).max(at + 1));
    }
    is_password(scan, bytes).then(|| {
        scan.report(rule, secret, at);
        at + 1
    })
}
