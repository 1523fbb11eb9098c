//! The fourth set: once more written without a look at the rules, to see whether what was mended is mended in general.

use super::Shape;

/// All shapes of the set.
pub fn shapes() -> Vec<Shape> {
    let all = [
        ("vendors", VENDORS),
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
        ("clouds", CLOUDS),
        ("letters", LETTERS),
        ("flags", FLAGS),
        ("options", OPTIONS),
        ("block-scalars", BLOCKS),
        ("escapes", ESCAPES),
        ("colours", COLOURS),
        ("invisible", INVISIBLE),
        ("wrapped", WRAPPED),
        ("sql", SQL),
        ("prose", PROSE),
        ("login-files", LOGINS),
        ("terraform", TERRAFORM),
        ("xml", XML),
        ("shells", SHELLS),
        ("kubernetes", KUBERNETES),
    ];
    Shape::of_templates(&all, 500_000, 7)
}

const VENDORS: &[&str] = &[
    "oops, pushed «github_pat_11<u9>0<a13>_<a59>»",
    "Bearer «sk-or-v1-<h64>»",
    "key=«AIzaSy<w33>»&cx=1",
    "xoxe: «xoxe.xoxp-1-<a166>»",
    "«xoxs-<d12>-<d12>-<d12>-<h10>»",
    "curl -H \"Authorization: Bearer «sk-svcacct-<w110>»\"",
    "\u{2022} «glsoat-<w20>» \u{2022}",
    "ansible-vault: «npm_<a36>»,«npm_<a36>»",
    "HEROKU «HRKU-AA<w58>»",
    "webhook: https://outlook.webhook.office.com/webhookb2/«<h8>-<h4>-<h4>-<h4>-<h12>@<h8>-<h4>-<h4>-<h4>-<h12>/IncomingWebhook/<h32>/<h8>-<h4>-<h4>-<h4>-<h12>»",
    "rk_live: «rk_live_<a24>»",
    "<!-- «ATCTT3xFfGN0<w170>=<u8>» -->",
    "jfrog: «AKCp<a69>» / «cmVmdGtuOjAxO<a51>»",
    "snyk «snyk_uat.<h8>.<a60>»",
    "confluent cfut «cfut_<a48>»",
    "brevo «xkeysib-<h64>-<a16>»",
    "sendinblue «xsmtpsib-<h64>-<a16>»",
    "contentful «CFPAT-<w43>»",
    "prefect «pnu_<a36>»",
    "e2b «e2b_<h40>»",
    "age: «AGE-SECRET-KEY-1<u58>»\n# public key: age1x",
    "clojars «CLOJARS_<l60>»",
    "readme «rdme_<l70>»",
    "shippo «shippo_test_<h40>»",
    "typeform «tfp_<w44>_<a14>»",
    "hubspot «pat-eu1-<h8>-<h4>-<h4>-<h4>-<h12>»",
    "gem push with «rubygems_<h48>»",
    "openshift «sha256~<w43>»",
    "1p «ops_eyJ<a300>»",
    "adobe «p8e-<a32>»",
    "asana 1/<d16>:«<h32>» ASANA_TOKEN=1/<d16>:«<h32>»",
    "notion: «secret_<a43>»",
    "fireworks FIREWORKS_API_KEY: «fw_<a24>»",
    "nvidia «nvapi-<w64>»",
    "posthog «phx_<a47>»",
];

