//! The command with a summariser behind it, and what guards the border: redaction and the doctor.
#![allow(clippy::unwrap_used)]

mod common;

use common::{code, errors, text};
use foldline_script::{Act, Provider};
use serde_json::{Value, json};
use std::io::Write;
use std::ops::Deref;
use std::process::{Output, Stdio};

const GOOD: &str =
    "## Goal\n- Mend the importer before Friday.\n## Key Decisions\n- Keep the old column, because reports read it.\n";

/// A place of its own, and a runtime for the provider.
struct Desk {
    place: common::Desk,
    runtime: tokio::runtime::Runtime,
}

impl Deref for Desk {
    type Target = common::Desk;

    fn deref(&self) -> &common::Desk {
        &self.place
    }
}

impl Desk {
    fn new() -> Desk {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Desk { place: common::Desk::new(), runtime }
    }

    fn provider(&self, acts: impl IntoIterator<Item = Act>) -> Provider {
        self.runtime.block_on(Provider::start(acts)).unwrap()
    }

    fn fold(&self, provider: &Provider, more: &[&str]) -> Output {
        let url = provider.url();
        let mut args = vec!["compress", "in.json", "-o", "out.json", "--report", "report.json", "--force"];
        args.extend(["--summarizer", &url, "--summarizer-model", "small", "--set", "summarizer.retries=0"]);
        args.extend(more);
        self.run(&args)
    }
}

fn conversation(turns: usize) -> String {
    let mut messages = Vec::new();
    for n in 0..turns {
        messages.push(json!({"role": "user", "content": format!("Request {n}: mend part {n}.")}));
        messages.push(
            json!({"role": "assistant", "content": format!("Part {n} is mended. {}", "It was hard. ".repeat(30))}),
        );
    }
    messages.push(json!({"role": "user", "content": "Go on."}));
    json!({"model": "gpt-5", "messages": messages}).to_string()
}

