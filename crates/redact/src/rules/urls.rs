//! Credentials in addresses.

use crate::rule::Check::{Apart, Least, Mixed, NotPort, Random, Real};
use crate::rule::Class::Unbroken;
use crate::rule::{Reads, Rule};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("database-url", "Password in the address of a database, a queue or a mail server",
        &["postgres://", "postgresql://", "mysql://", "mysql2://", "mariadb://", "ecto://", "couchbase://", "couchbases://", "snowflake://", "firebird://", "mongodb://", "mongodb+srv://", "redis://", "rediss://", "valkey://", "amqp://", "amqps://", "mssql://", "sqlserver://", "oracle://", "clickhouse://", "cockroachdb://",
            "cassandra://", "neo4j://", "neo4j+s://", "bolt://", "couchdb://", "influxdb://", "nats://", "kafka://", "ldap://", "ldaps://", "smtp://", "smtps://", "imap://", "imaps://", "psycopg2://", "psycopg://", "asyncpg://", "pymysql://", "mysqlconnector://", "mysqldb://", "asyncmy://", "aiomysql://", "pyodbc://", "pymssql://", "cx_oracle://", "oracledb://", "snowflake://", "db2://",
            "redshift://", "trino://", "presto://", "hive://", "elasticsearch://", "mqtt://", "mqtts://", "stomp://", "jdbc:", "sqlalchemy://", "vertica://", "teradata://", "bigquery://", "timescaledb://", "memcached://"],
        700, r#"[\w+:.]+//[^\s"'`<>:/\\\x11-\x14\x17]{0,128}:()"#).reads(Reads::LooseUserinfo).checks(&[Real, NotPort]).needs(b'@').chosen()
        .hits(&["postgres://app:<a12>@db.internal:5432/main", "redis://:<a8>@cache:6379/0", "mysql://root:p@<a6>@host/db", "mongodb+srv://u:<a9>@cluster0.mongodb.net/?retryWrites=true", "amqp://guest:guest@localhost//", "postgres://u:<a4>/<a4>@host/db"])
        .misses(&["postgres://{user}:{password}@{host}/db", "postgres://$USER:$PASSWORD@host/db", "redis://localhost:6379/0?x=a@b", "postgres://localhost:5432/db\nmail me@example.org"]),
    Rule::from("oracle-url", "Password in the address of an Oracle database", &["jdbc:oracle:"], 200, r"jdbc:oracle:\w+:[\w.$]{1,40}/()").reads(Reads::LooseUserinfo).checks(&[Real]).needs(b'@').chosen()
        .hits(&["jdbc:oracle:thin:scott/<m6>@h:1521:x"]).misses(&["jdbc:oracle:thin:@h:1521:x"]),
    Rule::from("url-password", "User and password before the host of a URL", &["://"], 400, r#"://[^\s"'`<>:/?\#\\\x11-\x14\x17]{0,128}:()"#).reads(Reads::Userinfo).checks(&[Real]).needs(b'@').chosen()
        .hits(&["https://deploy:<a10>@example.org/repo.git", "ftp://bob:<a8>@files.example.org"])
        .misses(&["https://example.org/@user/post", "git clone ssh://git@github.com/org/repo", "https://user:***@host/", "http://localhost:8080/path@v1", "https://deploy-user@example.org/x", "http://{user}:{pass}@host"]),
    Rule::from("url-token", "Token before the host of a URL", &["://"], 200, r#"://([\w.~%-]{16,128})(?::(?:x-oauth-basic)?)?@[\w\[]"#).checks(&[Mixed, Random, Real]).needs(b'@')
        .hits(&["https://<a40>@github.com/org/repo"]).misses(&["https://deploy-user@example.org/x"]),
    Rule::from("proxy-secret", "Secret before the host of a proxy, without a user", &["trojan://", "ss://", "hysteria2://", "hy2://", "anytls://"], 240, r#"\w+://([\w.~%+/=!-]{6,200})@[\w\[]"#).checks(&[Apart, Real]).needs(b'@').chosen()
        .hits(&["trojan://sunshine@192.0.2.1:443", "ss://<b40>@192.0.2.1:8388"]).misses(&["wss://user@example.org", "trojan://example.org:443"]),
    Rule::from("path-token", "Token in the path of a URL that lets somebody in", &["/t/", "/verify", "/reset", "/invite", "/confirm", "/magic", "/activate", "/unsubscribe", "/token/", "/join/", "/share/"], 160, r"/[\w-]{1,24}/([\w-]{20,120})(?:[/?\#\s)>]|{q}|\z)").checks(&[Random, Mixed, Real])
        .hits(&["https://example.org/verify-email/<a43>", "https://conda.example.org/t/<h36>/main"]).misses(&["/share/applications/org.gnome.Terminal.desktop", "/t/how-to-reset-the-password-of-a-user"]),
    Rule::back("mysql-dsn", "Password in a Go data source name", &["@tcp(", "@unix("], (Unbroken, 3, 128), 0, r"[\w.-]{1,64}:()").reads(Reads::UpToKeyword).checks(&[Real, Least(3)]).chosen()
        .hits(&["root:<a12>@tcp(127.0.0.1:3306)/app"]).misses(&["%s:%s@tcp(%s)/app", "root@tcp(localhost)/app"]),
];
