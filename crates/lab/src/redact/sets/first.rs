//! The first set: names, notations and secrets crossed with each other, group by group.

use super::Shape;
use foldline_redact::made::Dice;

/// Names of variables of an environment.
const VARIABLES: [&str; 32] = [
    "DB_PASSWORD",
    "POSTGRES_PASSWORD",
    "MYSQL_ROOT_PASSWORD",
    "PGPASSWORD",
    "REDIS_PASS",
    "SMTP_PASSWORD",
    "SSHPASS",
    "MYSQL_PWD",
    "APP_SECRET",
    "JWT_SECRET",
    "SECRET_KEY_BASE",
    "DJANGO_SECRET_KEY",
    "SESSION_SECRET",
    "CLIENT_SECRET",
    "OAUTH_CLIENT_SECRET",
    "API_KEY",
    "STRIPE_API_KEY",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_PAT",
    "AZURE_DEVOPS_PAT",
    "NPM_TOKEN",
    "SLACK_BOT_TOKEN",
    "VAULT_TOKEN",
    "ENCRYPTION_KEY",
    "MASTER_KEY",
    "WIFI_PSK",
    "KEYSTORE_PASSPHRASE",
    "SENTRY_AUTH_TOKEN",
];
/// Names of fields.
const FIELDS: [&str; 24] = [
    "password",
    "passwd",
    "pwd",
    "db_password",
    "dbPassword",
    "userPassword",
    "passphrase",
    "secret",
    "client_secret",
    "clientSecret",
    "secretKey",
    "secret_key",
    "api_key",
    "apiKey",
    "apikey",
    "access_token",
    "accessToken",
    "refresh_token",
    "auth_token",
    "private_key",
    "privateKey",
    "accessKey",
    "webhook_secret",
    "encryption_key",
];
/// Names that mean a password, for values that are words.
const PASSWORDS: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "db_password",
    "dbPassword",
    "user.password",
    "spring.datasource.password",
    "admin_password",
    "passphrase",
    "root_pass",
    "smtp-password",
    "Password",
];

/// Generated values, then chosen ones.
const GENERATED: [&str; 10] =
    ["<a20>", "<a32>", "<h32>", "<h40>", "<h64>", "<b40>", "<b43>=", "<w43>", "<l24>", "<a16>"];
const CHOSEN: [&str; 8] = [
    "<l6><d4>",
    "Summer<d4>!",
    "<a5>!<a4>",
    "<a4>@<a5>",
    "<m5>-<m6>-<d2>",
    "<a4>#<a4>$<a2>",
    "Tr0ub<l4>&<d1>",
    "<a12>",
];
const WORDS: [&str; 6] = ["<m8>", "<m10>", "sunshine", "Dragonfly", "opensesame", "<m6><m6>"];

/// All shapes of the set.
pub fn shapes() -> Vec<Shape> {
    let mut set = Set { shapes: Vec::new(), seed: 0 };
    environment(&mut set);
    fields(&mut set);
    settings(&mut set);
    vendors(&mut set);
    urls(&mut set);
    headers(&mut set);
    keys(&mut set);
    disguises(&mut set);
    commands(&mut set);
    files(&mut set);
    languages(&mut set);
    people(&mut set);
    set.shapes
}

struct Set {
    shapes: Vec<Shape>,
    seed: u64,
}

impl Set {
    fn add(&mut self, group: &'static str, template: &str) {
        self.seed += 1;
        self.shapes.push(Shape::new(group, template, self.seed));
    }

    /// Crosses notations with names and secrets: `{n}` is a name, `{s}` the secret. So many of each notation.
    fn cross(&mut self, group: &'static str, notations: &[&str], names: &[&str], secrets: &[&str], each: usize) {
        for notation in notations {
            for _ in 0..each {
                self.seed += 1;
                let mut dice = Dice::new(self.seed * 31);
                let name = dice.pick(names);
                let secret = dice.pick(secrets);
                self.add(group, &notation.replace("{n}", name).replace("{s}", &format!("«{secret}»")));
            }
        }
    }
}

