//! Rules for secrets that only the name beside them gives away.

use crate::redact::pair;
use crate::redact::rules::{Anchors, Reveal, Rule};

#[rustfmt::skip]
pub(crate) static FIELDS: [Rule; 7] = [
    Rule::by_hand("password", "Value of a password field, variable, flag or parameter", Anchors::AnyCase(&["password", "passwd", "passphrase", "passcode", "_pass", "-pass", "dbpass", "userpass", "pwd=", "pwd:", "pwd\"", "pwd'", "pwd ", "pwd\\"]), pair::find)
        .low().reveal(Reveal::Nothing)
        .hits(&["DB_PASSWORD=<a8>", "password: hunter2", "\"password\": \"<a6>\"", "{\\\"password\\\": \\\"<a9>\\\"}", "password = <a10>", "spring.datasource.password=<a10>", "export PGPASSWORD='<a12>'", "--password <a9>", "<password>swordfish</password>",
            "user=bob password=<a7> host=db", "\"passphrase\": \"correct horse battery staple\"", "Server=db;Password=<a9>;Database=x", "MYSQL_PWD=<a9>", "const password: string = \"<a9>\"", "password=p!<a5>&user=x", "name: DB_PASSWORD\n  value: <a9>",
            "{\"name\": \"DB_PASSWORD\", \"value\": \"<a9>\"}", "\"password\": \"<a4>\\\"<a4>\"", "a\\nDB_PASSWORD=<a8>\\nHOME=/root", "x: database:   password: <l10><d6>   host: db"])
        .misses(&["password: string", "password: str = Field()", "\"password\": \"\"", "password=${PASSWORD}", "password: <your-password>", "PASSWORD=***", "password: must be at least 8 characters", "password := os.Getenv(\"X\")", "I have password=foo",
            "\"password\": \"Enter your password\"", "def login(user, password):", "password = getpass.getpass()", "PWD=/home/x", "OLDPWD=/tmp", "password_min_length=12", "HOME=/root SHELL=/bin/bash PATH=/usr/bin:/bin", "type: password", "password: null,",
            "password=password", "login(password=pw, user=user)", "passwordless: true1", "user, password = split", "self.password = credentials", "needless_pass_by_value = \"allow\"", "\"passwd:shell\"", "password: string   host: string", "password: sha256 salt: none", "password: required  user: optional"]),
    Rule::by_hand("key-field", "Value of an API key or other secret key", Anchors::AnyCase(&["_key", "-key", "ikey", "skey", "tkey", "ekey", "nkey", "gkey", "rkey", "dkey", "hkey"]), pair::find).low()
        .hits(&["OPENAI_API_KEY=<a30>", "\"apiKey\": \"<a20>\"", "x-api-key: <a20>", "AccountKey=<b86>==;EndpointSuffix=core.windows.net", "api_key: '<a24>'", "client.setHeader(\"X-Api-Key\", \"<a20>\")",
            "apikey=<a16>&q=1", "os.environ[\"API_KEY\"] = \"<a20>\"", "SharedAccessKey=<b43>="])
        .misses(&["KEY=os.getenv('X')", "api_key=api_key", "apiKey: process.env.API_KEY", "\"api_key\": \"your-api-key-here\"", "primary_key=True", "public_key: <b40>", "cache_key = \"<a20>\"", "apiKey: string;", "API_KEY=<your-key>", "api_key: config.api_key,",
            "\"apiKey\": \"string\"", "api_key_name=main", "--api-key string   the key to use", "\"sessionKey\": \"key-123\""]),
    Rule::by_hand("token-field", "Value of a token field, variable, flag or parameter", Anchors::AnyCase(&["token"]), pair::find).low()
        .hits(&["SLACK_TOKEN=<a20>", "\"access_token\": \"<a30>\"", "token: <a20>", "https://example.org/cb?access_token=<a20>&state=1", "//packages.example.org/:_authToken=<a36>", "x-auth-token: <a20>", "PRIVATE-TOKEN: <a20>", "grant_type=refresh&refresh_token=<a20>",
            "https://example.org/?a=1\\u0026token=<a20>", "\"sessionToken\":\"<b100>\"", "--token=<a20>"])
        .misses(&["MAX_TOKENS=4096", "token_count: 55", "max_token: 4096", "\"input_tokens\": 12345", "token: string", "token := parser.next()", "\"token\": \"IDENT\"", "tokenizer=cl100k_base", "export GH_TOKEN=\"github_pat_xxxx\"", "GITHUB_TOKEN=$(gh auth token)", "token = ${{ secrets.GITHUB_TOKEN }}",
            "next_page_token=<a20>", "pad_token: <a12>", "token: Token,", "if_token: Token![if],", "Token: \"#d8dee9\",", "https://example.org/?token_count=17", "\"token\": \"***\""]),
    Rule::by_hand("secret-field", "Value of a secret or credential field", Anchors::AnyCase(&["secret", "credential", "creds"]), pair::find).low()
        .hits(&["CLIENT_SECRET=<a20>", "\"client_secret\": \"<a20>\"", "secret: <a16>", "aws_secret_access_key = <b40>", "\"SecretAccessKey\": \"<b40>\"", "JWT_SECRET=<a20>", "MY_SECRET=swordfish", "\"secret_value\": \"<a20>\"", "client_secret=<a20>&code=1"])
        .misses(&["secret: boolean", "secretary=Jane1234", "\"secret\": \"my-secret\"", "secret_name=prod/db1", "credentials: 'include'", "credentials: \"same-origin\"", "secrets: inherit"]),
    Rule::by_hand("auth-field", "Credential in an auth field", Anchors::AnyCase(&["_auth=", "_auth:", "_auth\"", "auth=", "auth\"", "auth:", "auth\\"]), pair::find).low()
        .hits(&["\"auth\": \"<b40>\"", "_auth=<b24>==", "https://example.org/?auth=<a20>"]).misses(&["auth: basic", "auth=true", "\"auth\": \"oauth2\"", "auth: none", "SSH_AUTH_SOCK=/tmp/ssh-1/agent.5"]),
    Rule::by_hand("header", "Credential in an authorization or cookie header", Anchors::AnyCase(&["authorization", "cookie"]), pair::find).low()
        .hits(&["Authorization: Bearer <a20>", "-H \"Authorization: token <a20>\"", "\"Authorization\": \"Basic <b24>\"", "Proxy-Authorization: Basic <b20>==", "authorization: <a32>", "Cookie: sid=<a20>; theme=dark", "Set-Cookie: session=<a32>; Path=/; HttpOnly",
            "{\"set-cookie\": [\"sid=<a24>; Path=/\"]}", "req.Header.Set(\"Authorization\", \"Bearer <a24>\")", "\\\"Authorization\\\": \\\"Bearer <a20>\\\""])
        .misses(&["Authorization: Bearer ${TOKEN}", "Authorization: required", "Authorization: Bearer <token>", "authorization: the process of granting rights", "Cookie: theme=dark", "cookie: string", "Set-Cookie: Path=/; Max-Age=3600", "Authorization: Bearer {}",
            "Authorization: Bearer ***"]),
    Rule::by_hand("parameter", "Secret parameter of a URL or a form", Anchors::AnyCase(&["?key=", "&key=", "?code=", "&code=", "?sig=", "&sig=", "?sid=", "&sid=", "6sig=", "6code=", "6key=", "signature="]), parameter).low()
        .hits(&["https://example.org/cb?code=<a24>&state=x", "https://maps.example.org/api?key=<a30>", "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=<a43>%3D", "https://b.s3.amazonaws.com/k?X-Amz-Signature=<h64>", "grant_type=authorization_code&code=<a24>"])
        .misses(&["https://example.org/?code=404", "https://example.org/?key=name", "signature=none", "\"signature\": \"<b200>\"", "https://example.org/?code=E0308", "?sort=asc&key=created_at"]),
];

/// Called at the sign before a parameter or at its name: the name is the first word.
fn parameter(scan: &mut crate::redact::scan::Scan<'_>, rule: &'static Rule, at: usize) -> Option<usize> {
    let name = if scan.at(at).is_ascii_alphabetic() { at } else { at + 1 };
    pair::find(scan, rule, name)
}