const ENVIRONMENT: &[&str] = &[
    "DB_PASSWORD = \"«<a10>»\"",
    "export   SECRET_KEY_BASE='«<h128>»'",
    "\"KEYCLOAK_ADMIN_PASSWORD=«<m9>»\",",
    "'--env=POSTGRES_PASSWORD=«<a9>»'",
    "WORDPRESS_DB_PASSWORD: \"«<a14>»\"",
    "[env] STRIPE_WEBHOOK_SECRET=«whsec_<a32>»",
    "env.DB_PASS=«<a9>»",
    "DB__PASSWORD=«<a9>»",
    "db_password=«<a5>#<a5>»",
    "MY_APP_API_KEY_PROD=«<a32>»",
    "SMTP_PASS=\"«<l4> <l4> <l4> <l4>»\"",
    "ENCRYPTION_KEY=base64:«<b43>=»",
    "PRIVATE_KEY=0x«<h64>»",
    "MNEMONIC=\"«<m5> <m6> <m4> <m7> <m5> <m6>»\"",
    "Environment variables:\n  SECRET=«<a20>»\n  HOME=/root",
    "os.environ: {'TOKEN': '«<a30>»'}",
    "PASSWORD=«<d8>»",
    "REDIS_AUTH=«<a20>»",
    "LICENSE_KEY=«<u5>-<u5>-<u5>-<u5>-<u5>»",
    "unset X; export PGPASSWORD=«<m9>»; psql",
];

const JSON: &[&str] = &[
    "{\"password\":\"«<a9>»\"}{\"password\":\"«<a9>»\"}",
    "{\"oldPassword\":\"«<m8>»\",\"newPassword\":\"«<a9>»\"}",
    "{\"confirm_password\": \"«<a9>»\"}",
    "{\"credentials\":[{\"type\":\"password\",\"value\":\"«<a9>»\"}]}",
    "{ \"secret\" : \"«<a16>»\" , \"n\" : 1 }",
    "{\"a\":1,\"token\":\"«<h40>»\"}",
    "{\"idToken\":\"«<a80>»\",\"refreshToken\":\"«<a80>»\"}",
    "{\"proxy\":{\"auth\":{\"username\":\"a\",\"password\":\"«<m8>»\"}}}",
    "{\"aws\":{\"accessKeyId\":\"«AKIA<u16>»\",\"secretAccessKey\":\"«<b40>»\"}}",
    "{\"signature_secret\":\"«<a24>»\"}",
    "{\"user_password\":null,\"db_password\":\"«<a9>»\"}",
    "'{\"password\":\"«<a9>»\"}'",
    "\"{\\\"apiKey\\\":\\\"«<a32>»\\\",\\\"n\\\":1}\"",
    "{\"arguments\":\"{\\\"command\\\":\\\"export TOKEN=«<a24>»\\\"}\"}",
    "{\"output\":\"password: «<m9>»\\nuser: x\"}",
    "{\"kubeadm_token\":\"«<l6>.<l16>»\"}",
    "{\"client\":{\"id\":\"x\",\"secret\":\"«<a24>»\"}}",
    "{\"ssh_password\":\"«<a5>'<a5>»\"}",
    "{\"api\":{\"key\":\"«<h32>»\"}}",
    "{\"pass_phrase\":\"«<m6> <m6>»\"}",
];

const SETTINGS: &[&str] = &[
    "mail:\n  password: \"«<l16>»\"\n",
    "server.ssl.key-store-password=«<m8>»",
    "[auth]\ntoken: «<a40>»",
    "db.default.password=\"«<a9>»\"",
    "elasticsearch.password: \"«<a20>»\"",
    "$config['db_password'] = \"«<a9>»\";",
    "secret = '«<a24>»'",
    "passwords:\n  - «<a10>»\n",
    "user: \"a\"\npassword: \"«<a5> <a5>»\"\n",
    "MASTER_PASSWORD: '«<a9>»'",
    "http_password: !secret x\napi_password: «<a10>»",
    "[s3]\naccess_key_id = AKIA\nsecret_access_key = «<b40>»\n",
    "grafana:\n  adminPassword: «<m9>»\n",
    "auth.token = «<h64>»",
    "ldap:\n  bindPassword: '«<a9>»'\n",
    "api-secret = \"«<a30>»\"",
    "POSTGRES_PASSWORD ?= «<a9>»",
    "const.apiKey=«<a32>»",
    "proxy.password = «<a4>:<a4>»",
    "ssh_pass=«<a9>»",
];