fn environment(set: &mut Set) {
    let notations = [
        "{n}={s}",
        "export {n}={s}\nexport HOME=/root",
        "export {n}=\"{s}\"",
        "{n}='{s}'",
        "HOME=/root\nPATH=/usr/bin:/bin\n{n}={s}\nSHELL=/bin/bash",
        "declare -x {n}=\"{s}\"",
        "docker run -e {n}={s} -p 80:80 app",
        "2024-05-01 12:00:00 INFO starting with {n}={s}",
        "env {n}={s} ./run.sh",
        "{n}={s} npm start",
    ];
    let secrets: Vec<&str> =
        GENERATED.iter().chain(&CHOSEN).copied().filter(|secret| !secret.contains(['&', '#', '$'])).collect();
    set.cross("environment", &notations, &VARIABLES, &secrets, 8);
}

fn fields(set: &mut Set) {
    let notations = [
        "{\"user\": \"bob\", \"{n}\": \"{s}\", \"id\": 7}",
        "{\"{n}\":\"{s}\"}",
        "{\n  \"name\": \"x\",\n  \"{n}\": \"{s}\",\n  \"port\": 5432\n}",
        "{'{n}': '{s}'}",
        "{\\\"{n}\\\": \\\"{s}\\\", \\\"a\\\": 1}",
        "{\"body\": \"{\\\"{n}\\\":\\\"{s}\\\"}\"}",
        "{\"a\": \"{\\\"b\\\": \\\"{\\\\\\\"{n}\\\\\\\": \\\\\\\"{s}\\\\\\\"}\\\"}\"}",
        "config = {\"{n}\": \"{s}\"}",
        "[{\"name\":\"{n}\",\"value\":\"{s}\"}]",
        "{\"config\":{\"{n}\":\"{s}\",\"retries\":3}}",
    ];
    let secrets: Vec<&str> = GENERATED.iter().chain(&CHOSEN).copied().collect();
    set.cross("json", &notations, &FIELDS, &secrets, 8);
    set.add("json", "{\"password\": \"«<a4>\\\"<a5>»\", \"b\": 1}");
    set.add("json", "{\"password\": \"«<a6>\\\\<a5>»\", \"b\": 1}");
    let pwd = [
        "{\"pwd\": \"{s}\"}",
        "\"pwd\":\"{s}\",",
        "{\"username\": \"bob\", \"pwd\": \"{s}\", \"remember\": true}",
        "db.createUser({user: \"bob\", pwd: \"{s}\"})",
    ];
    set.cross("pwd", &pwd, &[""], &["<m8>", "abc<d1>", "<d6>", "Dragonfly", "<a7>", "a b c <d2>"], 6);
}

fn settings(set: &mut Set) {
    let notations = [
        "{n}: {s}",
        "database:\n  host: db\n  {n}: {s}\n  port: 5432",
        "{n} = {s}",
        "{n}={s}\nhost=db",
        "{n}: \"{s}\"",
        "{n}: '{s}' # rotate me",
        "[db]\nhost = localhost\n{n} = \"{s}\"\n",
        "{n} : {s}",
        "- {n}: {s}",
        "# old\n{n}={s}\n# end",
    ];
    let names: Vec<&str> = FIELDS.iter().chain(&PASSWORDS).copied().collect();
    let secrets: Vec<&str> =
        GENERATED.iter().chain(&CHOSEN).copied().filter(|secret| !secret.contains(['&', '#', '$'])).collect();
    set.cross("settings", &notations, &names, &secrets, 8);
    let lines = [
        "{n}: {s}",
        "server:\n  host: db.internal\n  {n}: {s}\n  user: app\n",
        "{n}={s}",
        "{n} = {s}\n",
        "user=bob\n{n}={s}\nhost=db",
        "{n}: {s} # staging\n",
        "{n}:    {s}\n",
        "    {n}: {s}\n    port: 22\n",
        "user: bob, {n}: {s}",
        "user=bob {n}={s} host=db",
    ];
    set.cross("letters", &lines, &PASSWORDS, &WORDS, 6);
    let blocks = [
        "{n}: |\n  {s}\nuser: bob\n",
        "{n}: >-\n  {s}\nuser: bob\n",
        "spec:\n  {n}: |-\n    {s}\n  replicas: 2\n",
        "- {n}: >\n    {s}\n- b: c\n",
    ];
    set.cross(
        "block-scalars",
        &blocks,
        &["password", "api_key", "clientSecret", "token_secret", "db_password"],
        &["<a24>", "<m10>", "<b40>", "<a12>"],
        6,
    );
    set.add("block-scalars", "private_key: |\n  «<b64>»\n  «<b64>»\nnext: 1\n");
}

