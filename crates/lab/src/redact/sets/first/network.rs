//! Addresses and headers.

use super::Set;

pub(super) fn urls(set: &mut Set) {
    let schemes = [
        "postgres",
        "postgresql",
        "mysql",
        "mongodb",
        "mongodb+srv",
        "redis",
        "amqp",
        "mssql",
        "postgresql+asyncpg",
        "rediss",
        "clickhouse",
        "mariadb",
    ];
    let carriers = [
        "{s}://app:{p}@db.internal:5432/main",
        "DATABASE_URL={s}://root:{p}@localhost/db?sslmode=require",
        "connecting to {s}://u:{p}@10.0.0.5:3306/x failed",
        "\"url\": \"{s}://svc:{p}@host/db\"",
        "{s}://:{p}@cache:6379/0",
        "url: {s}://admin:{p}@cluster0.example.net/app\n",
    ];
    for (index, scheme) in schemes.iter().enumerate() {
        for offset in 0..3 {
            let carrier = carriers[(index * 3 + offset) % carriers.len()];
            let secret = ["<a12>", "<m9>", "<a5>!<a4>", "<a4>%40<a5>", "<a4>:<a4>", "<a6>/<a4>"][(index + offset) % 6];
            set.add("database-urls", &carrier.replace("{s}", scheme).replace("{p}", &format!("«{secret}»")));
        }
    }
    for template in [
        "https://bob:«<a10>»@example.org/x.git",
        "git clone https://oauth2:«<a24>»@gitlab.com/x/y",
        "https://«<a40>»@github.com/org/repo.git",
        "http://admin:«<m9>»@10.0.0.1:8080/",
        "ftp://bob:«<a8>»@ftp.example.org/",
        "proxy=http://user:«<a9>»@proxy:3128",
        "https://x-access-token:«<a36>»@github.com/a/b",
        "sftp://bob:«<a7>»@host/home",
        "\"remote\": \"https://bob:«<a10>»@example.org\"",
        "https://bob:«<a5>%21<a5>»@example.org",
        "ws://user:«<a10>»@host/socket",
        "https:\\/\\/bob:«<a10>»@example.org\\/x",
        "smtp://mailer:«<a9>»@mail:587",
        "ldap://cn=admin:«<a9>»@ldap:389",
        "https%3A%2F%2Fbob%3A«<a10>»%40example.org%2Fx",
        "amqps://guest:«<m8>»@rabbit:5671/%2f",
    ] {
        set.add("userinfo", template);
    }
    let parameters = [
        "https://example.org/cb?{n}={s}&state=1",
        "GET /v1/x?a=1&{n}={s} HTTP/1.1",
        "{n}={s}&user=bob",
        "https://example.org/#{n}={s}&expires_in=3600",
        "redirect=https%3A%2F%2Fx.org%2Fcb%3F{n}%3D{s}%26state%3D1",
        "<a href=\"https://example.org/?a=1&amp;{n}={s}\">",
        "\"https://example.org/?x=1\\u0026{n}={s}\"",
        "grant_type=x&{n}={s}",
    ];
    set.cross(
        "parameters",
        &parameters,
        &[
            "access_token",
            "token",
            "api_key",
            "apikey",
            "password",
            "client_secret",
            "refresh_token",
            "auth",
            "code",
            "sig",
            "key",
            "id_token",
            "session_token",
            "secret",
        ],
        &["<a24>", "<h32>", "<a40>", "<w43>", "<l30>"],
        6,
    );
}

pub(super) fn headers(set: &mut Set) {
    let notations = [
        "Authorization: Bearer {s}\r\nHost: x",
        "authorization: bearer {s}",
        "curl -H \"Authorization: Bearer {s}\" https://x",
        "\"Authorization\": \"Bearer {s}\"",
        "-H 'Authorization: token {s}'",
        "Authorization: Basic {s}",
        "Proxy-Authorization: Basic {s}",
        "\\\"authorization\\\": \\\"Bearer {s}\\\"",
        "headers={'Authorization': 'Bearer {s}'}",
        "req.Header.Set(\"Authorization\", \"Bearer {s}\")",
        "> authorization: Bearer {s}",
        "Authorization: {s}",
        "X-Api-Key: {s}",
        "x-auth-token: {s}",
        "PRIVATE-TOKEN: {s}",
        "'X-API-KEY': '{s}'",
        "api-key: {s}",
        "X-Vault-Token: {s}",
        "Authorization: ApiKey {s}",
        "Authorization: Digest username=\"bob\", response=\"{s}\"",
    ];
    set.cross("headers", &notations, &[""], &["<a24>", "<a40>", "<b32>", "<w43>", "<h32>"], 4);
    let cookies = [
        "Cookie: session={s}; theme=dark",
        "Set-Cookie: sid={s}; Path=/; HttpOnly",
        "cookie: a=b; PHPSESSID={s}",
        "\"Cookie\": \"JSESSIONID={s}\"",
        "set-cookie: __Secure-next-auth.session-token={s}; Secure",
        "< Set-Cookie: connect.sid={s}; Path=/",
        "-b 'sessionid={s}'",
        "{\"set-cookie\": [\"sid={s}; Path=/\"]}",
    ];
    set.cross("cookies", &cookies, &[""], &["<a24>", "<h32>", "<w43>", "<l26>"], 4);
    for template in [
        "«eyJ<a33>.eyJ<a60>.<w43>»",
        "token=«eyJ<a33>.eyJ<a60>.<w43>»",
        "Bearer «eyJhbGciOi<a30>.eyJ<a90>.<w86>»",
        "\"jwt\": \"«eyJ<a20>.eyJ<a40>.<w43>»\"",
        "id: «eyJ<a33>.eyJ<a60>»\n",
        "?t=«eyJ<a33>.eyJ<a60>.<w43>»&x",
        "see «eyJ0eXAiOi<a40>.eyJ<a40>.<w43>».",
        "\\\"token\\\":\\\"«eyJ<a33>.eyJ<a60>.<w43>»\\\"",
        "document.cookie = 'jwt=«eyJ<a33>.eyJ<a60>.<w43>»'",
    ] {
        set.add("jwt", template);
    }
}