const HEADERS: &[&str] = &[
    "Authorization: Bearer «<h64>»\\r\\n",
    "\"authorization\": [\"Bearer «<a40>»\"]",
    "Authorization → Bearer «<a40>»",
    "Authorization: token «<h40>»",
    "authorization: Basic «<b28>» (user a)",
    "req.headers['x-api-key'] = '«<a32>»'",
    "X-Amz-Security-Token: «<b200>»",
    "x-functions-key: «<b54>==»",
    "X-Plex-Token: «<a20>»",
    "CF-Access-Client-Secret: «<h64>»",
    "Circle-Token: «<h40>»",
    "X-Figma-Token: «<a40>»",
    "X-RapidAPI-Key: «<a50>»",
    "WWW-Authenticate: x\nAuthorization: NTLM «<b60>»",
    "Authorization: Negotiate «<b120>»",
    "X-Auth-Email: a@b.c\nX-Auth-Key: «<h37>»",
];

const COOKIES: &[&str] = &[
    "Cookie: session_id=«<a24>»",
    "Set-Cookie: XSRF-TOKEN=«<a40>»; expires=Tue, 01-Jan-2030 00:00:00 GMT",
    "cookie: wordpress_logged_in_abc=«ann%7C<d10>%7C<a43>%7C<h64>»",
    "{'Set-Cookie': 'sid=«<a30>»; Max-Age=3600'}",
    "curl -H 'Cookie: SESSION=«<h32>»'",
    "Cookie: a=«<a20>»; b=«<a20>»",
];

const TELEGRAM: &[&str] = &[
    "TELEGRAM_BOT_TOKEN: '<d10>:«AA<w33>»'",
    "https://api.telegram.org/bot<d10>%3A«AA<w33>»/getMe",
    "new TelegramBot(\"<d10>:«AA<w33>»\", {polling: true})",
    "bot<d10>:«AA<w33>»",
];

const KEYS: &[&str] = &[
    "-----BEGIN RSA PRIVATE KEY-----\r\n«<b64>»\r\n«<b64>»\r\n-----END RSA PRIVATE KEY-----\r\n",
    "ssh_key: \"-----BEGIN OPENSSH PRIVATE KEY-----\\n«<b70>»\\n«<b70>»\\n-----END OPENSSH PRIVATE KEY-----\\n\"",
    "  - |\n    -----BEGIN PRIVATE KEY-----\n    «<b64>»\n    «<b64>»\n    -----END PRIVATE KEY-----",
    "// -----BEGIN EC PRIVATE KEY-----\n// «<b64>»\n// «<b44>»\n// -----END EC PRIVATE KEY-----",
    "12:-----BEGIN PRIVATE KEY-----\n13:«<b64>»\n14:«<b64>»\n--\n20:x",
    "id_rsa-3-«<b64>»\nid_rsa-4-«<b64>»\nid_rsa:5:-----END RSA PRIVATE KEY-----\n",
    "+++ b/key\n+    -----BEGIN RSA PRIVATE KEY-----\n+    «<b64>»\n+    «<b64>»\n",
    "| -----BEGIN PRIVATE KEY-----\n| «<b64>»\n| «<b64>»\n| -----END PRIVATE KEY-----",
    "<![CDATA[-----BEGIN RSA PRIVATE KEY-----\n«<b64>»\n«<b64>»\n-----END RSA PRIVATE KEY-----]]>",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n«<b64>»\n... (truncated)",
];

const DATABASES: &[&str] = &[
    "postgres://u:«<a10>»@h:5432/d?sslmode=disable&x=y",
    "psql postgresql://a:«<m8>»@localhost",
    "mysql2://u:«<a9>»@h/d",
    "redis://:«<a24>»@h:6379/0",
    "'mongodb://%s' → mongodb://u:«<a9>»@h",
    "jdbc:sqlserver://h;user=sa;password=«<a9>»;",
    "jdbc:oracle:thin:scott/«<m6>»@h:1521:x",
    "postgres://u:«<a4>@<a4>»@h/d",
    "amqps://a:«<a9>»@b-1.mq.amazonaws.com:5671",
    "snowflake://u:«<a9>»@acct/db",
    "ADO: User=sa;Pwd=«<a9>»;Server=h",
    "db+postgresql://u:«<a9>»@h/d",
];

