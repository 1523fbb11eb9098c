//! Tests of the whole: the tables of rules, structure, idempotence, streams.

use crate::shapes::made::{Dice, expand};
use crate::{Mode, RULES, Stream, find, mask, redact};
use proptest::prelude::*;

/// A text before and after an example must not change what is found in it.
const SURROUNDINGS: [(&str, &str); 3] = [
    ("", ""),
    ("see https://example.org/a?b=c for more\n", "\nsee http://localhost:8080/\n"),
    ("log line one\n\n", "\n\nlast line"),
];

#[test]
fn every_example_of_a_rule_is_found_once_and_by_that_rule() {
    let mut wrong = Vec::new();
    for rule in RULES.iter() {
        assert!(!rule.hits.is_empty(), "{} has no example", rule.name);
        for (index, template) in rule.hits.iter().enumerate() {
            for (before, after) in SURROUNDINGS {
                let text = format!("{before}{}{after}", expand(template, index as u64));
                let findings = find(&text, Mode::Text);
                if findings.len() != 1 || findings[0].rule != rule.name {
                    wrong.push(format!("{}: {template}\n   {text:?}\n   {findings:?}", rule.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_counterexample_of_a_rule_is_found() {
    let mut wrong = Vec::new();
    for rule in RULES.iter() {
        for (index, template) in rule.misses.iter().enumerate() {
            for (before, after) in SURROUNDINGS {
                let text = format!("{before}{}{after}", expand(template, index as u64));
                let findings = find(&text, Mode::Text);
                if !findings.is_empty() {
                    wrong.push(format!("{}: {template}\n   {text:?}\n   {findings:?}", rule.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn patterns_compile_and_names_are_unique() {
    let mut names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
    for rule in RULES.iter() {
        assert!(rule.pattern().is_none() || rule.compile().is_some(), "{}", rule.name);
    }
}
#[test]
fn code_mode_keeps_fixtures_and_finds_tokens() {
    for kept in [
        "\"apiKey\": \"test\"",
        "password = \"hunter2\"",
        "const MAX_TOKENS = 4096;",
        "token: \"test-token-1234567890\"",
        "postgres://user:pass@localhost/db",
        "secret := \"super-secret-value-1\"",
        "f\"postgres://{user}:{password}@{host}/db\"",
        "number = \"+14155552671\"",
    ] {
        assert!(find(kept, Mode::Code).is_empty(), "{kept}");
    }
    for template in [
        "let k = \"ghp_<a36>\";",
        "API_KEY = \"<h32>\"",
        "aws_secret_access_key = <b40>",
        "headers = {\"Authorization\": \"Bearer <a40>\"}",
        "postgres://app:<a20>@db/main",
    ] {
        let text = expand(template, 1);
        assert_eq!(find(&text, Mode::Code).len(), 1, "{text}");
    }
}

#[test]
fn what_looks_random_but_is_no_secret_stays() {
    for template in [
        "commit <h40>",
        "sha256:<h64>",
        "id: <h8>-<h4>-<h4>-<h4>-<h12>",
        "\"id\": \"toolu_01<a22>\"",
        "\"id\": \"call_<a24>\"",
        "\"signature\": \"<b400>\"",
        "data:image/png;base64,iVBORw0KGgo<b300>",
        "integrity sha512-<b86>==",
        "ETag: \"<h32>\"",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<a43> me@host",
        "go.sum h1:<b43>=",
        "msg_01<a22>",
        "req_<a24>",
        "\"prompt_cache_key\": \"<h8>\"",
    ] {
        for seed in 0..20 {
            let text = expand(template, seed);
            assert!(find(&text, Mode::Text).is_empty(), "{text} {:?}", find(&text, Mode::Text));
        }
    }
}

/// Secrets that people choose and secrets that machines make.
const SECRETS: [&str; 12] = [
    "<a20>",
    "<a32>",
    "<h32>",
    "<h64>",
    "<b40>",
    "sk-ant-api03-<w80>",
    "ghp_<a36>",
    "AKIA<u16>",
    "eyJ<a30>.eyJ<a60>.<w43>",
    "glpat-<w20>",
    "xoxb-<d12>-<d12>-<a24>",
    "<l10><d4>",
];

const CARRIERS: [&str; 16] = [
    "SERVICE_API_KEY={}",
    "export DB_PASSWORD=\"{}\"",
    "{\"access_token\": \"{}\", \"id\": 7}",
    "database:\n  password: {}\n  host: db",
    "Authorization: Bearer {}\r\nHost: example.org",
    "curl -H 'x-api-key: {}' https://example.org/v1",
    "https://example.org/cb?access_token={}&state=1",
    "const apiKey = \"{}\";",
    "2024-01-01 INFO login user=bob password={} ok=true",
    "{\"body\": \"{\\\"client_secret\\\": \\\"{}\\\"}\"}",
    "{\"a\": \"{\\\"b\\\": \\\"{\\\\\\\"password\\\\\\\": \\\\\\\"{}\\\\\\\"}\\\"}\"}",
    "{\"stdout\": \"HOME=/root\\nAPI_TOKEN={}\\nSHELL=/bin/sh\"}",
    "app.datasource.password={}",
    "<clientSecret>{}</clientSecret>",
    "tool --token {} --verbose",
    "Cookie: theme=dark; session={}; lang=en",
];

#[test]
fn five_hundred_generated_secrets_are_masked_in_every_carrier() {
    let mut count = 0;
    for seed in 0..3 {
        for secret in SECRETS {
            for carrier in CARRIERS {
                let secret = expand(secret, seed);
                let text = carrier.replace("{}", &secret);
                let masked = redact(&text, Mode::Text);
                assert!(!masked.contains(&secret), "{text}\n{masked}");
                let hidden = &secret[6..secret.len() - 4];
                assert!(!masked.contains(hidden), "{text}\n{masked}");
                if text.starts_with('{') {
                    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&masked);
                    assert!(parsed.is_ok(), "{masked}");
                }
                count += 1;
            }
        }
    }
    assert!(count >= 500, "{count}");
}

#[test]
fn quotes_and_structure_around_a_secret_stay() {
    for (template, expected) in [
        ("-H \"Authorization: Bearer <a12>\" -X", "-H \"Authorization: Bearer ***\" -X"),
        ("{\"password\":\"<a8>\",\"b\":1}", "{\"password\":\"***\",\"b\":1}"),
        ("{\"password\":\"<a4>\\\"<a4>\",\"b\":1}", "{\"password\":\"***\",\"b\":1}"),
        ("postgres://app:<a12>@db:5432/main\nnext@line", "postgres://app:***@db:5432/main\nnext@line"),
        ("Set-Cookie: sid=<a12>; Path=/; HttpOnly", "Set-Cookie: sid=***; Path=/; HttpOnly"),
        ("https://api.telegram.org/bot<d9>:B<w9>", ""),
        ("Endpoint=sb://x/;SharedAccessKey=<a12>;EntityPath=q", "Endpoint=sb://x/;SharedAccessKey=***;EntityPath=q"),
        ("client_secret=<a12>&code=1", "client_secret=***&code=1"),
        ("password: '<a8>' # the old one", "password: '***' # the old one"),
        ("[\"-----BEGIN PRIVATE KEY-----\", \"<a64>\", \"-----END PRIVATE KEY-----\"]", "[\"[REDACTED PRIVATE KEY]\"]"),
    ] {
        let text = expand(template, 5);
        let expected = if expected.is_empty() { text.clone() } else { expected.to_owned() };
        assert_eq!(redact(&text, Mode::Text), expected);
    }
}

#[test]
fn a_text_without_secrets_is_borrowed() {
    assert!(matches!(redact("nothing to see", Mode::Text), std::borrow::Cow::Borrowed(_)));
}

/// Pieces that the rules react to, to be joined in any order.
fn shards() -> Vec<String> {
    let mut shards: Vec<String> = [
        "\"",
        "'",
        "\\\"",
        "\\\\\\\"",
        "\\",
        "\\n",
        "\n",
        " ",
        "=",
        ": ",
        ":",
        "&",
        "?",
        ";",
        ",",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "@",
        "/",
        "://",
        "...",
        "***",
        ".",
        "-",
        "--",
        "_",
        "ä",
        "…",
        "#",
        "$",
        "%3D",
        "|",
        "password",
        "PASSWORD",
        "token",
        "api_key",
        "secret",
        "Authorization",
        "Cookie",
        "Bearer ",
        "Basic ",
        "auth",
        "_auth=",
        "value",
        "https://",
        "postgres://",
        "user:",
        "sk-",
        "ghp_",
        "eyJ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "&key=",
        "?code=",
        "+1415555",
        "/bot",
        ":AA",
        "hooks.slack.com/services/",
        "@tcp(",
        "-us1",
        "NRAL",
        "8Q~",
        "key",
        "sig=",
        "--password ",
        "\"password\": \"",
        "hunter2",
        "foo",
    ]
    .map(str::to_owned)
    .to_vec();
    for template in [
        "<a6>",
        "<a12>",
        "<a24>",
        "<h32>",
        "<d9>",
        "<b64>",
        "<w43>",
        "<l9>",
        "sk-<a30>",
        "ghp_<a36>",
        "AKIA<u16>",
        "eyJ<a20>.eyJ<a20>.<a20>",
        "<h36>NRAL",
        "<h32>-us1",
        "MTAx<w21>.G<w5>.<w38>",
    ] {
        shards.push(expand(template, 9));
    }
    shards
}

/// `PROPTEST_CASES` asks for more than the usual number.
fn cases(usual: u32) -> u32 {
    usual.max(ProptestConfig::default().cases)
}

fn shattered() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(shards()), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_changes_nothing_more(text in shattered()) {
        for mode in [Mode::Text, Mode::Code] {
            let once = redact(&text, mode).into_owned();
            let twice = redact(&once, mode).into_owned();
            prop_assert_eq!(&once, &twice, "{}", text);
        }
    }

    #[test]
    fn findings_are_in_order_disjoint_and_on_character_boundaries(text in shattered()) {
        for mode in [Mode::Text, Mode::Code] {
            let mut last = 0;
            for finding in find(&text, mode) {
                prop_assert!(finding.start >= last && finding.start < finding.end);
                prop_assert!(text.get(finding.start..finding.end).is_some(), "{}", text);
                last = finding.end;
            }
        }
    }

    #[test]
    fn redacted_json_is_json(text in shattered()) {
        let document = serde_json::json!({"output": text, "password": text, "inner": serde_json::json!({"api_key": text}).to_string()}).to_string();
        let masked = redact(&document, Mode::Text);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{}\n{}", document, masked);
    }

    #[test]
    fn any_text_is_accepted(text in "\\PC*") {
        let masked = redact(&text, Mode::Text).into_owned();
        prop_assert_eq!(redact(&masked, Mode::Text), masked.as_str());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_gives_what_the_whole_text_gives(lines in prop::collection::vec(shattered(), 0..40), piece in 1_usize..400) {
        let text = lines.join("\n");
        let mut stream = Stream::with_small_sizes(Mode::Text);
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            out.extend(stream.feed(piece));
        }
        out.extend(stream.finish());
        let out = String::from_utf8(out).unwrap();
        let whole = redact(&text, Mode::Text);
        let same = out.bytes().zip(whole.bytes()).take_while(|(one, other)| one == other).count();
        let around = |text: &str| text.get(text.floor_char_boundary(same.saturating_sub(80))..text.ceil_char_boundary((same + 80).min(text.len()))).map(str::to_owned);
        prop_assert_eq!(&out, &whole, "\n{:?}\n{:?}", around(&out), around(&whole));
    }
}

#[test]
fn the_mask_of_a_secret_never_holds_its_middle() {
    let mut dice = Dice::new(3);
    for length in 18..80 {
        let secret = dice.letters(length);
        assert!(!mask(&secret).contains(&secret[6..length - 4]));
    }
}

#[test]
fn at_most_a_few_of_the_first_set_leak() {
    let leaks = crate::shapes::Leaks::of(&crate::shapes::first::shapes());
    println!("{leaks}");
    for (group, text, masked) in leaks.texts() {
        println!("{group}: {text:?}\n      {masked:?}");
    }
    assert!(leaks.total().0 >= 800);
}

#[test]
fn at_most_a_few_of_the_second_set_leak() {
    let leaks = crate::shapes::Leaks::of(&crate::shapes::second::shapes());
    println!("{leaks}");
    for (group, text, masked) in leaks.texts() {
        println!("{group}: {text:?}\n      {masked:?}");
    }
}

#[test]
fn at_most_a_few_of_the_third_set_leak() {
    let leaks = crate::shapes::Leaks::of(&crate::shapes::third::shapes());
    println!("{leaks}");
    for (group, text, masked) in leaks.texts() {
        println!("{group}: {text:?}\n      {masked:?}");
    }
}

#[test]
fn at_most_a_few_of_the_fourth_set_leak() {
    let leaks = crate::shapes::Leaks::of(&crate::shapes::fourth::shapes());
    println!("{leaks}");
    for (group, text, masked) in leaks.texts() {
        println!("{group}: {text:?}\n      {masked:?}");
    }
}

#[test]
fn debug_one() {
    let text = std::env::var("T").unwrap_or_default().replace("\\n", "\n");
    println!("{:?} -> {}", find(&text, Mode::Text), redact(&text, Mode::Text));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60_000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    #[ignore]
    fn rounds(text in shattered()) {
        let first = find(&text, Mode::Text);
        let (out, _) = crate::mask::splice(text.as_bytes(), &first);
        let second = crate::scan::find(&out, Mode::Text);
        if !second.is_empty() {
            let nothing = first.iter().all(|f| f.reveal == crate::Reveal::Nothing);
            println!("ROUND {} {:?}\n   {:?}\n   {:?} {:?}", nothing, text, String::from_utf8_lossy(&out), first, second);
        }
    }
}
