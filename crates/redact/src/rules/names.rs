//! Secrets that only the name beside them gives away.
//!
//! The keywords are the parts of names that open the gate. Which names count is in `words.rs`, which values in
//! `named_value.rs`, what binds a name to its value in `binding.rs`.

use crate::rule::{Rule, Shape};
use std::sync::LazyLock;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::special("password", "Value of a password field, variable, flag or parameter",
        &["pass", "pwd", "psw", "psk", "_pw", "-pw", "pw=", "pw:", "pw\"", "pw ", "pw'", "_pat", "-pat", "pat=", "pat:", "pat\"", "-pin", "_pin", "pin:", "pin=", "pin\"", "pin ", "kennwort", "contrase", "senha", "parola", "wachtwoord", "salasana", "adgangskode", "heslo", "haslo", "lozinka", "geslo", "sifre", "clave", "mdp", "jelszo", "losenord",
            "hasło", "jelszó", "lösenord", "mật khẩu", "şifre", "Şifre", "κωδικός", "Κωδικός", "пароль", "Пароль", "ПАРОЛЬ", "sandi", "סיסמה", "كلمة المرور", "รหัสผ่าน", "口令", "密码", "密碼", "暗証番号", "パスワード", "비밀번호", "암호"], Shape::Name).chosen()
        .hits(&["DB_PASSWORD=<a8>", "password: hunter2", "password: sunshine", "\"password\": \"<a6>\"", "{\\\"password\\\": \\\"<a9>\\\"}", "password = <a10>", "spring.datasource.password=<a10>", "export PGPASSWORD='<a12>'", "--password <a9>", "--password sunshine", "<password>swordfish</password>",
            "user=bob password=<a7> host=db", "\"passphrase\": \"correct horse battery staple\"", "Server=db;Password=<a9>;Database=x", "MYSQL_PWD=<a9>", "const password: string = \"<a9>\"", "password=p!<a5>&user=x", "name: DB_PASSWORD\n  value: <a9>",
            "{\"name\": \"DB_PASSWORD\", \"value\": \"<a9>\"}", "\"password\": \"<a4>\\\"<a4>\"", "a\\nDB_PASSWORD=<a8>\\nHOME=/root", "x: database:   password: <l10><d6>   host: db", "\"pwd\": \"sunshine\"", "psk=<a12>", "SSHPASS=sunshine", "GITHUB_PAT=<a20>", "password: |\n  <a12>\n", "password: >-\n  <a12>\n  <a12>\nhost: db", "密码：<a10>"])
        .misses(&["Pass `sessions` to `printCommands` (see step 7).", "password: string", "password: str = Field()", "\"password\": \"\"", "password=${PASSWORD}", "password: <your-password>", "PASSWORD=***", "password: must be at least 8 characters", "password := os.Getenv(\"X\")", "I have password=foo",
            "\"password\": \"Enter your password\"", "def login(user, password):", "password = getpass.getpass()", "PWD=/home/x", "OLDPWD=/tmp", "password_min_length=12", "HOME=/root SHELL=/bin/bash PATH=/usr/bin:/bin", "type: password", "password: null,",
            "password=password", "login(password=pw, user=user)", "passwordless: true1", "user, password = split", "self.password = credentials", "needless_pass_by_value = \"allow\"", "\"passwd:shell\"", "password: string   host: string", "password: required  user: optional", "password: str | None"]),
    Rule::special("key-field", "Value of an API key or other secret key", &["key"], Shape::Name).low()
        .hits(&["OPENAI_API_KEY=<a30>", "\"apiKey\": \"<a20>\"", "x-api-key: <a20>", "api_key: '<a24>'", "client.setHeader(\"X-Api-Key\", \"<a20>\")",
            "apikey=<a16>&q=1", "os.environ[\"API_KEY\"] = \"<a20>\"", "https://maps.example.org/api?key=<a30>", "API key: <a24>", "aws_secret_access_key = <b40>", "\"SecretAccessKey\": \"<b40>\"", "AccountKey=<b86>==;EndpointSuffix=core.windows.net", "SharedAccessKey=<b43>=", "Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=<b43>=;EntityPath=q"])
        .misses(&["KEY=os.getenv('X')", "api_key=api_key", "apiKey: process.env.API_KEY", "\"api_key\": \"your-api-key-here\"", "primary_key=True", "public_key: <b40>", "cache_key = \"<a20>\"", "apiKey: string;", "API_KEY=<your-key>", "api_key: config.api_key,",
            "\"apiKey\": \"string\"", "api_key_name=main", "--api-key string   the key to use", "\"sessionKey\": \"key-123\"", "https://example.org/?key=name", "?sort=asc&key=created_at"]),
    Rule::special("token-field", "Value of a token field, variable, flag or parameter", &["token", "jwt", "verifier", "session_id", "session-id", "sessionid", "sessid", "salt", "seed", "pepper", "session=", "session:", "session\"", "bearer:", "bearer=", "bearer\""], Shape::Name).low()
        .hits(&["SLACK_TOKEN=<a20>", "\"access_token\": \"<a30>\"", "token: <a20>", "https://example.org/cb?access_token=<a20>&state=1", "//packages.example.org/:_authToken=<a36>", "x-auth-token: <a20>", "PRIVATE-TOKEN: <a20>", "grant_type=refresh&refresh_token=<a20>",
            "https://example.org/?a=1\\u0026token=<a20>", "\"sessionToken\":\"<b100>\"", "--token=<a20>"])
        .misses(&["MAX_TOKENS=4096", "token_count: 55", "max_token: 4096", "\"input_tokens\": 12345", "token: string", "token := parser.next()", "\"token\": \"IDENT\"", "tokenizer=cl100k_base", "export GH_TOKEN=\"github_pat_xxxx\"", "GITHUB_TOKEN=$(gh auth token)", "token = ${{ secrets.GITHUB_TOKEN }}",
            "next_page_token=<a20>", "pad_token: <a12>", "token: Token,", "if_token: Token![if],", "Token: \"#d8dee9\",", "https://example.org/?token_count=17", "\"token\": \"***\""]),
    Rule::special("secret-field", "Value of a secret or credential field", &["secret", "cred", "mnemonic", "otp", "connectionstring", "connstr"], Shape::Name).low()
        .hits(&["CLIENT_SECRET=<a20>", "\"client_secret\": \"<a20>\"", "secret: <a16>", "JWT_SECRET=<a20>", "MY_SECRET=swordfish", "\"secret_value\": \"<a20>\"", "client_secret=<a20>&code=1"])
        .misses(&["secret: boolean", "secretary=Jane1234", "\"secret\": \"my-secret\"", "secret_name=prod/db1", "credentials: 'include'", "credentials: \"same-origin\"", "secrets: inherit"]),
    Rule::special("auth-field", "Credential in an auth field", &["auth"], Shape::Name).low()
        .hits(&["\"auth\": \"<b40>\"", "_auth=<b24>==", "https://example.org/?auth=<a20>"]).misses(&["auth: basic", "auth=true", "\"auth\": \"oauth2\"", "auth: none", "SSH_AUTH_SOCK=/tmp/ssh-1/agent.5"]),
    Rule::special("parameter", "Secret parameter of a URL or a form", &["code=", "sig=", "sid=", "appid=", "samlresponse=", "nonce=", "ticket=", "assertion=", "state=", "signature=", "code\x16", "sig\x16", "sid\x16", "state\x16", "signature\x16", "code\"", "code:", "code'"], Shape::Name).low()
        .hits(&["https://example.org/cb?code=<a24>&state=x", "grant_type=authorization_code&code=<a24>", "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=<a43>%3D", "?se=2024&sp=r&sig=<a43>=", "https://b.s3.amazonaws.com/k?X-Amz-Signature=<h64>"])
        .misses(&["https://example.org/?code=404", "signature=none", "\"signature\": \"<b200>\"", "https://example.org/?code=E0308"]),
    Rule::special("random-token", "Long string that only a generator makes, without a name or a known form", &[], Shape::Random).low()
        .hits(&["found <a32> in the log", "('li_at', '<a60>')", "zz-prod-<l24>", "zzyx_<a32>", "AB_<a24>", "the one is <u5>-<u5>-<u5>-<u5>", "X,<b40>"])
        .misses(&["sha256-<b43>=", "\"jobId\": \"<a40>\"", "\"changeToken\": \"abcd12f2-46da-4fdb-b8d5-fbd4c466928f\"", "arn:aws:secretsmanager:*:*:secret:rds-custom-*", "arn:aws:devicefarm:us-west-2:123456789012:run/<a32>", "key <b20>EXAMPLE<b12>", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "commit <h40>", "toolu_<a24>", "https://docs.example.org/d/<a44>/edit", "<b64>\n<b64>\n", "getAccessTokenFromTheCacheOfTheServer2", "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"]),
];

/// Keywords without the signs around them, each with its rule.
static PARTS: LazyLock<Vec<(&'static [u8], &'static Rule)>> = LazyLock::new(|| {
    let part = |keyword: &&'static str| keyword.trim_matches(|sign: char| sign.is_ascii_punctuation() || sign <= ' ');
    RULES.iter().flat_map(|rule| rule.keywords.iter().map(move |word| (part(word).as_bytes(), rule))).collect()
});

/// The rule that a word of a name belongs to.
pub(crate) fn rule_of(word: &[u8]) -> Option<&'static Rule> {
    let within = |part: &[u8]| word.windows(part.len()).any(|here| here.eq_ignore_ascii_case(part));
    PARTS.iter().find(|(part, _)| within(part)).map(|(_, rule)| *rule)
}