const JWT: &[&str] = &[
    "\"jwt\":«\"eyJ<a33>.eyJ<a60>.<w43>\"»",
    "Cookie: access=«eyJ<a33>.eyJ<a60>.<w43>»",
    "https://jwt.io/#debugger-io?token=«eyJ<a33>.eyJ<a60>.<w43>»",
    "«eyJ<a33>.eyJ<a60>.<w43>»\n",
];

const USERINFO: &[&str] = &[
    "git push https://oauth2:«glpat-<w20>»@gitlab.com/a/b",
    "https://a:«<m8>»@x.com/p?q=1#f",
    "socks5://u:«<a9>»@127.0.0.1:1080",
    "http://u:«<a9>»@h:80, http://u:«<a9>»@h2:80",
    "sftp://u:«<a9>»@h:22/p",
    "imaps://u%40x.com:«<a9>»@imap.x.com:993",
    "origin  https://«ghp_<a36>»@github.com/a/b (fetch)",
    "<https://u:«<a9>»@h/>",
];

const PARAMETERS: &[&str] = &[
    "?client_secret=«<a30>»",
    "https://x/?access_token=«<a40>»\n",
    "'/api?key=«<a32>»&v=1'",
    "username=ann&password=«<m8>»",
    "https://x/cb?code=4%2F0A«<w70>»&scope=x",
    "?X-Goog-Signature=«<h256>»",
    "https://x/?sessionid=«<a32>»",
    "https://x/invite?invite_token=«<a24>»",
    "pw=«<a9>»&u=1",
    "https://x/y;jsessionid=«<u32>»",
    "api_key:«<a32>» q:x",
    "&refresh_token=«<w60>»",
];

const PHONES: &[&str] = &[
    "+«14155550<d3>»\n",
    "Phone +«44 20 7946 0<d3>»",
    "number=\"+«12125550<d3>»\"",
    "(+«49) 30 1234<d3>»",
    "+«6591234<d3>»",
    "call +«7 (495) 123-45-<d2>»",
];

const CLOUDS: &[&str] = &[
    "[profile x]\naws_access_key_id = «AKIA<u16>»\naws_secret_access_key = «<b40>»\nregion = eu-west-1",
    "AWS_SECRET_KEY: «<b40>»",
    "{\"Credentials\":{\"AccessKeyId\":\"«ASIA<u16>»\",\"SecretAccessKey\":\"«<b40>»\",\"SessionToken\":\"«FwoGZXIvYXdzE<b200>»\"}}",
    "secret access key: «<b40>»",
    "AccountName=x;AccountKey=«<b86>==»",
    "BlobEndpoint=https://x;SharedAccessSignature=sv=2021&sig=«<a40>%3D»",
    "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=«<b43>=»;EntityPath=e",
    "clientSecret: «<a3>8Q~<w34>»",
    "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n«<b64>»\\n«<b64>»\\n-----END PRIVATE KEY-----\\n\", \"client_email\": \"x\"",
    "GOOGLE_API_KEY=«AIzaSy<w33>»",
    "gcp token: «ya29.a0<w150>»",
    "ARM_ACCESS_KEY=«<b86>==»",
    "az_key: «<b86>==»",
    "OS_PASSWORD=«<a12>» OS_USERNAME=x",
];

const LETTERS: &[&str] = &[
    "password: «correcthorse»\n",
    "user: ann\npassword: «Winterfell»\nrole: admin\n",
    "password «<m9>»\n",
    "db.password : «<m9>»",
    "PASSWORD=«Trustno»",
    "adminPassword: «<m10>»",
    "  passwd   «<m8>»",
    "client_secret: «<m20>»",
    "password=«<m9>»,user=ann",
    "{password: «<m9>», user: ann}",
    "root_password = '«<m8>»'",
    "The password: «<m9>»",
];

