//! Passwords in statements of SQL.

use crate::rule::Check::{Apart, NotSentence, Real};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("sql-identified", "Password of a database user", &["identified"], 160, r#"(?i)identified(?:\s+(?:with|via)\s+[\w'"`]+)?\s+(?:by|using)\s+(?:password\s*\(?\s*|values\s+)?["'\x11-\x14]()"#).checks(&[Real, NotSentence]).chosen()
        .hits(&["ALTER USER bob IDENTIFIED WITH mysql_native_password BY 'sunshine'"]).misses(&["identified by the author", "IDENTIFIED BY '?'", "identified by :password", "issues identified by a scan"]),
    Rule::from("sql-user", "Password of a new database user, with quotes or without", &["create user", "alter user", "connect to", "grant "], 200, r#"(?i)(?:(?:create|alter)\s+user|connect\s+to|grant\s+[\w, ]{1,60}\s+to)\s+[\w".@'%$-]{1,64}\s+identified\s+by\s+()"#).checks(&[Real]).chosen()
        .hits(&["create user bob identified by <m8>;", "CREATE USER 'bob'@'%' IDENTIFIED BY '<a9>';", "GRANT CONNECT TO bob IDENTIFIED BY <a9>"]).misses(&["create user bob identified by :password"]),
    Rule::from("sql-password", "Password in a statement of SQL", &["password '", "password n'", "password \"", "password e'", "= password(", "=password("], 160, r#"(?i)=?\s?password\s*(?:[ne]?\(?\s*['"\x11-\x14])()"#).checks(&[Real, NotSentence]).chosen()
        .hits(&["CREATE ROLE bob LOGIN PASSWORD '<a9>';", "ALTER USER bob WITH ENCRYPTED PASSWORD 'sunshine';"]).misses(&["PASSWORD ''", "PASSWORD '$1'", "PASSWORD '%s'", "password 'must be set'"]),
    Rule::from("sql-set-password", "Password of a database user that is set", &["set password"], 160, r#"(?i)set\s+password(?:\s+for\s+\S{1,80})?\s*=\s*(?:password\s*\(\s*)?()"#).checks(&[Real]).chosen()
        .hits(&["SET PASSWORD FOR bob@localhost = '<a9>';"]).misses(&["SET PASSWORD FOR bob = ?"]),
    Rule::from("sql-key", "Key or passphrase of a database's encryption", &["encryption by", "decryption by", "pgp_sym_encrypt", "pgp_sym_decrypt", "aes_encrypt", "aes_decrypt", "by passphrase"], 240, r#"(?i)(?:(?:en|de)cryption\s+by\s+password\s*=\s*|by\s+passphrase\s*=?\s*|(?:pgp_sym|aes)_(?:en|de)crypt\s*\([^,]{1,120},\s*)[nN]?['"]()"#).checks(&[Real]).chosen()
        .hits(&["CREATE MASTER KEY ENCRYPTION BY PASSWORD = '<a9>';", "SELECT pgp_sym_decrypt(data, '<a12>')"]),
    Rule::from("sql-procedure", "Password in a call of a procedure", &["sp_addlogin", "sp_password", "sp_addlinkedsrvlogin"], 200, r#"(?i)sp_\w+\s*\(?\s*(?:@\w+\s*=\s*)?n?'[^']{0,64}'\s*,\s*(?:@\w+\s*=\s*)?n?'()"#).checks(&[Real]).chosen()
        .hits(&["EXEC sp_addlogin 'bob', '<a9>'"]),
    Rule::special("sql-insert", "Password among the values of an insert", &["insert into", "replace into"], crate::rule::Shape::Insert).chosen()
        .hits(&["INSERT INTO users (name, password, age) VALUES ('bob', '<a9>', 7);"]).misses(&["INSERT INTO users (name, age) VALUES ('bob', 7);", "INSERT INTO users (name, password) VALUES (?, ?);"]),
    Rule::from("sql-cipher", "Key of an encrypted database", &["pragma key", "pragma hexkey", "pragma rekey", "sqlite3_key("], 120, r#"(?i)pragma\s+(?:hex)?(?:re)?key\s*=\s*(?:[xX])?{q}()"#).checks(&[Real]).chosen().hits(&["PRAGMA key = 'sunshine';"]),
    Rule::from("oracle-connect", "Password of a user who connects to Oracle", &["connect ", "conn "], 120, r#"(?i)conn(?:ect)? [a-z][\w$]{0,40}/([^@\s"'/]{4,64})@[\w/]"#).checks(&[Apart, Real]).chosen()
        .hits(&["CONNECT app/<a9>@orcl"]).misses(&["connect a/b to c", "connect user/$PASS@db"]),
    Rule::from("redis-acl", "Password of a user of Redis", &["acl setuser "], 160, r"(?i)acl setuser \S{1,64}(?: [^\s>]{1,40}){0,8} >()").checks(&[Real]).chosen()
        .hits(&["ACL SETUSER bob on ><a9> ~* +@all"]).misses(&["ACL SETUSER bob on nopass"]),
];
