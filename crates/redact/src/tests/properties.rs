//! What holds for any text.

use crate::fixtures::expand;
use crate::{Mode, Stream, find, redact};
use proptest::prelude::*;

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

#[test]
fn a_line_beside_a_masked_one_is_judged_by_what_is_left() {
    let token = expand("<w64>", 5);
    for text in [format!("\"password\": \"'-us1\n{token};\n{token}"), format!("{token}\npassword = {token}")] {
        let once = redact(&text, Mode::Text).into_owned();
        assert_eq!(redact(&once, Mode::Text), once, "{text}");
    }
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

/// Texts in which a second look once found more: a mask must not be taken for the beginning of a secret.
#[test]
fn masks_are_no_part_of_a_secret() {
    for text in [
        "password--password :  @tcp(&key=hunter2",
        "the password is ***&key=hunter2",
        "my password: ***hunter2x",
        "_auth=?code=\"passwordBearer -us1&",
        "://:$@tcp(password=password@\"\"",
        "--password =\\n.hooks.slack.com/services/\\<a24>password&key=@<a24><",
        "keyä: .<a12>&key=:<a12>@tcp(",
        "<a24>\\n<b64>\\/\"",
        "_--password <a24>äBearer password-https://=",
        "password--password <b64>äpassword: \\:?code=\"",
        "\"password\": \"''&key=eyJ'-----END RSA PRIVATE KEY-----/botpassword&'PASSWORD=auth",
        "key +1415555password<a6>&key=<a12>user:",
    ]
    .map(|template| expand(template, 9))
    {
        let once = redact(&text, Mode::Text).into_owned();
        assert_eq!(redact(&once, Mode::Text), once, "{text}");
    }
}

/// The mask of the first token makes an option of what follows it, whose value goes on in the next line. A stream that is
/// cut at the end of that line must not release the value.
#[test]
fn a_secret_that_shows_late_is_masked_across_a_cut() {
    let token = expand(
        "sk-<a30>...--password <a12>.<a12>.<a12>.<a12>:?code=@\n<a24>password-----BEGIN RSA PRIVATE KEY-----",
        9,
    );
    assert!(redact(&token, Mode::Text).contains("--password *** RSA"), "{}", redact(&token, Mode::Text));
    for filler in 1_500..2_100 {
        let text = format!("{}\n{token}{}\n", "f".repeat(filler), "\" ".repeat(2_000));
        let mut stream = Stream::with_small_sizes(Mode::Text);
        let mut out: Vec<u8> = text.as_bytes().chunks(64).flat_map(|piece| stream.feed(piece)).collect();
        out.extend(stream.finish());
        assert_eq!(String::from_utf8(out).unwrap(), redact(&text, Mode::Text), "{filler}");
    }
}