const FLAGS: &[&str] = &[
    "cmd --password=«<m8>»",
    "cmd --password '«<a4> <a4>»'",
    "cmd --token \"«<a30>»\" --x",
    "cmd --api_key «<h32>»",
    "cmd --secretKey=«<b40>»",
    "cmd -token «<a24>»",
    "cmd --db-url postgres://u:«<a9>»@h/d",
    "cmd /password:«<a9>»",
    "cmd --auth ann:«<a9>»",
    "cmd --pw «<a9>»",
    "cmd --basic-auth-password «<m8>»",
    "\"args\":[\"--access-key\",\"«<u20>»\",\"--secret-key\",\"«<b40>»\"]",
];

const OPTIONS: &[&str] = &[
    "/usr/bin/mysql -uroot -p«<a9>»",
    "mysql -u root -p«<a9>»",
    "mysql -u root --password=«<m8>» x",
    "curl -u ann:«<a9>» -O https://x",
    "curl https://x -u ann:«<m8>»",
    "curl -uann:«<a5>@<a4>» https://x",
    "sshpass -p«<m8>» ssh -o X=no a@h",
    "redis-cli -h h -a '«<a9>»' info",
    "mongosh \"mongodb://h\" --username a --password «<m8>»",
    "psql \"postgresql://u:«<a9>»@h/d\" -c x",
    "ldapsearch -x -w «<m8>» -D x",
    "7z x a.7z -p«<a9>»",
    "unzip -P '«<a9>»' x",
    "smbclient //h/s -U a%«<m8>»",
    "az login -u a -p «<a9>»",
];

const BLOCKS: &[&str] = &[
    "token: >\n  «<a40>»\n",
    "db:\n    password: |\n        «<m9>»\n    user: x\n",
    "private_key: |2\n    «<b60>»\n",
    "passwd: |\n\n  «<a12>»\n",
    "- secret: |-\n    «<a24>»\n  name: y\n",
];

const ESCAPES: &[&str] = &[
    "\"text\":\"{\\\\\\\"secret\\\\\\\":\\\\\\\"«<a20>»\\\\\\\"}\"",
    "password%3A%20«<a9>»",
    "{\"x\":\"PASSWORD\\u003d\\u0022«<a9>»\\u0022\"}",
    "&lt;secret&gt;«<a16>»&lt;/secret&gt;",
    "body=%7B%22token%22%3A%22«<a24>»%22%7D",
    "\\nAPI_KEY=«<a24>»\\n",
    "'password\\': \\'«<a9>»\\''",
    "\"password\\u0022: \\u0022«<a9>»\\u0022",
];

const COLOURS: &[&str] = &[
    "\u{1b}[1m\u{1b}[31mpassword\u{1b}[0m\u{1b}[0m = \u{1b}[32m«<a9>»\u{1b}[0m",
    "\u{1b}[32mexport\u{1b}[0m \u{1b}[36mTOKEN\u{1b}[0m=«<a24>»",
    "token=\u{1b}[1m«<a12>\u{1b}[0m\u{1b}[1m<a12>»\u{1b}[0m",
    "\u{1b}[33mcurl -u ann:«<a9>»\u{1b}[0m",
];

const INVISIBLE: &[&str] = &[
    "se\u{200b}cret: «<a16>»",
    "password:\u{200b} «<m9>»",
    "«sk-<a10>\u{200b}<a38>»",
    "«<a6>\u{200b}<a6>» is the password",
    "API\u{a0}key: «<a32>»",
];

const WRAPPED: &[&str] = &[
    "export TOKEN=«<a60>»\n«<a30>»\n",
    "\"token\": \"«<a40>»\" +\n  \"«<a24>»\"",
    "token: «<a40>»-\n«<a20>»\n",
    "The API key is\n«<a40>»\n",
    "ghp token: «ghp_<a20>»\n«<a16>»\n",
];

const SQL: &[&str] = &[
    "CREATE USER a PASSWORD '«<a9>»';",
    "ALTER USER a SET PASSWORD = '«<m8>»'",
    "CREATE USER IF NOT EXISTS 'a'@'h' IDENTIFIED BY '«<a9>»'",
    "grant all privileges on x.* to a@'%' identified by '«<m8>»';",
    "INSERT INTO users(username,passwd) VALUES('a','«<a9>»')",
    "update accounts set secret = '«<a20>»' where id=1",
    "create role a with password '«<m8>»' login",
    "ALTER USER sa WITH LOGIN PASSWORD '«<a5>''<a4>»'",
    "CREATE SERVER s OPTIONS (host 'h'); CREATE USER MAPPING OPTIONS (password '«<a9>»')",
];

