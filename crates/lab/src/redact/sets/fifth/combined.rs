//! The fifth set, first part: names, notations and values, each combined with the others at random.

use super::super::Shape;
use foldline_redact::fixtures::Random;

/// How often every notation is used, each time with another name and value.
const ROUNDS: usize = 7;

/// All combinations.
pub(super) fn shapes() -> Vec<Shape> {
    let mut dice = Random::new(515_151);
    let mut shapes = Vec::new();
    for (group, notations) in NOTATIONS {
        for notation in *notations {
            for _ in 0..ROUNDS {
                shapes.push(shape(group, notation, &mut dice));
            }
        }
    }
    for notation in PROSE {
        for _ in 0..ROUNDS {
            let value = format!("«{}»", dice.pick(CHOSEN));
            let template = notation.replace("{n}", dice.pick::<&str>(SPOKEN)).replace("{v}", &value);
            shapes.push(Shape::new("prose", &template, dice.below(1 << 30) as u64));
        }
    }
    shapes
}

fn shape(group: &'static str, notation: &str, dice: &mut Random) -> Shape {
    let (names, values) = if dice.below(2) == 0 { (PASSWORDS, CHOSEN) } else { (CREDENTIALS, GENERATED) };
    let words: Vec<&str> = dice.pick(names).split(' ').collect();
    let value = format!("«{}»", dice.pick(values));
    let template = notation
        .replace("{N}", &words.join("_").to_uppercase())
        .replace("{n}", &spelled(&words, dice.below(4)))
        .replace("{k}", &words.join("-"))
        .replace("{H}", &words.iter().map(|word| capital(word)).collect::<Vec<_>>().join("-"))
        .replace("{v}", &value);
    Shape::new(group, &template, dice.below(1 << 30) as u64)
}

