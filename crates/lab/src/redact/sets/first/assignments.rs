//! Values beside a name: environments, fields, settings, programs.

use super::{CHOSEN, FIELDS, GENERATED, PASSWORDS, Set, VARIABLES, WORDS};

pub(super) fn environment(set: &mut Set) {
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

pub(super) fn fields(set: &mut Set) {
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

pub(super) fn settings(set: &mut Set) {
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

pub(super) fn languages(set: &mut Set) {
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