const PROSE: &[&str] = &[
    "Please use the password «<a9>»",
    "password is now «<a9>»",
    "pw is «<a9>»",
    "pass is «<a9>»",
    "The credentials are admin / «<a9>»",
    "Here's the key: «<a40>»",
    "Here is your token — «<a40>»",
    "new password → «<a9>»",
    "the db password (prod) is «<a9>»",
    "my password's «<a9>»",
    "password changed from «<a9>» to «<a9>»",
    "Wifi: HomeNet / «<l10>»",
    "Das neue Passwort: «<a9>»",
    "Passwort «<a9>» eingeben",
    "mot de passe: «<m9>»",
    "le mot de passe root c'est «<a9>»",
    "clave: «<m9>»",
    "senha «<a9>»",
    "Пароль: «<m9>»",
    "密码: «<m9>»",
    "密码 «<a9>»",
    "パスワード «<a9>»",
    "contrasena=«<m9>»",
    "hasło: «<m9>»",
];

const LOGINS: &[&str] = &[
    "machine h\nlogin a\npassword «<a20>»",
    "machine h login a account x password «<m8>»",
    "h:5432:d:u:«<m8>»\n",
    "\"https://r/v2/\": {\"auth\": \"«<b24>»\"}",
    "//r/:_authToken=\"«<a36>»\"",
    "[pypi]\npassword=«pypi-<w150>»",
    "username=a\npassword=«<m9>»\n",
    "host: h\nuser: a\npass: «<m6><d2>»",
    "Host x\n  User a\n  # password «<a9>»",
    "[http]\n\tproxy = http://a:«<a9>»@p:1",
];

const TERRAFORM: &[&str] = &[
    "password = \"«<a9>»\"",
    "  \"password\"             = \"«<a9>»\"",
    "variable \"password\" {\n  type = string\n  default = \"«<m9>»\"\n}",
    "token = var.x != \"\" ? var.x : \"«<a24>»\"\napi_token = \"«<a24>»\"",
    "\"db_password\": {\n  \"value\": \"«<a12>»\"\n}",
    "set_sensitive {\n  name  = \"password\"\n  value = \"«<a9>»\"\n}",
];

const XML: &[&str] = &[
    "<password >«<a9>»</password >",
    "<a:Password>«<m9>»</a:Password>",
    "<add key='password' value='«<m8>»'/>",
    "<db user=\"a\" pass=\"«<a9>»\"/>",
    "<token value=\"«<a30>»\"/>",
    "<apikey>«<a32>»</apikey>",
    "<entry key=\"secret\"><![CDATA[«<a20>»]]></entry>",
    "<Option name='Password'>«<a9>»</Option>",
];

const SHELLS: &[&str] = &[
    "set -x TOKEN «<a24>»; cmd",
    "set -Ux PASSWORD «<m8>»",
    "$env:PASSWORD=\"«<m8>»\"",
    "$token = \"«<a30>»\"",
    "set TOKEN=«<a24>»",
    "ENV TOKEN=«<a24>»",
    "ENV A=b PASSWORD=\"«<a9>»\"",
    "export SECRET=$'«<a16>»'",
    "TOKEN=\"${TOKEN:-«<a24>»}\"",
    "env PASSWORD=«<m8>» cmd",
];

const KUBERNETES: &[&str] = &[
    "kind: Secret\ndata:\n  a: «<b20>»\n  b: «<b20>»\nmetadata: {}\n",
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  api-key: \"«<a24>»\"\n",
    "    token: «eyJ<a30>.eyJ<a50>.<w43>»\n    client-key-data: «<b100>»\n",
    "- name: SECRET\n  value: «<a16>»\n",
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"x\":\"«<b24>»\"}}",
];
