//! Files of credentials with a form of their own.

use crate::rule::Check::{Apart, Least, Mixed, Most, NotPlain, NotPort, NotProse, NotSign, Real};
use crate::rule::{Class::Unbroken, Rule, Shape};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("netrc", "Password in a login file", &["machine ", "default login", "default\n"], 320, r"(?:machine\s+[\w.:-]{1,120}|default)\s+(?:login\s+\S{1,80}\s+|account\s+\S{1,80}\s+){0,2}(?:password|passwd)\s+()").checks(&[Real]).chosen()
        .hits(&["machine example.org login bob password <a9>", "machine example.org\n  login bob\n  password sunshine\n"]).misses(&["machine learning with password login"]),
    Rule::from("login-password", "User and password one after the other", &["login ", "user ", "username "], 240, r"(?i)(?:login|user(?:name)?)[ \t:=]+[\w.@\\-]{1,80}(?:[ \t,]+|{nl}[ \t]+)(?:and |with )?(?:the )?(?:password|passwd|pass|pwd|secret)(?:[ \t]+\d)?[ \t]+()").checks(&[Real, NotProse, NotSign]).chosen()
        .hits(&["login bob password <a9>", "username admin password 7 <u14>", "connect as user bob with password <a9>"]).misses(&["login with password authentication()", "after login the password prompt", "user bob password required"]),
    Rule::from("login-pair", "User and password with a slash between them", &["login", "credential", "creds", "user/pass", "account", "wifi", "wi-fi", "zugangsdaten", "identifiants", "credenciales"], 160, r"(?i)(?:logins?|credentials?|creds|user/pass\w*|accounts?|wi-?fi|zugangsdaten|identifiants|credenciales)(?: (?:is|are|for \w+))?(?:{q}?[ \t]*[:=][ \t]*|[ \t]+){q}?[\w.@-]{2,40}[ \t]*[/:][ \t]*()").checks(&[Apart, Real, NotPlain, Least(5), Most(64)]).chosen()
        .hits(&["login: bob / <a9>", "wifi: home / <a9>", "account: bob / <a9>"]).misses(&["account: https://example.org/a1b2", "login: bob/alice"]),
    Rule::from("login-with", "User and password in an invitation to log in", &["log in", "login", "sign in", "logon", "log on"], 120, r"(?i)(?:log|sign)[ -]?(?:in|on)(?: \w{1,12}){0,3}? (?:with|as|using)[: ]{1,3}{q}?[\w.@-]{2,40}{q}?[ \t]*(?:/|:|,| and )[ \t]*{q}?()").checks(&[Real, Mixed, Least(5), Most(64)]).chosen()
        .hits(&["you can log in with bob / <a9>"]).misses(&["login with a 2fa/totp code"]),
    Rule::from("login-variable", "User and password as the value of one variable", &["auth=", "creds=", "credentials=", "login=", "userpwd=", "userpass="], 120, r"(?:AUTH|CREDS|CREDENTIALS|LOGIN|USERPWD|USERPASS)={q}?[\w.@+-]{1,64}:()").checks(&[Real, NotPort, NotSign, Least(4)]).chosen()
        .hits(&["BASIC_AUTH=admin:<m9>"]).misses(&["BASIC_AUTH=user:$PASSWORD"]),
    Rule::from("user-argument", "User and password as the argument of an option", &["--user ", "--user=", "stats auth "], 160, r#"(?:--user[= ]{q}?|stats auth )[\w.@\\-]{1,64}:()"#).checks(&[Real, NotPort, NotSign, Least(4), NotPlain]).chosen()
        .hits(&["etcdctl --user root:<a9> get x", "stats auth admin:<a9>"]).misses(&["chown --user bob:staff", "docker run --user 1000:1000 x"]),
    Rule::from("form-field", "Secret field of a form in parts", &["form-data; name="], 200, r"(?i)form-data; name={q}[^\x22\n]{0,40}(?:passw|passwd|pwd|secret|token|api_?key|pin|otp|code)[^\x22\n]{0,20}{q}[^\n\x0b\x0c]{0,80}(?:(?:\r\n|[\n\x0b\x0c\r])[ \t]*){2}()").checks(&[Real, Least(3)]).chosen()
        .hits(&["Content-Disposition: form-data; name=\"password\"\r\n\r\n<m9>\r\n--x"]).misses(&["Content-Disposition: form-data; name=\"user\"\r\n\r\nbob-the-builder\r\n--x"]),
    Rule::from("ansible-vault", "Secret that Ansible has encrypted", &["$ansible_vault;"], 4096, r"\$ANSIBLE_VAULT;[\w.;-]{1,60}((?:\s{1,40}[0-9a-f]{10,80}){1,100})").hits(&["$ANSIBLE_VAULT;1.1;AES256\n<h80>\n<h80>"]),
    Rule::from("docker-config", "Logins of Docker in base64", &["dockerconfigjson", ".dockercfg"], 120, r"(?i)\.?docker(?:configjson|cfg){q}?\s*[:=]\s*{q}?([A-Za-z0-9+/]{20,})").low().hits(&[".dockerconfigjson: eyJhdXRocyI6<b40>"]),
    Rule::from("value-before-name", "Value of a variable whose name comes after it", &["value\"", "value\x11", "value: "], 320, r#"(?i)value{q}?\s*[:=]\s*{q}([^\s"'\x11-\x14]{4,200}){q}\s*,?\s*{q}?(?:name|key){q}?\s*[:=]\s*{q}?[\w./-]{0,40}(?:passw|passphrase|secret|token|api_?key|private_?key|credential)"#).checks(&[Real]).chosen()
        .hits(&["{\"value\": \"<a12>\", \"name\": \"DB_PASSWORD\"}"]).misses(&["{\"value\": \"<a12>\", \"name\": \"HOST\"}"]),
    Rule::back("pgpass", "Line of a PostgreSQL password file", &[":5432:", ":*:", ":6432:", ":5433:"], (Unbroken, 1, 63), 260, r"[\w*.-]{1,63}:(?:\d{4}|\*):[\w*.-]{1,63}:[\w*.@-]{1,63}:([^\s:\x22'\x11-\x14]{3,128})(?:[^:]|\z)").checks(&[Real]).chosen()
        .hits(&["db.internal:5432:app:bob:<a9>", "*:*:*:postgres:sunshine"]).misses(&["::ffff:5432:", "arn:aws:logs:*:*:log-group:sunshine", "\"arn:*:ec2:*:*:vpc-endpoint/sunshine\""]),
    Rule::special("kubernetes-secret", "Values of a Kubernetes secret", &["kind: secret", "\"kind\": \"secret\"", "\"kind\":\"secret\"", "kind: 'secret'", "kind: \"secret\"", "kind = \"secret\"", "stringdata:", "stringdata\":"], Shape::Manifest).chosen()
        .hits(&["apiVersion: v1\nkind: Secret\ndata:\n  user.conf: <b24>\n", "apiVersion: v1\ndata:\n  user.conf: <b24>\nkind: Secret\nmetadata:\n  name: x\n"]).misses(&["kind: ConfigMap\ndata:\n  a: <b16>\n"]),
    Rule::from("password-hash", "Hash of a password", &["$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$7$", "$argon2", "$apr1$", "$pbkdf2", "$scrypt$", "{ssha", "{sha", "{crypt}", "{md5}", "{bcrypt}", "{pbkdf2"], 260, r"(?i)((?:\$(?:1|5|6|7|y|2[aby]|argon2[a-z]{1,2}|apr1|pbkdf2[\w-]*|scrypt)\$|\{(?:s?sha\d{0,3}|crypt|md5|bcrypt|pbkdf2[\w-]*)\})[\w./$=,+-]{20,200})").low()
        .hits(&["root:$6$<a8>$<a86>:18000:0:99999:7:::", "bob:$2y$10$<a53>"]).misses(&["echo $1$2"]),
    Rule::from("dsn-password", "Password in a data source name", &["pwd=", "uid="], 200, r"(?i)uid=[^;\n]{1,64};[ \t]*(?:pwd|password)=()").checks(&[Real]).chosen().hits(&["Driver={SQL Server};Uid=sa;Pwd=<a9>;"]),
    Rule::from("cisco-secret", "Secret in the configuration of a network device", &["enable secret", "enable password", "snmp-server community", "snmp community", "isakmp key", "message-digest-key", "key-string", "tacacs-server key", "radius-server key", "pre-shared-key", "wpa-psk", "username "], 120,
        r"(?i)(?:enable (?:secret|password)|snmp(?:-server)? community|isakmp key|message-digest-key \d{1,3} md5|key-string|(?:tacacs|radius)-server key|pre-shared-key(?: local| remote| address \S+| ascii-text| hexadecimal)?(?: key)?|wpa-psk(?: ascii| hex)?|username \S{1,40} (?:privilege \d{1,2} )?(?:password|secret) \d{1,2})[ \t]+(?:[0-9][ \t]+)?()").checks(&[Real]).chosen()
        .hits(&["enable secret 5 <a20>", "snmp-server community <a9> RO", "pre-shared-key ascii-text \"<a9>\""]),
    Rule::from("erlang-cookie", "Cookie that lets one Erlang node command another", &["erlangcookie", "erlang_cookie", "erlang.cookie", "-setcookie"], 100, r"(?i)(?:erlang[_.]?cookie{q}?[ \t]*[:=][ \t]*|-setcookie[ \t]+){q}?()").checks(&[Real, Least(6)]).chosen()
        .hits(&["  erlangCookie: <u20>", "RABBITMQ_ERLANG_COOKIE=<a20>", "erl -sname a -setcookie <a12>"]).misses(&["erlangCookie: {{ .Values.cookie }}", "cat ~/.erlang.cookie"]),
    Rule::from("network-key", "Key of a wireless network as a system shows it", &["key content", "key material"], 80, r"(?i)key (?:content|material)[ \t]*:[ \t]*()").checks(&[Real]).chosen().hits(&["    Key Content            : <a10>"]),
    Rule::from("ipsec-secret", "Shared secret of a virtual private network", &[": psk ", ": xauth ", ": eap "], 100, r#"(?i): (?:psk|xauth|eap)[ \t]+{q}?()"#).checks(&[Real]).chosen().hits(&["10.0.0.1 : PSK \"sunshine\""]),
    Rule::from("server-directive", "Password in the configuration of a server", &["requirepass ", "masterauth ", "bindpw ", "rootpw ", "ldap_default_authtok", "rcon_password ", "sasl_passwd ", "-password password "], 120, r"(?:-password )?[\w]+[ \t=]+(?:--[\w-]+ )?()").checks(&[Real]).chosen()
        .hits(&["requirepass sunshine", "bindpw <a9>", "rootpw --plaintext <a9>"]).misses(&["rootpw {{ vault_rootpw }}"]),
    Rule::from("redis-user", "Password of a user of Redis", &["user default on", "acl setuser"], 160, r"(?i)user[ \t]+\S{1,40}[ \t]+(?:on[ \t]+)?[^\n]{0,80}?>()").checks(&[Real]).chosen().hits(&["user default on >sunshine ~* +@all"]),
    Rule::from("mail-relay", "Login at a mail server", &["]:587", "]:465", "]:25 "], 160, r"\]:\d{2,5}[ \t]+[^\s:]{1,80}:()").checks(&[Real]).chosen().hits(&["[smtp.example.org]:587 bob:sunshine"]),
];
