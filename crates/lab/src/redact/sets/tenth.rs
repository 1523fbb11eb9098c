//! The tenth set: only groups that X2 names, as a reviewer would spot-check them. Written and measured after the rules were
//! changed for the ninth: 2 of 176 leaked.

use super::Shape;

/// All shapes of the set.
pub fn shapes() -> Vec<Shape> {
    Shape::of_templates(GROUPS, 100_000, 29)
}

const GROUPS: &[(&str, &[&str])] = &[
    ("vendors", VENDORS),
    ("clouds", CLOUDS),
    ("environment", ENVIRONMENT),
    ("json", JSON),
    ("settings", SETTINGS),
    ("headers", HEADERS),
    ("cookies", COOKIES),
    ("telegram", TELEGRAM),
    ("private-keys", KEYS),
    ("database-urls", DATABASES),
    ("jwt", JWT),
    ("userinfo", USERINFO),
    ("parameters", PARAMETERS),
    ("phones", PHONES),
];

const VENDORS: &[&str] = &[
    "auth with «ghr_<a36>» failed",
    "(«github_pat_<a22>_<a59>»)",
    "token=«glpat-<w20>»",
    "`«gloas-<h64>»`",
    "CI_JOB_TOKEN «glcbt-64_<w20>»",
    "xoxs-«<d12>-<d12>-<d12>-<h64>»",
    "hook https://hooks.slack.com/triggers/T<u8>/<d13>/«<h32>»",
    "\"«sk_test_<a99>»\"",
    "pay with «rk_live_<a24>».",
    "«sk-<a48>»",
    "key:«sk-ant-api03-<w93>AA»;",
    "[«AIza<w35>»]",
    "https://huggingface.co with «hf_<a34>»",
    "mailgun «<h32>-<h8>-<h8>»",
    "«SG.<w22>.<w43>» is revoked",
    "SK<h32> and its secret «<a32>»",
    "«AC<h32>:<h32>»",
    "«npm_<a36>» in .npmrc",
    "«pypi-AgENdGVzdC5weXBpLm9yZw<w100>»",
    "dockerhub «dckr_pat_<w27>»",
    "«shppa_<h32>», «shpca_<h32>»",
    "square «sq0atp-<w22>»",
    "«EAACEdEose0cBA<a120>»",
    "«ya29.a0<w120>»",
    "«dt0s16.<u8>.<u64>»",
    "«NRAK-<u27>», «NRII-<w32>»",
    "«PMAK-<h24>-<h34>»",
    "«tfp_<w43>»",
    "linear «lin_api_<a40>»",
    "«ATATT3xFfGF0<w180>»",
    "jfrog «AKCp<a69>»",
    "«cmVmdGtuOjAxOj<a50>»",
    "«hvs.CAESI<w90>»",
    "«s.<a24>» (vault)",
    "sentry «sntryu_<h64>»",
    "«dop_v1_<h64>»",
    "«pscale_pw_<w43>»",
    "«EZTK<a54>»",
    "«rubygems_<h48>»",
    "discord «MTA5<a22>.<w6>.<w38>»",
];

const CLOUDS: &[&str] = &[
    "aws_access_key_id: «AKIA<u16>»",
    "aws_secret: «<b40>»",
    "AWS_SECRET_ACCESS_KEY=\"«<b40>»\"",
    "secretAccessKey: '«<b40>»',",
    "  aws_session_token = «IQoJb3JpZ2luX2Vj<b220>»",
    "ABIA<u16> ACCA<u16> «ASIA<u16>»",
    "AccountKey=«<b86>==»",
    "azure client_secret=«<a3>7Q~<w31>»",
    "SharedAccessSignature sr=x&sig=«<b43>%3d»&se=1",
    "AZURE_DEVOPS_EXT_PAT=«<l52>»",
    "GOOGLE_API_KEY: «AIza<w35>»",
    "\"private_key_id\":\"«<h40>»\"",
    "client_secret_<d12> = «GOCSPX-<w28>»",
    "access_key_secret=«<a30>» # aliyun",
    "yc token «t1.<w40>.<w86>»",
];