#[test]
fn a_model_writes_the_handoff_and_the_person_is_told() {
    let desk = Desk::new();
    desk.write("in.json", &conversation(40));
    desk.write("memory.md", "Ann signs off every release.");
    let provider = desk.provider([Act::say(GOOD)]);
    let done = desk.fold(&provider, &["--focus", "the importer", "--memory", "memory.md"]);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    assert!(desk.read("out.json").contains("before Friday"));
    let report: Value = serde_json::from_str(&desk.read("report.json")).unwrap();
    assert_eq!((report["handoff"]["by"].as_str(), report["summariser"]["calls"].as_u64()), (Some("model"), Some(1)));
    let said = errors(&done);
    for expected in ["folded:", "messages 81 →", "kept as they are", "a model's summary", "summariser: small, 1 call,"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let sent = provider.requests().remove(0).text();
    assert!(sent.contains("the importer") && sent.contains("Ann signs off") && sent.contains("Today is 20"), "{sent}");
}

#[test]
fn failures_end_as_the_settings_say() {
    let desk = Desk::new();
    let input = conversation(40);
    desk.write("in.json", &input);
    let wrong_key = || Act::error(401, "invalid_api_key", "Incorrect API key");
    // No access: nothing happens, and the person learns what to do.
    let done = desk.fold(&desk.provider([wrong_key()]), &[]);
    assert_eq!((code(&done), desk.read("out.json")), (0, input.clone()), "{}", errors(&done));
    assert!(
        errors(&done).contains("check the key") && errors(&done).contains("next: fix the summariser"),
        "{}",
        errors(&done)
    );
    // A bad reply: the ledger writes alone and says so.
    let done = desk.fold(&desk.provider([Act::say("")]), &["--state", "state.json"]);
    assert_eq!(code(&done), 0);
    assert!(desk.read("out.json").contains("Note: the model that should have written"));
    assert!(errors(&done).contains("written without a model"), "{}", errors(&done));
    let state: Value = serde_json::from_str(&desk.read("state.json")).unwrap();
    assert_eq!(state["summariser"]["failure"]["class"], "bad-reply");
    // With abort_on_failure the input comes back byte for byte, and the exit code says why.
    for act in [wrong_key(), Act::say(""), Act::status(500, "oops")] {
        let done = desk.fold(&desk.provider([act]), &["--set", "compression.abort_on_failure=true"]);
        assert_eq!((code(&done), desk.read("out.json")), (4, input.clone()), "{}", errors(&done));
        assert!(errors(&done).contains("abort_on_failure is set"), "{}", errors(&done));
    }
}

#[test]
fn a_key_is_sent_and_shown_nowhere() {
    let desk = Desk::new();
    desk.write("in.json", &conversation(40));
    let key = format!("{}{}", "my-own-", "key-0123456789");
    let provider = desk.provider([Act::error(401, "invalid_api_key", &format!("Incorrect API key: {key}"))]);
    let url = provider.url();
    let args = ["compress", "in.json", "--force", "--summarizer", &url, "--report", "-"];
    let done = desk.command(&args).env("FOLDLINE_SUMMARIZER_KEY", &key).stdin(Stdio::null()).output().unwrap();
    assert_eq!(provider.requests()[0].headers["authorization"], format!("Bearer {key}"));
    assert!(!errors(&done).contains(&key) && !text(&done).contains(&key), "{}", errors(&done));
    let done =
        desk.run(&["compress", "in.json", "--force", "--summarizer", &url, "--set", "summarizer.key_env=NOT_THERE"]);
    assert_eq!(code(&done), 2);
    assert!(errors(&done).contains("NOT_THERE is not set"), "{}", errors(&done));
}

/// `<a20>` becomes twenty letters and digits; `h`, `u`, `l`, `d` stand for hexadecimal, capitals, small letters, digits.
fn expand(template: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('<') {
        let (what, next) = after.split_once('>').unwrap();
        out.push_str(before);
        let letters: &[u8] = match &what[..1] {
            "h" => b"0123456789abcdef",
            "u" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "l" => b"abcdefghijklmnopqrstuvwxyz",
            "d" => b"0123456789",
            _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        };
        for _ in 0..what[1..].parse::<usize>().unwrap() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            out.push(char::from(letters[(state >> 33) as usize % letters.len()]));
        }
        rest = next;
    }
    out + rest
}

const SECRETS: [&str; 8] = [
    "<a24>",
    "<h32>",
    "sk-ant-api03-<a80>",
    "ghp_<a36>",
    "AKIA<u16>",
    "eyJ<a30>.eyJ<a60>.<a43>",
    "glpat-<a20>",
    "<l10><d6>",
];
const CARRIERS: [&str; 13] = [
    "SERVICE_API_KEY={}",
    "export DB_PASSWORD=\"{}\"",
    "{\"access_token\": \"{}\", \"id\": 7}",
    "database:\n  password: {}\n  host: db",
    "Authorization: Bearer {}",
    "curl -H 'x-api-key: {}' https://example.org/v1",
    "https://example.org/cb?access_token={}&state=1",
    "postgres://app:{}@db.example.org:5432/main",
    "INFO login user=bob password={} ok=true",
    "{\"body\": \"{\\\"client_secret\\\": \\\"{}\\\"}\"}",
    "app.datasource.password={}",
    "Cookie: theme=dark; session={}; lang=en",
    "tool --token {} --verbose",
];