fn vendors(set: &mut Set) {
    let tokens = [
        "sk-ant-api03-<w93>AA",
        "sk-proj-<w74>",
        "sk-<a48>",
        "AIza<w35>",
        "hf_<a34>",
        "gsk_<a52>",
        "xai-<a80>",
        "pplx-<a48>",
        "r8_<a37>",
        "ghp_<a36>",
        "gho_<a36>",
        "github_pat_<a22>_<a59>",
        "glpat-<w20>",
        "glrt-<w20>",
        "gldt-<w20>",
        "npm_<a36>",
        "pypi-AgEIcHlwaS5vcmc<w80>",
        "rubygems_<h48>",
        "dckr_pat_<w27>",
        "xoxb-<d12>-<d12>-<a24>",
        "xoxp-<d11>-<d11>-<d11>-<h32>",
        "xapp-1-A<u10>-<d13>-<h64>",
        "https://hooks.slack.com/services/T<u9>/B<u9>/«<a24>»",
        "SG.<w22>.<w43>",
        "key-<h32>",
        "<h32>-us12",
        "SK0<h31>",
        "sk_live_<a24>",
        "rk_test_<a99>",
        "whsec_<a32>",
        "shpat_<h32>",
        "sq0csp-<w43>",
        "EAAG<a160>",
        "glsa_<a32>_<h8>",
        "NRAK-<u27>",
        "sntryu_<h64>",
        "dt0c01.<u24>.<u64>",
        "lin_api_<a40>",
        "ntn_<d11><a35>",
        "secret_<a43>",
        "PMAK-<h24>-<h34>",
        "figd_<w40>",
        "pat-na1-<h8>-<h4>-<h4>-<h4>-<h12>",
        "dop_v1_<h64>",
        "HRKU-AA<w58>",
        "v1.0-<h24>-<h146>",
        "dapi<h32>",
        "pscale_pw_<w43>",
        "sbp_<h40>",
        "tskey-auth-<a12>CNTRL-<a32>",
        "hvs.<w90>",
        "dp.pt.<a43>",
        "AGE-SECRET-KEY-1<u58>",
        "MTAx<w21>.G<w5>.<w38>",
        "https://discord.com/api/webhooks/<d18>/«<w68>»",
        "ATATT3x<w180>=<u8>",
        "<a14>.atlasv1.«<w67>»",
        "PRIVATE-TOKEN: «glpat-<w20>»",
        "lsv2_pt_<h32>_<h10>",
        "nvapi-<w64>",
        "pul-<h40>",
        "sgp_<h40>",
        "CCIPAT_<a22>_<h40>",
        "phx_<a43>",
        "AKCp<a69>",
        "API-<u26>",
        "rdme_<l70>",
        "EZAK<a54>",
        "shippo_live_<h40>",
        "duffel_test_<w43>",
    ];
    let carriers = [
        "I have {s} here",
        "token {s}.",
        "\"{s}\"",
        "x={s};",
        "curl -H 'X: {s}'",
        "{\"k\": \"{s}\"}",
        "see `{s}`\n",
        "> {s}\n",
    ];
    for (index, token) in tokens.iter().enumerate() {
        for offset in 0..2 {
            let marked = if token.contains('«') { (*token).to_owned() } else { format!("«{token}»") };
            let carrier = carriers[(index * 2 + offset) % carriers.len()];
            set.add("vendors", &carrier.replace("{s}", &marked));
        }
    }
    for template in [
        "aws_access_key_id = «AKIA<u16>»",
        "«ASIA<u16>»",
        "aws_secret_access_key = «<b40>»",
        "AWS_SECRET_ACCESS_KEY=«<b40>»",
        "\"SecretAccessKey\": \"«<b40>»\"",
        "aws_session_token=«IQoJb3JpZ2lu<b200>»",
        "\"SessionToken\": \"«FwoGZXIvYXdz<b200>»\"",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«<b86>==»;EndpointSuffix=core.windows.net",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«<b43>=»",
        "https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2024-01-01&sr=b&sp=r&sig=«<a43>%3D»",
        "client_secret: «<a3>8Q~<w34>»",
        "AZURE_CLIENT_SECRET=«<a3>7Q~<w34>»",
        "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n«<b64>»\\n«<b64>»\\n«<b30>==»\\n-----END PRIVATE KEY-----\\n\"",
        "«GOCSPX-<w28>»",
        "«ya29.<w120>»",
        "«1//0<w60>»",
        "HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey=«<b43>=»",
        "Server=tcp:x.database.windows.net;User ID=sa;Password=«<a12>»;Encrypt=true",
        "«LTAI<a20>»",
        "InstrumentationKey=«<h8>-<h4>-<h4>-<h4>-<h12>»;IngestionEndpoint=https://x",
        "AWS4-HMAC-SHA256 Credential=AKIA, Signature=«<h64>»",
        "X-Amz-Security-Token=«IQoJb3JpZ2lu<a200>»&X-Amz-Signature=«<h64>»",
        "cosmos: AccountEndpoint=https://x;AccountKey=«<b86>==»;",
    ] {
        set.add("clouds", template);
    }
    for template in [
        "«<d9>:AA<w33>»",
        "https://api.telegram.org/bot<d9>:«AA<w33>»/sendMessage",
        "TELEGRAM_TOKEN=<d10>:«AA<w33>»",
        "bot<d9>:«AA<w33>»",
        "telegram:\n  token: <d10>:«AA<w33>»\n",
        "{\"bot\": \"<d9>:«AA<w33>»\"}",
        "https://api.telegram.org/bot<d9>:«B<w34>»/getMe",
        "token = '<d10>:«AA<w33>»'",
    ] {
        set.add("telegram", &template.replace("«<d9>:", "<d9>:«"));
    }
}