const ENVIRONMENT: &[&str] = &[
    "PASSWORD=«<m10>»",
    "export ADMIN_PASS=\"«<m5>@<d3>»\"",
    "API_SECRET=«<h40>»",
    "GITHUB_TOKEN=«<a40>»",
    "JENKINS_PAT=«<h34>»",
    "MAIL_PASSWORD=«<m4>!<m4>»",
    "APP_SECRET='«<a32>»'",
    "DB_PWD=«<m7>»",
    "ROOT_PASSWORD=«sunshine»",
    "SSH_PASSPHRASE=«<m6>»",
    "CLIENT_SECRET: «<a32>»",
    "PRIVATE_KEY=«<h64>»",
    "STRIPE_WEBHOOK_SECRET=«whsec_<a32>»",
    "AUTH_TOKEN=«<h32>»;",
    "ENC_KEY=«<b43>=»",
    "export K8S_TOKEN=«<w64>»",
    "X_API_KEY=«<a24>» Y=2",
    "-e REDIS_PASSWORD=«<m9>»",
    "SECRET=«<m14>»",
    "ACCESS_TOKEN='«<w43>»'",
    "BACKUP_ENCRYPTION_PASSWORD=«<m11>»",
    "FTP_PASSWD=«<m6><d2>»",
    "TOKEN=«<l40>»",
    "OPENAI_API_KEY=«sk-<a48>» # mine",
];

const JSON: &[&str] = &[
    "{\"username\":\"amy\",\"password\":\"«<m10>»\"}",
    "{\"pwd\": \"«<m7>»\"}",
    "{\"apikey\":\"«<h32>»\"}",
    "{\"api_secret\" : \"«<a24>»\"}",
    "\"secret\": \"«<m12>»\",",
    "{\\\"access_token\\\":\\\"«<w43>»\\\",\\\"x\\\":1}",
    "\"{\\\\\\\"password\\\\\\\":\\\\\\\"«<m9>»\\\\\\\"}\"",
    "{\"auth_token\":\"«<h40>»\"}",
    "{\"refresh_token\": \"«<w64>»\"}",
    "{\"clientSecret\":\"«<a32>»\",\"clientId\":\"x\"}",
    "{\"db\":{\"user\":\"a\",\"pass\":\"«<m8>»\"}}",
    "{\"passwd\":\"«sunflower»\"}",
    "{\"private_key\":\"«<h64>»\"}",
    "{\"Authorization\":\"Basic «<b24>»\"}",
    "{\"sessionToken\":\"«<b120>»\"}",
    "{\"encryptionKey\":\"«<b43>=»\"}",
    "{\"password\":\"«<m3> <m4>»\"}",
    "{\"Password\": «<d8>»}",
    "{\"passphrase\":\"«<m6>-<m6>»\"}",
    "{\"credentials\":\"«<b40>»\"}",
    "{\"x\":[{\"token\":\"«<a32>»\"}]}",
    "'{\"password\": \"«<m9>»\"}'",
];

const SETTINGS: &[&str] = &[
    "db_password: «<m10>»",
    "app:\n  secret: «<m12>»",
    "password=«sunflower»",
    "spring.mail.password=«<m8>»",
    "token: \"«<a40>»\"",
    "api_key = «<h32>»",
    "[smtp]\npass = «<m8>»",
    "jdbc.password : «<m9>»",
    "secret-key: «<a32>»",
    "auth_token: '«<h40>»'",
    "passphrase: «<m6> <m5> <m6>»",
    "client-secret = \"«<a24>»\"",
    "ldap:\n  bind_password: \"«<m5>#<d2>»\"",
    "redis.password=«<m9>»",
    "private_key: «<h64>»",
    "pwd: «<m7>»",
    "users:\n  amy:\n    password: «<m9>»",
    "access_token=«<w43>»",
    "keystore.password=«changeit<d3>»",
    "  encryption_key:   «<b43>=»",
];

