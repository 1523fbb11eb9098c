//! Passwords and keys as arguments of calls in programs.

use crate::rule::Check::{Least, NotPlain, NotSentence, Real};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("credential-call", "User and password as arguments of a call", &["basicauth", "basic_auth", "networkcredential", "usernamepassword", ".login(", "auth=(", "getconnection(", "plaincredentials", "credentials(", "credentials.basic(", "wifi.begin("], 240,
        r#"(?i)[\w.]*=?\s*\(\s*(?:[\w.]{1,40}\s*,\s*)?{q}[^"'\n\x11-\x14]{1,80}{q}\s*,\s*{q}()"#).checks(&[Real, Least(5)]).chosen()
        .hits(&["requests.get(url, auth=('bob', '<a9>'))", "HTTPBasicAuth('bob', '<a9>')", "server.login('a@b.c', '<a10>')"]).misses(&["basicauth('user', 'password')", "form.login(user, password)"]),
    Rule::from("setter-call", "Password as the argument of a call that sets it", &["setpassword(", "withpassword(", "set_password(", "with_password(", ".password(", "setsecret(", "withsecret(", "setapikey(", "setaccesstoken("], 120, r#"(?i)[\w.]+\(\s*{q}()"#).checks(&[Real, Least(5), NotSentence]).chosen()
        .hits(&["client.setPassword(\"<a9>\")"]).misses(&["client.setPassword(\"\")", "x.setPassword(password)"]),
    Rule::from("checking-call", "Password as the first argument of a call that checks or hashes it", &[".auth(", "crypt(", "hashpw(", "hash_password(", "check_password(", "password_hash("], 120, r#"(?i)[\w.]+\(\s*b?{q}()"#).checks(&[Real, Least(5), NotPlain]).chosen()
        .hits(&["redis.auth('<a12>')", "SELECT crypt('<a9>', gen_salt('bf'))"]).misses(&["request.auth('basic')", "bcrypt(\"password\")"]),
    Rule::from("connection-call", "Password as the third argument of a call that opens a database", &["mysql_connect(", "mysqli_connect(", "mysql_pconnect(", "new mysqli(", "new pdo("], 320,
        r#"(?i)[\w ]+\(\s*(?:{q}[^"'\n\x11-\x14]{0,160}{q}|[\w.$]{1,40})\s*,\s*(?:{q}[^"'\n\x11-\x14]{1,80}{q}|[\w.$]{1,40})\s*,\s*{q}()"#).checks(&[Real, Least(4)]).chosen()
        .hits(&["mysql_connect('h', 'root', '<a9>')", "new PDO($dsn, 'bob', '<m9>')"]).misses(&["mysqli_connect($host, $user, $password)", "new PDO($dsn, 'bob', '')"]),
    Rule::from("signing-call", "Key as an argument of a call that signs, encrypts or derives", &["jwt.sign(", "jwt.verify(", "jwt.encode(", "jwt.decode(", "createhmac(", "hmac.new(", "signedstring(", "pbkdf2_hmac(", "pbkdf2sync(", "scryptsync("], 240,
        r#"(?i)(?:hmac\.new\(\s*|signedstring\(\s*|[\w.]+\(\s*[^,()\n]{1,80},\s*)(?:\[\]byte\(|b)?{q}()"#).checks(&[Real, Least(6), NotSentence]).low().chosen()
        .hits(&["jwt.sign(payload, '<a12>')", "crypto.createHmac('sha256', '<a20>')", "hashlib.pbkdf2_hmac('sha256', b'<m9>', salt, 1000)"]).misses(&["jwt.sign(payload, secret)", "crypto.createHmac('sha256', key)", "hmac.new(key, message, 'sha256')"]),
    Rule::from("encoded-login", "User and password that a program encodes", &["btoa(", "b64encode(", "base64.encode(", "base64_encode("], 160, r#"(?i)[\w.]+\(\s*b?{q}[^"':\s]{1,64}:()"#).checks(&[Real, Least(4)]).chosen().hits(&["'Basic ' + btoa('bob:<m9>')"]).misses(&["btoa('a:b')", "btoa(user + ':' + password)"]),
];