#[test]
fn none_of_five_hundred_secrets_crosses_the_border() {
    let desk = Desk::new();
    let mut secrets = Vec::new();
    let mut messages = Vec::new();
    for seed in 0..5_u64 {
        for (n, template) in SECRETS.iter().enumerate() {
            for (m, carrier) in CARRIERS.iter().enumerate() {
                let number = secrets.len();
                let secret = expand(template, 1 + seed * 1000 + (n * 50 + m) as u64);
                let line = carrier.replace("{}", &secret);
                secrets.push(secret);
                match number % 4 {
                    0 => messages.push(
                        json!({"role": "user", "content": format!("Step {number}: use this.\n{line}\nThank you.")}),
                    ),
                    1 => messages.push(json!({"role": "user", "content": format!("Step {number}, please.")})),
                    _ => messages.push(json!({"role": "user", "content": format!("And step {number}.")})),
                }
                let id = format!("call_{number}");
                let command =
                    if number % 4 == 1 { format!("echo step {number}; {line}") } else { format!("cat file-{number}") };
                let arguments = json!({"command": command}).to_string();
                messages
                    .push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                    "function": {"name": "bash", "arguments": arguments}}]}));
                let output = if number % 4 == 2 {
                    format!("error: step {number} failed\n{line}\nexit code 1")
                } else {
                    "ok".to_owned()
                };
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
                let words = if number % 4 == 3 {
                    format!("I decided to keep step {number} because of this:\n{line}")
                } else {
                    "Done.".to_owned()
                };
                messages.push(json!({"role": "assistant", "content": words}));
            }
        }
    }
    assert!(secrets.len() >= 500);
    messages.push(json!({"role": "user", "content": "Go on."}));
    desk.write("in.json", &json!({"model": "gpt-5", "messages": messages}).to_string());
    // A model that repeats every secret that it could have seen.
    let echo: String = (0..secrets.len())
        .step_by(9)
        .map(|n| {
            format!("- Value {n}: {}\n", CARRIERS[n % CARRIERS.len()].replace("{}", &secrets[n]).replace('\n', " "))
        })
        .collect();
    let provider = desk.provider([Act::say(format!("## Critical Context\n{echo}"))]);
    let window = ["--set", "summarizer.window=64000", "--store", "store.db"];
    let done = desk.fold(&provider, &window);
    assert_eq!(code(&done), 0, "{}", errors(&done));
    let body: Value = serde_json::from_str(&desk.read("out.json")).unwrap();
    let handoff = body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_str());
    let handoff: String = handoff.filter(|content| content.contains("[FOLDLINE HANDOFF")).collect();
    assert!(handoff.len() > 3_000, "{handoff}");
    let sent: String = provider.requests().iter().map(|request| request.text()).collect();
    assert!(sent.len() > 20_000);
    let said = errors(&done) + &desk.read("report.json");
    let columns = plain_columns(&desk.path("store.db"));
    assert!(!columns.is_empty());
    for secret in &secrets {
        // Half a secret is too much, too: the middle of it must not stand anywhere.
        let middle = &secret[6..(secret.len() - 4).min(18)];
        for (place, text) in
            [("request", &sent), ("handoff", &handoff), ("report or terminal", &said), ("store", &columns)]
        {
            let at = text.find(middle);
            let around =
                at.map(|at| &text[text.floor_char_boundary(at.saturating_sub(80))..text.floor_char_boundary(at + 60)]);
            assert_eq!(around, None, "{place}: {secret}");
        }
    }
}

/// All text that the store keeps uncompressed.
fn plain_columns(file: &std::path::Path) -> String {
    let database = rusqlite::Connection::open(file).unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut query = database.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut out = String::new();
    for table in names("SELECT name FROM sqlite_master WHERE type = 'table'") {
        let mut query = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                if let rusqlite::types::ValueRef::Text(text) = row.get_ref(column).unwrap() {
                    out.push_str(&String::from_utf8_lossy(text));
                    out.push('\n');
                }
            }
        }
    }
    out
}

