//! Secrets behind escapes, colours, invisible characters and line breaks.

use super::Set;

pub(super) fn disguises(set: &mut Set) {
    for template in [
        "password\\u003d«<a12>»",
        "{\"a\": \"token\\u003d«<a24>»\\u0026b\"}",
        "{\\u0022password\\u0022:\\u0022«<a12>»\\u0022}",
        "api_key%3D«<a24>»%26x%3D1",
        "%7B%22password%22%3A%22«<a12>»%22%7D",
        "password%3D«<a9>»",
        "&quot;password&quot;:&quot;«<a12>»&quot;",
        "{\\\\\\\"apiKey\\\\\\\":\\\\\\\"«<a24>»\\\\\\\"}",
        "SECRET_KEY\\x3d«<a20>»",
        "https:\\/\\/x.org\\/?token\\u003d«<a24>»",
        "password&#61;«<a12>»",
        "\"db_password\\\": \\\"«<a12>»\\\"",
        "{\"log\":\"DB_PASSWORD=«<a12>»\\nHOME=/root\"}",
        "{\"log\":\"line\\\\nDB_PASSWORD=«<a12>»\\\\nHOME\"}",
        "a\\tpassword=«<a10>»\\tb",
    ] {
        set.add("escapes", template);
    }
    for template in [
        "\u{1b}[32mpassword\u{1b}[0m=«<a12>»",
        "\u{1b}[1mDB_PASSWORD\u{1b}[0m=\u{1b}[33m«<a12>»\u{1b}[0m",
        "\u{1b}[36m\"password\"\u{1b}[39m: \u{1b}[32m\"«<a12>»\"\u{1b}[39m",
        "password: \u{1b}[31m«<m9>»\u{1b}[0m",
        "\\u001b[32mtoken\\u001b[0m: «<a24>»",
        "\u{1b}[34;1m\"apiKey\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m \u{1b}[0;32m\"«<a24>»\"\u{1b}[0m",
        "\u{1b}[38;5;214mAPI_KEY\u{1b}[m=«<a24>»",
        "\u{1b}[2m2024\u{1b}[0m \u{1b}[3msecret\u{1b}[0m\u{1b}[2m=\u{1b}[0m«<a20>»",
        "\u{1b}[31m«ghp_<a36>»\u{1b}[0m",
        "\\x1b[31mpassword\\x1b[0m=«<a12>»",
        "\\033[1mPASSWORD\\033[0m=«<a12>»",
    ] {
        set.add("colours", template);
    }
    for template in [
        "«ghp_<a10>\u{200b}<a26>»",
        "password: «<a6>\u{200b}<a6>»",
        "pass\u{200b}word: «<a12>»",
        "«sk-ant-api03-<a20>\u{feff}<a60>AA»",
        "to\u{200d}ken=«<a24>»",
        "API_KEY=«<a12>\u{2060}<a12>»",
        "«AKIA<u8>\u{ad}<u8>»",
        "\u{feff}DB_PASSWORD=«<a12>»",
        "g\u{200b}h\u{200b}p_«<a36>»",
        "\\u200bpassword=«<a12>»",
    ] {
        set.add("invisible", template);
    }
    for template in [
        "token «ghp_<a16>»\n«<a20>» end",
        "API_KEY=«<a30>»\n«<a18>»\n",
        "export SECRET_KEY=«<a20>»\\\n«<a20>»\n",
        "sk-ant-«api03-<a40>»\n    «<a40>AA»\n",
        "> token: «<a40>»\n> «<a24>»\n",
        "Authorization: Bearer «<a40>»\n «<a30>»\n",
        "«eyJ<a40>.eyJ<a30>»\n«<a40>.<w43>»\n",
        "access_token=«<a60>»=\n«<a20>»\n",
        "  \"secret\": \"«<a40>»\n  «<a20>»\"\n",
        "AWS_SECRET_ACCESS_KEY=«<a20>»\n«<a20>»\n",
    ] {
        set.add("wrapped", template);
    }
}
