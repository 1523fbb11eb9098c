//! Files of credentials, and what people write.

use super::Set;

pub(super) fn files(set: &mut Set) {
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
        "//npm.example.org/:_authToken=«<h36>»",
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

pub(super) fn people(set: &mut Set) {
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