#[test]
fn redact_masks_a_stream_and_lists_what_it_finds() {
    let desk = Desk::new();
    let token = format!("{}{}", "ghp_", "R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m");
    let input = format!("first line\nI have {token} here\nMAX_TOKENS=4096\n");
    desk.write("a.txt", &input);
    let masked = desk.run(&["redact", "a.txt"]);
    assert_eq!(
        (code(&masked), text(&masked)),
        (0, "first line\nI have ghp_R4...nd0m here\nMAX_TOKENS=4096\n".to_owned())
    );
    let mut child = desk.command(&["redact"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, masked.stdout);
    assert_eq!(code(&desk.run(&["redact", "a.txt", "-o", "b.txt"])), 0);
    assert_eq!(desk.read("b.txt"), text(&masked));
    let listed = desk.run(&["redact", "a.txt", "--list", "--json"]);
    let found: Value = serde_json::from_str(&text(&listed)).unwrap();
    assert_eq!(
        (code(&listed), found[0]["line"].as_u64(), found[0]["column"].as_u64()),
        (1, Some(2), Some(8)),
        "{found}"
    );
    assert_eq!((found[0]["rule"].as_str(), found[0]["masked"].as_str()), (Some("github"), Some("ghp_R4...nd0m")));
    assert!(!text(&listed).contains(&token));
    assert_eq!(code(&desk.run(&["redact", "b.txt", "--list"])), 0, "nothing is left to find");
    desk.write("code.rs", "let password = \"hunter2-hunter2\";\n");
    assert!(text(&desk.run(&["redact", "code.rs", "--mode", "code"])).contains("hunter2-hunter2"));
    assert!(!text(&desk.run(&["redact", "code.rs"])).contains("hunter2-hunter2"));
    assert_eq!(code(&desk.run(&["redact", "missing.txt"])), 2);
}

#[test]
fn the_doctor_tells_what_is_wrong_and_how_to_mend_it() {
    let desk = Desk::new();
    let doctor = |args: &[&str]| {
        let done = desk.run(&[&["doctor", "--json"], args].concat());
        let report: Value = serde_json::from_str(&text(&done)).unwrap_or_else(|_| panic!("{}", errors(&done)));
        (code(&done), report)
    };
    let check = |report: &Value, name: &str| -> (String, String) {
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"));
        (found["health"].as_str().unwrap().to_owned(), format!("{} → {}", found["found"], found["fix"]))
    };
    let (exit, report) = doctor(&[]);
    assert_eq!((exit, report["healthy"].as_bool()), (0, Some(true)), "{report}");
    assert_eq!(check(&report, "summariser").0, "note");

    let listing = json!({"data": [{"id": "small", "meta": {"n_ctx": 8192}}]}).to_string();
    let provider = desk.provider([Act::Raw {
        status: 200,
        headers: vec![],
        content_type: "application/json".into(),
        body: listing,
    }]);
    let url = format!("summarizer.url={}", provider.url());
    let model = ["--set", &url, "--set", "summarizer.model=small", "--model", "claude-sonnet-4-5"];
    let (exit, report) = doctor(&[&model[..], &["--set", "summarizer.window=8192"]].concat());
    assert_eq!(exit, 0, "{report}");
    assert_eq!(check(&report, "summariser").0, "good");
    let (health, words) = check(&report, "summariser window");
    assert!(health == "note" && words.contains("trigger is lowered"), "{words}");
    let (exit, report) = doctor(&[&model[..], &["--set", "summarizer.window=64000"]].concat());
    assert!(exit == 1 && check(&report, "summariser window").1.contains("set summarizer.window to 8192"), "{report}");
    assert_eq!(provider.requests()[0].uri.path(), "/v1/models");

    for (act, words) in
        [(Act::error(401, "invalid_api_key", "no"), "check the key"), (Act::status(503, "down"), "asked again later")]
    {
        let provider = desk.provider([act]);
        let (exit, report) = doctor(&["--set", &format!("summarizer.url={}", provider.url())]);
        assert!(exit == 1 && check(&report, "summariser").1.contains(words), "{report}");
    }
    let (exit, report) = doctor(&["--set", "summarizer.url=http://127.0.0.1:9"]);
    assert!(exit == 1 && check(&report, "summariser").1.contains("summarizer.url"), "{report}");
    let (exit, report) = doctor(&["--set", "compression.threshold=7"]);
    assert!(exit == 1 && check(&report, "settings").1.contains("threshold"), "{report}");
    desk.write("folder", "a file where a folder should be");
    let (exit, report) = doctor(&["--store", "folder/store.db"]);
    assert!(exit == 1 && check(&report, "store").1.contains("folder"), "{report}");
    let human = desk.run(&["doctor"]);
    assert!(text(&human).contains("ok") && text(&human).contains("→"), "{}", text(&human));
}