const HEADERS: &[&str] = &[
    "Authorization: Bearer «<w43>»",
    "Authorization: Basic «<b20>»",
    "authorization: Bearer «<m30>»",
    "X-API-Key: «<h40>»",
    "x-api-key: «<a24>»",
    "Proxy-Authorization: Bearer «<w43>»",
    "-H 'Authorization: token «<h40>»'",
    "\"Authorization\": f\"Bearer «<a40>»\"",
    "X-Auth-Token:«<a32>»",
    "Authorization: Digest username=\"a\", nonce=\"b\", response=\"«<h32>»\"",
    "x-access-token: «<w43>»",
    "Authorization: ApiKey «<b44>»",
];

const COOKIES: &[&str] = &[
    "Cookie: session=«<h32>»",
    "Set-Cookie: sid=«<w43>»; HttpOnly; Secure",
    "Cookie: a=1; token=«<w43>»; b=2",
    "set-cookie: auth=«<w64>»; Max-Age=3600",
    "Cookie: _session_id=«<h32>»",
    "Set-Cookie: refresh_token=«<w64>»; Path=/auth",
];

const TELEGRAM: &[&str] =
    &["TELEGRAM_BOT_TOKEN=«<d10>:AA<w33>»", "bot«<d9>:AA<w33>»", "token «<d10>:AA<w33>» for the bot"];

const KEYS: &[&str] = &[
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE«<b60>\n<b64>\n<b64>»\n-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n«<b64>\n<b64>»",
    "«<b64>\n<b64>\n<b64>»\n-----END PRIVATE KEY-----",
    "KEY='-----BEGIN EC PRIVATE KEY-----\\n«<b64>»\\n-----END EC PRIVATE KEY-----\\n'",
    "  | -----BEGIN OPENSSH PRIVATE KEY-----\n  | «<b70>»\n  | «<b70>»",
];

const DATABASES: &[&str] = &[
    "postgres://amy:«<m10>»@localhost/x",
    "mysql://u:«<m4>%21<d2>»@h:3306/d",
    "mongodb://amy:«<a12>»@h/d",
    "redis://:«<m9>»@h:6379",
    "Server=h;Uid=u;Pwd=«<m9>»;",
    "DATABASE_URL: postgresql://a:«<a20>»@h:5432/d?sslmode=require",
    "amqp://u:«<m8>»@h",
    "mssql://sa:«<m6>!<d2>»@h",
];

const JWT: &[&str] = &[
    "eyJ: «eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ<w80>.<w43>»",
    "access_token=«eyJhbGciOiJSUzI1NiJ9.eyJ<w120>.<w340>»&x",
    "\"«eyJhbGciOiJFUzI1NiJ9.eyJ<w60>.<w86>»\"",
];

const USERINFO: &[&str] = &[
    "https://amy:«<m9>»@x.example/r.git",
    "http://u:«<m5>1»@proxy:8080",
    "https://«ghp_<a36>»@github.com/o/r",
    "ftp://a:«<m8>»@h/",
    "https://gitlab-ci-token:«<w20>»@gitlab.x/o/r.git",
];

const PARAMETERS: &[&str] = &[
    "https://x.example/?api_key=«<h32>»",
    "https://x.example/a?token=«<w43>»&b=1",
    "user=a&password=«<m9>»",
    "client_id=x&client_secret=«<a32>»",
    "https://x.example/cb?code=«<w40>»",
    "https://x.example/f?signature=«<h64>»",
    "access_token=«<w43>»&scope=a",
    "pass=«<m9>»&user=b",
    "https://x.example/?auth_token=«<a24>»",
];

const PHONES: &[&str] =
    &["text «+1 415 555 <d4>» now", "call «+49 170 <d7>»", "phone: «+33 6 <d2> <d2> <d2> <d2>»", "«+447<d9>»"];