fn urls(set: &mut Set) {
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

fn headers(set: &mut Set) {
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

fn keys(set: &mut Set) {
    let labels = ["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "];
    let frames = [
        "-----BEGIN {l}PRIVATE KEY-----\n{0}\n{1}\n{2}\n-----END {l}PRIVATE KEY-----\n",
        "-----BEGIN {l}PRIVATE KEY-----\n{0}\n{1}\n",
        "{0}\n{1}\n{2}\n-----END {l}PRIVATE KEY-----\n",
        "-----BEGIN {l}PRIVATE KEY-----\\n{0}\\n{1}\\n{2}\\n-----END {l}PRIVATE KEY-----\\n",
        "1:-----BEGIN {l}PRIVATE KEY-----\n2:{0}\n3:{1}\n4:{2}\n5:-----END {l}PRIVATE KEY-----",
        "certs/key.pem:1:-----BEGIN {l}PRIVATE KEY-----\ncerts/key.pem:2:{0}\ncerts/key.pem:3:{1}\n",
        "+-----BEGIN {l}PRIVATE KEY-----\n+{0}\n+{1}\n+{2}\n+-----END {l}PRIVATE KEY-----",
        "-    -----BEGIN {l}PRIVATE KEY-----\n-    {0}\n-    {1}\n-    -----END {l}PRIVATE KEY-----",
        "> -----BEGIN {l}PRIVATE KEY-----\n> {0}\n> {1}\n> {2}\n> -----END {l}PRIVATE KEY-----",
        "     1\t-----BEGIN {l}PRIVATE KEY-----\n     2\t{0}\n     3\t{1}\n     4\t-----END {l}PRIVATE KEY-----",
        "key: |\n    -----BEGIN {l}PRIVATE KEY-----\n    {0}\n    {1}\n    -----END {l}PRIVATE KEY-----\n",
        "\"-----BEGIN {l}PRIVATE KEY-----\\\\n{0}\\\\n{1}\\\\n-----END {l}PRIVATE KEY-----\"",
        "[\"-----BEGIN {l}PRIVATE KEY-----\", \"{0}\", \"{1}\", \"-----END {l}PRIVATE KEY-----\"]",
        "  12 | -----BEGIN {l}PRIVATE KEY-----\n  13 | {0}\n  14 | {1}\n  15 | -----END {l}PRIVATE KEY-----",
    ];
    for (index, frame) in frames.iter().enumerate() {
        for offset in 0..3 {
            let label = labels[(index + offset) % labels.len()];
            set.add(
                "private-keys",
                &frame
                    .replace("{l}", label)
                    .replace("{0}", "«<b64>»")
                    .replace("{1}", "«<b64>»")
                    .replace("{2}", "«<b40>==»"),
            );
        }
    }
}

fn disguises(set: &mut Set) {
    for template in [
        "password\\u003d«<a12>»",
        "{\"a\": \"token\\u003d«<a24>»\\u0026b\"}",
        "{\\u0022password\\u0022:\\u0022«<a12>»\\u0022}",
        "api_key%3D«<a24>»%26x%3D1",
        "%7B%22password%22%3A%22«<a12>»%22%7D",
        "password%3D«<a9>»",
        "&quot;password&quot;:&quot;«<a12>»&quot;",
        "{\\\\\\\"apiKey\\\\\\\":\\\\\\\"«<a24>»\\\\\\\"}",
        "SECRET_KEY\\x3d«<a20>»",
        "https:\\/\\/x.org\\/?token\\u003d«<a24>»",
        "password&#61;«<a12>»",
        "\"db_password\\\": \\\"«<a12>»\\\"",
        "{\"log\":\"DB_PASSWORD=«<a12>»\\nHOME=/root\"}",
        "{\"log\":\"line\\\\nDB_PASSWORD=«<a12>»\\\\nHOME\"}",
        "a\\tpassword=«<a10>»\\tb",
    ] {
        set.add("escapes", template);
    }
    for template in [
        "\u{1b}[32mpassword\u{1b}[0m=«<a12>»",
        "\u{1b}[1mDB_PASSWORD\u{1b}[0m=\u{1b}[33m«<a12>»\u{1b}[0m",
        "\u{1b}[36m\"password\"\u{1b}[39m: \u{1b}[32m\"«<a12>»\"\u{1b}[39m",
        "password: \u{1b}[31m«<m9>»\u{1b}[0m",
        "\\u001b[32mtoken\\u001b[0m: «<a24>»",
        "\u{1b}[34;1m\"apiKey\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m \u{1b}[0;32m\"«<a24>»\"\u{1b}[0m",
        "\u{1b}[38;5;214mAPI_KEY\u{1b}[m=«<a24>»",
        "\u{1b}[2m2024\u{1b}[0m \u{1b}[3msecret\u{1b}[0m\u{1b}[2m=\u{1b}[0m«<a20>»",
        "\u{1b}[31m«ghp_<a36>»\u{1b}[0m",
        "\\x1b[31mpassword\\x1b[0m=«<a12>»",
        "\\033[1mPASSWORD\\033[0m=«<a12>»",
    ] {
        set.add("colours", template);
    }
    for template in [
        "«ghp_<a10>\u{200b}<a26>»",
        "password: «<a6>\u{200b}<a6>»",
        "pass\u{200b}word: «<a12>»",
        "«sk-ant-api03-<a20>\u{feff}<a60>AA»",
        "to\u{200d}ken=«<a24>»",
        "API_KEY=«<a12>\u{2060}<a12>»",
        "«AKIA<u8>\u{ad}<u8>»",
        "\u{feff}DB_PASSWORD=«<a12>»",
        "g\u{200b}h\u{200b}p_«<a36>»",
        "\\u200bpassword=«<a12>»",
    ] {
        set.add("invisible", template);
    }
    for template in [
        "token «ghp_<a16>»\n«<a20>» end",
        "API_KEY=«<a30>»\n«<a18>»\n",
        "export SECRET_KEY=«<a20>»\\\n«<a20>»\n",
        "sk-ant-«api03-<a40>»\n    «<a40>AA»\n",
        "> token: «<a40>»\n> «<a24>»\n",
        "Authorization: Bearer «<a40>»\n «<a30>»\n",
        "«eyJ<a40>.eyJ<a30>»\n«<a40>.<w43>»\n",
        "access_token=«<a60>»=\n«<a20>»\n",
        "  \"secret\": \"«<a40>»\n  «<a20>»\"\n",
        "AWS_SECRET_ACCESS_KEY=«<a20>»\n«<a20>»\n",
    ] {
        set.add("wrapped", template);
    }
}

fn commands(set: &mut Set) {
    let flags = [
        "tool --{n} {s} --verbose",
        "tool --{n}={s}",
        "tool --{n} '{s}'",
        "tool -{n} {s}",
        "[\"tool\", \"--{n}\", \"{s}\"]",
        "$ tool login --user bob --{n} {s}",
        "tool --{n} \"{s}\" https://example.org",
        "args:\n  - --{n}={s}\n",
    ];
    set.cross(
        "flags",
        &flags,
        &[
            "password",
            "db-password",
            "token",
            "api-key",
            "secret",
            "passphrase",
            "client-secret",
            "auth-token",
            "admin-password",
        ],
        &["<a12>", "<m9>", "<a24>", "<l6><d4>", "Summer<d4>!"],
        6,
    );
    for template in [
        "mysql -u root -p«<a9>» shop",
        "mysql -uroot -p«<m8>» -h db",
        "mysqldump -u root -p'«<a9>»' db > x.sql",
        "mysqladmin -p«<a8>» status",
        "mariadb -p«<a9>»",
        "$ mysql -h 127.0.0.1 -u app -p\"«<a9>»\"",
        "{\"cmd\": \"mysql -u root -p«<a9>» -e 'select 1'\"}",
        "7z x -p«<a9>» a.7z",
        "sshpass -p«<a9>» ssh bob@host",
        "sshpass -p '«<a4> <a4>»' ssh bob@host",
        "sshpass -p «<m8>» scp a b:",
        "curl -u bob:«<a9>» https://x",
        "curl -ubob:«<m8>» https://x",
        "curl --user 'bob:«<a5>!<a4>»' https://x",
        "curl -s -X POST -u \"bob:«<a9>»\" https://x",
        "curl --proxy-user bob:«<a9>» https://x",
        "wget --user=bob --password=«<m9>» https://x",
        "http -a bob:«<a9>» :8080",
        "redis-cli -a «<a9>» ping",
        "redis-cli -h c -a «<m8>»",
        "mongosh -u root -p «<a9>» --host db",
        "ldapsearch -x -D cn=admin -w «<a9>» -b x",
        "smbclient //h/s -U bob%«<a9>»",
        "docker login -u bob -p «<a9>» reg.io",
        "openssl enc -k «<m9>» -in a",
        "openssl pkcs12 -passin pass:«<a9>» -in a",
        "keytool -storepass «<a9>» -list",
        "unzip -P «<a9>» a.zip",
        "zip -P «<m8>» a.zip b",
        "sqlcmd -S x -U sa -P «<a9>»",
        "sqlplus scott/«<m6>»@db",
        "xfreerdp /u:b /p:«<a9>» /v:h",
        "htpasswd -bc f bob «<a9>»",
        "gpg --passphrase «<a9>» -d x",
        "echo «<a9>» | sudo -S ls",
        "echo 'root:«<a9>»' | chpasswd",
        "PGPASSWORD=«<a9>» psql -h db",
        "psql \"host=db user=x password=«<a9>»\"",
        "aws configure set aws_secret_access_key «<b40>»",
        "heroku config:set API_KEY=«<a24>»",
        "gh secret set TOKEN --body «<a24>»",
        "kubectl create secret generic x --from-literal=password=«<a9>»",
        "helm install x --set db.password=«<a9>»",
        "ansible-playbook -e ansible_password=«<a9>» x.yml",
        "vault kv put secret/x password=«<a9>»",
        "npm config set //registry.npmjs.org/:_authToken «<a36>»",
        "lftp -u bob,«<a9>» host",
        "mosquitto_pub -u b -P «<a9>» -t x",
        "nmcli dev wifi connect home password «<a9>»",
    ] {
        set.add("options", template);
    }
}

fn files(set: &mut Set) {
    for template in [
        "users:\n- name: admin\n  user:\n    token: «<a40>»\n",
        "    client-key-data: «LS0tLS1CRUdJTi<b200>»\n",
        "- name: x\n  user:\n    password: «<m9>»\n    username: admin\n",
        "users:\n- name: a\n  user:\n    auth-provider:\n      config:\n        access-token: «ya29.<w60>»\n        id-token: «eyJ<a33>.eyJ<a60>.<w43>»\n",
    ] {
        set.add("kubeconfig", template);
    }
    for template in [
        "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"«<b40>=»\"}}}",
        "{\"auths\":{\"ghcr.io\":{\"auth\":\"«<b24>==»\"}}}",
        "{\n  \"auths\": {\n    \"reg\": {\n      \"auth\": \"«<a28>»\",\n      \"email\": \"a@b.c\"\n    }\n  }\n}",
        "{\"auths\":{\"x\":{\"username\":\"bob\",\"password\":\"«<a9>»\",\"auth\":\"«<b30>»\"}}}",
        "{\"auths\":{\"x\":{\"identitytoken\":\"«<a60>»\"}}}",
        "machine github.com login bob password «<a20>»",
        "machine example.org\nlogin bob\npassword «<m8>»\n",
        "default login anonymous password «<a9>»",
        "machine x login y password «<m9>»\nmachine z login w password «<a8>»\n",
        "db.internal:5432:app:bob:«<a9>»",
        "*:*:*:postgres:«<m8>»",
        "localhost:5432:*:app:«<a5>!<a4>»",
        "db:5432:x:y:«<m9>»\ndb2:5432:x:y:«<a9>»\n",
        "//registry.npmjs.org/:_authToken=«<h36>»",
        "_auth=«<b24>==»\nemail=a@b.c",
        "//reg/:_password=«<b20>=»\n//reg/:username=bob",
        "always-auth=true\n_authToken=«<a36>»",
        "[pypi]\nusername = __token__\npassword = «pypi-AgEIcHlwaS5vcmc<w80>»\n",
        "[server]\nrepository: https://x\nusername: bob\npassword: «<m9>»\n",
        "[distutils]\nindex-servers = x\n[x]\nusername=bob\npassword=«<a9>»\n",
    ] {
        set.add("login-files", template);
    }
    for template in [
        "\"outputs\": {\"db_password\": {\"value\": \"«<a16>»\", \"type\": \"string\", \"sensitive\": true}}",
        "\"attributes\": {\n  \"engine\": \"postgres\",\n  \"password\": \"«<m9>»\",\n  \"port\": 5432\n}",
        "\"master_password\": \"«<a12>»\",",
        "\"secret_string\": \"«<a20>»\",",
        "{\"type\": \"random_password\", \"attributes\": {\"result\": \"x\", \"password\": \"«<a20>»\"}}",
        "variable \"db_password\" {\n  type    = string\n  default = \"«<a12>»\"\n}",
        "resource \"x\" \"y\" {\n  username = \"app\"\n  password = \"«<m9>»\"\n}",
        "  master_password      = \"«<a12>»\"",
        "provider \"x\" {\n  api_key = \"«<a24>»\"\n}",
        "db_password = \"«<m9>»\"\n",
        "locals {\n  token = \"«<a24>»\"\n}",
    ] {
        set.add("terraform", template);
    }
    for template in [
        "<password>«<m9>»</password>",
        "<user name=\"bob\" password=\"«<a9>»\"/>",
        "<add key=\"ApiKey\" value=\"«<a24>»\" />",
        "<property name=\"hibernate.connection.password\" value=\"«<m9>»\"/>",
        "<property name=\"password\">«<a9>»</property>",
        "<clientSecret>«<a24>»</clientSecret>",
        "<server><username>bob</username><password>«<a9>»</password></server>",
        "<connection password='«<m8>»' user='x'>",
        "<key>Password</key>\n<string>«<a9>»</string>",
        "<entry key=\"db.password\">«<a9>»</entry>",
        "<add name=\"x\" connectionString=\"Server=db;User Id=sa;Password=«<a9>»;\" />",
        "<wsse:Password Type=\"x\">«<a9>»</wsse:Password>",
    ] {
        set.add("xml", template);
    }
    for template in [
        "set -x DB_PASSWORD «<a9>»",
        "set -gx API_KEY \"«<a24>»\"",
        "set -Ux GITHUB_TOKEN «<a36>»",
        "$env:DB_PASSWORD = \"«<a9>»\"",
        "$env:API_KEY='«<a24>»'",
        "$Password = \"«<m9>»\"",
        "[Environment]::SetEnvironmentVariable(\"API_KEY\", \"«<a24>»\", \"User\")",
        "set DB_PASSWORD=«<a9>»",
        "setx API_KEY «<a24>»",
        "setx TOKEN \"«<a24>»\" /M",
        "set \"PASSWORD=«<a9>»\"",
        "ConvertTo-SecureString '«<m9>»' -AsPlainText -Force",
        "ENV DB_PASSWORD=«<a9>»",
        "ENV API_KEY «<a24>»",
        "ARG NPM_TOKEN=«<a36>»",
        "ENV A=1 SECRET_KEY=«<a20>» B=2",
        "setenv DB_PASSWORD «<a9>»",
        "export -p DB_PASSWORD=«<a9>»",
        "typeset -x TOKEN='«<a24>»'",
    ] {
        set.add("shells", template);
    }
    for template in [
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  password: «<b16>==»\n  tls.key: «<b80>»\n",
        "apiVersion: v1\ndata:\n  config.json: «<b60>»\n  user: «<b12>»\nkind: Secret\n",
        "{\"apiVersion\":\"v1\",\"data\":{\"password\":\"«<b16>»\",\"conn\":\"«<b40>»\"},\"kind\":\"Secret\"}",
        "kind: Secret\nstringData:\n  conn: «<a20>»\n  password: «<m9>»\n",
        "{\"kind\": \"Secret\", \"data\": {\"a\": \"«<b24>»\"}}",
        "- kind: Secret\n  data:\n    token: «<b60>»\n",
    ] {
        set.add("kubernetes", template);
    }
    for template in [
        "CREATE USER bob IDENTIFIED BY '«<a9>»';",
        "CREATE USER 'bob'@'%' IDENTIFIED BY '«<m8>»';",
        "ALTER USER bob WITH PASSWORD '«<a9>»';",
        "CREATE ROLE bob WITH LOGIN PASSWORD '«<m9>»';",
        "ALTER USER root IDENTIFIED WITH mysql_native_password BY '«<a9>»';",
        "SET PASSWORD FOR 'bob'@'localhost' = PASSWORD('«<a9>»');",
        "SET PASSWORD = '«<a9>»';",
        "CREATE LOGIN bob WITH PASSWORD = '«<a9>»';",
        "ALTER LOGIN sa WITH PASSWORD = N'«<m9>»'",
        "create user bob identified by «<m8>»;",
        "GRANT ALL ON *.* TO 'bob'@'%' IDENTIFIED BY '«<a9>»' WITH GRANT OPTION;",
        "INSERT INTO users (name, password) VALUES ('bob', '«<a9>»');",
        "UPDATE users SET password = '«<m9>»' WHERE id = 1;",
        "CREATE USER MAPPING FOR x SERVER y OPTIONS (user 'bob', password '«<a9>»');",
        "CREATE USER bob ENCRYPTED PASSWORD '«<a9>»'",
        "\"query\": \"CREATE USER bob IDENTIFIED BY '«<a9>»'\"",
        "INSERT INTO accounts(id,email,api_key) VALUES (1,'a@b.c','«<a24>»'),(2,'c@d.e','«<a24>»');",
        "CREATE DATABASE LINK l CONNECT TO bob IDENTIFIED BY «<a9>» USING 'x';",
    ] {
        set.add("sql", template);
    }
}

fn languages(set: &mut Set) {
    for template in [
        "the password is «<a9>»",
        "The password for the staging server is «<a9>».",
        "my password was «<l6><d3>», change it",
        "Use «<a9>» as the password.",
        "use `«<m8>»` as password",
        "password is \"«<m8>»\"",
        "The API key is «<a24>».",
        "your new password is: «<a9>»",
        "the root password is «<m8>».",
        "log in as bob with password «<a9>»",
        "I set the password to «<a9>»",
        "the wifi password is «<l6><d3>»!",
        "our token is «<a24>» btw",
        "credentials: admin / «<a9>»",
        "user bob, pass «<a9>»",
        "The passphrase is \"«correct horse <m7>»\"",
        "its PIN code is «<d6>»",
        "pw: «<a9>»",
        "login: bob / «<a9>»",
        "**Password:** «<a9>»",
        "Password → «<a9>»",
        "| password | «<a9>» |",
        "das Passwort ist «<a9>»",
        "Das Passwort lautet: «<a9>»",
        "Kennwort: «<m9>»",
        "le mot de passe est «<a9>»",
        "mot de passe : «<m9>»",
        "la contraseña es «<a9>»",
        "contraseña: «<m9>»",
        "a senha é «<a9>»",
        "senha: «<m8>»",
        "la password è «<a9>»",
        "het wachtwoord is «<a9>»",
        "пароль: «<a9>»",
        "пароль — «<a9>»",
        "密码：«<a9>»",
        "密码是«<a9>»",
        "パスワードは«<a9>»です",
        "パスワード：«<a9>»",
        "비밀번호: «<a9>»",
        "hasło to «<a9>»",
        "şifre: «<a9>»",
    ] {
        set.add("prose", template);
    }
}

fn people(set: &mut Set) {
    for template in [
        "call +«1415555<d4>» today",
        "tel:+«4930123<d4>»",
        "phone=+«44207946<d4>»",
        "\"phone\": \"+«1415555<d4>»\"",
        "+«1415555<d4>»",
        "SMS to +«4917612345<d3>» sent",
        "from: +«33612345<d3>»\n",
        "whatsapp:+«1415555<d4>»",
        "(+«1415555<d4>»)",
        "contact +«81312345<d3>», office",
    ] {
        set.add("phones", template);
    }
}