/// A name as files of settings and programs spell it.
fn spelled(words: &[&str], way: usize) -> String {
    match way {
        0 => words.join("-"),
        1 => {
            let (first, rest) = words.split_first().unwrap_or((&"", &[]));
            rest.iter().fold((*first).to_owned(), |name, word| name + &capital(word))
        }
        _ => words.join("_"),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "db password",
    "admin password",
    "smtp pass",
    "root pw",
    "passphrase",
    "user password",
    "mysql pwd",
    "keystore password",
    "ftp password",
    "wifi password",
    "redis password",
    "login passwd",
    "ldap bind password",
];
const CREDENTIALS: &[&str] = &[
    "secret",
    "client secret",
    "api key",
    "access token",
    "auth token",
    "secret key",
    "private key",
    "signing secret",
    "encryption key",
    "webhook secret",
    "refresh token",
    "bot token",
    "bearer token",
    "account key",
    "app secret",
    "jwt secret",
    "consumer secret",
    "deploy key",
    "github token",
    "session secret",
    "cookie secret",
    "master key",
    "acme api key",
    "service token",
    "gh pat",
    "hmac secret",
    "storage account key",
    "api token",
    "shared secret",
];
const SPOKEN: &[&str] = &[
    "password",
    "passphrase",
    "root password",
    "API key",
    "access token",
    "client secret",
    "wifi password",
    "admin password",
    "secret key",
    "database password",
    "login password",
    "auth token",
    "master password",
];

/// What people choose.
const CHOSEN: &[&str] = &[
    "sunshine",
    "Winter2025!",
    "correct-horse-battery",
    "tr0ub4dor3",
    "iloveyou",
    "Bluebird77",
    "<m9>",
    "<m12>",
    "<d8>",
    "<a5>!<a4>",
    "<a4>$<a5>",
    "S3cr3t<m4>",
    "<a10>",
    "QWERTYuiop",
    "<a4>@<a4>",
    "monkey<d3>",
    "P<m6><d2>#",
    "<l16>",
    "dragon",
    "Pa55w0rd<d2>",
];
/// What programs choose.
const GENERATED: &[&str] = &[
    "<a20>",
    "<a32>",
    "<h32>",
    "<h40>",
    "<h64>",
    "<b40>=",
    "<u20>",
    "<w43>",
    "<h8>-<h4>-<h4>-<h4>-<h12>",
    "<m24>",
    "<l36>",
    "<a16>",
    "<a12>",
    "<b27>+<b14>==",
    "<w22>.<w27>",
    "<a8>-<a8>-<a8>",
];

type Notations = (&'static str, &'static [&'static str]);

#[rustfmt::skip]
const NOTATIONS: &[Notations] = &[
    ("environment", &[
        "{N}={v}", "export {N}={v}", "export {N}=\"{v}\"", "{N}='{v}' ./run.sh", "env A=1 {N}={v} make deploy",
        "docker run -d -e {N}={v} -p 80:80 web", "ENV {N} {v}", "    environment:\n      - {N}={v}\n      - TZ=UTC",
        "declare -x {N}=\"{v}\"", "Environment=\"{N}={v}\"", "HOME=/root\n{N}={v}\nLANG=C", "ARG {N}={v}\nRUN x", "      {N}: {v}",
        "heroku config:set {N}={v} --app x", "APP_{N}_PROD={v}", "process.env.{N} = '{v}'", "os.environ[\"{N}\"] = \"{v}\"",
    ]),
    ("json", &[
        "{\"{n}\": \"{v}\"}", "{\"a\":1,\"{n}\":\"{v}\",\"b\":[]}", "{\\\"{n}\\\": \\\"{v}\\\"}", "{'user': 'a', '{n}': '{v}'}",
        "{\"name\": \"{n}\", \"value\": \"{v}\"}", "{\"env\":{\"{N}\":\"{v}\"}}", "  \"{n}\" : \"{v}\",\n  \"x\": 1",
        "{\\\\\\\"{n}\\\\\\\":\\\\\\\"{v}\\\\\\\"}", "{\"{n}\": {\"value\": \"{v}\", \"type\": \"string\"}}", "{\"{n}\":[\"{v}\"]}",
    ]),
    ("settings", &[
        "{n}: {v}", "{n}: \"{v}\"", "{n} = {v}", "{n}={v}", "  {n}: '{v}'  # prod", "- {n}: {v}", "app.{n}={v}", "{n} = \"{v}\"",
        "db:\n  user: a\n  {n}: {v}\n  port: 1", "[main]\nuser=a\n{n}={v}\nport=1", "{n}     {v}", "{n}:{v}", "; {n} = {v}",
        "# {n}: {v}", "{ user: a, {n}: {v} }", "spring.datasource.{n}={v}", "{n}: !!str {v}",
    ]),
    ("block-scalars", &["{n}: |\n  {v}\nx: 1", "{n}: >-\n  {v}\n", "  {n}: |-\n    {v}\n  y: 2", "{n} = \"\"\"\n{v}\n\"\"\""]),
    ("headers", &["X-{H}: {v}", "curl -H 'X-{H}: {v}' https://a.example", "\"x-{k}\": \"{v}\"", "> X-Acme-{H}: {v}\r\n"]),
    ("cookies", &["Cookie: theme=dark; {n}={v}; a=b", "Set-Cookie: {n}={v}; Path=/; HttpOnly"]),
    ("parameters", &[
        "https://a.example/x?{n}={v}&a=1", "user=a&{n}={v}", "GET /login?u=a&{n}={v} HTTP/1.1", "curl -d '{n}={v}' https://a.example",
        "curl --data-urlencode \"{n}={v}\" x", "https://a.example/cb#{n}={v}", "curl -F {n}={v} x",
    ]),
    ("flags", &[
        "tool --{k} {v}", "tool --{k}={v} --x", "tool --{k} \"{v}\"", "tool -{n}={v}", "tool login --user a --{k} '{v}' && ls",
        "java -D{n}={v} -jar x.jar", "helm install x --set auth.{n}={v}", "args: [\"--{k}\", \"{v}\"]", "tool /{n}:{v}",
    ]),
    ("shells", &[
        "set {N}={v}", "setx {N} \"{v}\"", "$env:{N} = \"{v}\"", "set -gx {N} {v}", "setenv {N} {v}", "set -x {N} '{v}'", "$Env:{N}='{v}'",
        "${n} = \"{v}\"", "[Environment]::SetEnvironmentVariable(\"{N}\", \"{v}\", \"User\")", "export {N}; {N}={v}",
    ]),
    ("kubernetes", &["- name: {N}\n  value: {v}", "- name: {N}\n  value: \"{v}\"", "kind: Secret\nstringData:\n  {n}: {v}", "kubectl create secret generic x --from-literal={n}={v}"]),
    ("terraform", &["variable \"{n}\" {\n  default = \"{v}\"\n}", "  {n}   = \"{v}\"", "terraform apply -var '{n}={v}'", "\"{n}\": {\n \"value\": \"{v}\",\n \"sensitive\": true"]),
    ("xml", &[
        "<{n}>{v}</{n}>", "<add key=\"{n}\" value=\"{v}\"/>", "<property name=\"{n}\" value=\"{v}\" />", "<db user=\"a\" {n}=\"{v}\"/>",
        "<entry key=\"{n}\">{v}</entry>", "<key>{n}</key>\n<string>{v}</string>", "<{n}><![CDATA[{v}]]></{n}>", "<string name=\"{n}\">{v}</string>",
    ]),
    ("code", &[
        "const {n} = \"{v}\";", "{n} := \"{v}\"", "{n}: str = \"{v}\"", "connect(host, {n}=\"{v}\")", "'{n}' => '{v}',", ":{n} => \"{v}\"",
        "$this->{n} = '{v}';", "private String {n} = \"{v}\";", "define('{N}', '{v}');", "conf.set(\"{n}\", \"{v}\")", "let {n} = '{v}'",
        "client.{n} = \"{v}\"", "{n}=`{v}`", "#define {N} \"{v}\"", "{n}: '{v}',",
    ]),
    ("logs", &[
        "2025-01-02T03:04:05Z INFO connect {n}={v} host=db", "level=info msg=x {n}=\"{v}\" ts=1", "DEBUG: {n} is {v}", "[INFO] using {n}: {v}",
        "Config(user='a', {n}='{v}', port=1)", "Settings { {n}: \"{v}\", port: 1 }", "{user=a, {n}={v}, port=1}", "error: bad {n} \"{v}\"", "map[{n}:{v} user:a]",
    ]),
    ("tables", &["| {n} | {v} |", "{n}\t{v}", "user,{n},port\na,{v},1", "│ {n} │ {v} │", "NAME   VALUE\n{N}   {v}"]),
    ("escapes", &[
        "{n}\\u003d{v}", "%22{n}%22%3A%22{v}%22", "&quot;{n}&quot;:&quot;{v}&quot;", "{n}&#61;{v}", "user%3Da%26{n}%3D{v}",
        "\\\"{n}\\\"\\u003a\\\"{v}\\\"", "{n}=\\\"{v}\\\"", "{\\u0022{n}\\u0022:\\u0022{v}\\u0022}", "x\\n{n}={v}\\ny", "x\\t{n}: {v}\\r\\n",
    ]),
    ("colours", &["\u{1b}[32m{n}\u{1b}[0m: {v}", "\u{1b}[1m{n}\u{1b}[22m=\u{1b}[33m{v}\u{1b}[39m", "{n}\u{1b}[2m=\u{1b}[0m\"{v}\"", "\u{1b}[38;5;12m\"{n}\"\u{1b}[0m: \u{1b}[32m\"{v}\"\u{1b}[0m"]),
    ("prefixes", &[
        "12:{n}={v}", "+{n}: {v}", "-  \"{n}\": \"{v}\",", "> {n}={v}", "conf/app.env:3:{n}={v}", "   14  {n} = {v}", "a.py-14-{n} = \"{v}\"",
        "    14→{n}: {v}", "14 | {n}: {v}", "// {n} = \"{v}\"", "* {n}: {v}", "+    {N}={v}", "$ export {N}={v}", "root@a:~# export {N}={v}", "1. {n}: {v}",
    ]),
];

#[rustfmt::skip]
const PROSE: &[&str] = &[
    "the {n} is {v}", "my {n} is \"{v}\".", "The new {n}: {v}", "Use {v} as the {n}.", "please set the {n} to {v} and restart",
    "log in as admin with {n} {v}", "**{n}**: `{v}`", "I changed the {n} to {v}, ok?", "here is the {n} `{v}`", "The {n} for staging is {v}", "{n} (staging): {v}", "{n} = {v}",
];
