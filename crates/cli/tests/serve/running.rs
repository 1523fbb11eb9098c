//! What it prints, how it stops, and what survives when it is killed.

use crate::process::{LOG, MESSAGES, Served, command, conversation, serve};
use foldline_script::{Act, Provider};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::Output;
use std::time::Duration;
use tokio::runtime::Runtime;

fn refused(folder: &Path, args: &[&str]) -> (i32, String) {
    let Output { status, stderr, .. } = command(folder, args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_first_run_says_what_to_export_and_where_things_are() {
    let folder = tempfile::tempdir().unwrap();
    let served = serve(folder.path(), "http://127.0.0.1:9", &[]);
    let greeting = &served.greeting;
    assert!(greeting.contains(&format!("export ANTHROPIC_BASE_URL=http://{}\n", served.address)), "{greeting}");
    assert!(greeting.contains(&format!("export OPENAI_BASE_URL=http://{}/v1\n", served.address)), "{greeting}");
    assert!(greeting.contains(&folder.path().join("data").display().to_string()), "the store: {greeting}");
    assert!(greeting.contains("Prompt caching: ENABLED (Claude via") && greeting.contains("5m TTL"), "{greeting}");
    assert!(served.get("/foldline/healthz").starts_with("HTTP/1.1 200"));
}

#[test]
fn with_json_logs_standard_output_is_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = serve(folder.path(), "http://127.0.0.1:9", &["--log-format", "json"]);
    let greeting: Value = serde_json::from_str(&served.greeting).unwrap();
    assert_eq!(greeting["message"], "listening");
    assert_eq!(greeting["upstreams"]["openai"], "http://127.0.0.1:9");
    assert!(served.get("/foldline/healthz").starts_with("HTTP/1.1 200"), "{greeting}");
    served.signal("TERM");
    assert_eq!(served.ended(), Some(0));
    let log = std::fs::read_to_string(folder.path().join(LOG)).unwrap();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
}

#[test]
fn with_json_logs_a_failure_to_start_is_json_too() {
    let folder = tempfile::tempdir().unwrap();
    let (code, words) = refused(folder.path(), &["--log-format", "json", "--listen", "0.0.0.0:0"]);
    let line: Value = serde_json::from_str(&words).unwrap();
    assert!(code == 2 && line["message"].as_str().unwrap().contains("client_keys"), "{code} {words}");
}

#[test]
fn a_setting_that_the_gateway_cannot_follow_is_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(serve(folder.path(), "http://127.0.0.1:9", &["--set", "system_note=true"]));
    let log = std::fs::read_to_string(folder.path().join(LOG)).unwrap();
    assert!(log.contains("WARN") && log.contains("compression.system_note has no effect"), "{log}");
}

#[test]
fn what_cannot_work_is_said_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let (code, words) = refused(folder.path(), &["--listen", "0.0.0.0:0"]);
    assert!(code == 2 && words.contains("client_keys"), "{code} {words}");
    let (code, words) = refused(folder.path(), &["--upstream-openai", "api.openai.com"]);
    assert!(code == 2 && words.contains("scheme"), "{code} {words}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (code, words) = refused(folder.path(), &["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(code == 2 && words.contains("cannot listen"), "{code} {words}");
}

#[test]
fn a_signal_lets_an_open_stream_finish_and_ends_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let slow = Act::Say { text: "one two three four five".into(), pace: Duration::from_millis(80) };
    let provider = runtime.block_on(Provider::start([slow])).unwrap();
    for signal in ["TERM", "INT"] {
        let mut served = serve(folder.path(), &provider.url(), &[]);
        let mut stream = served.open(MESSAGES, &conversation(1, true));
        let mut start = [0; 20];
        stream.read_exact(&mut start).unwrap();
        served.signal(signal);
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("message_stop"), "{rest}");
        assert_eq!(served.ended(), Some(0), "{signal}");
    }
}

#[test]
fn a_settings_file_that_changes_takes_effect_and_a_bad_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let provider = runtime.block_on(Provider::start([Act::say("Done.")])).unwrap();
    let file = folder.path().join("foldline.yaml");
    std::fs::write(&file, "gateway:\n  max_body_bytes: 100000\n").unwrap();
    let served = serve(folder.path(), &provider.url(), &[]);
    let status = || served.post(MESSAGES, &conversation(2, false))[9..12].to_owned();
    assert_eq!(status(), "200");
    std::fs::write(&file, "gateway:\n  max_body_bytes: 1000\n").unwrap();
    served.wait_until("the settings are read again", "/foldline/metrics", |page| {
        page.contains("config_reloads_total{kind=\"done\"}")
    });
    assert_eq!(status(), "413");
    std::fs::write(&file, "gateway:\n  max_body_bytes: nonsense\n").unwrap();
    served.wait_until("bad settings are refused", "/foldline/metrics", |page| {
        page.contains("config_reloads_total{kind=\"refused\"}")
    });
    assert_eq!(status(), "413");
}

#[test]
fn a_kill_between_turns_or_in_a_stream_changes_no_byte_of_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let pace = Duration::from_millis(30);
    let provider = runtime.block_on(Provider::start([Act::Say { text: "one two three four".into(), pace }])).unwrap();
    let start = || serve(folder.path(), &provider.url(), &["--window", "16000", "--preset", "hermes"]);
    let changes = |served: &Served| {
        served.wait_until("folds are done", "/foldline/metrics", |page| page.contains("foldline_background_folds 0"));
        let page = served.get("/foldline/metrics");
        let changes = page
            .lines()
            .filter(|line| line.starts_with("foldline_folds_total") || line.starts_with("foldline_prunes_total"));
        changes.map(str::to_owned).collect::<Vec<_>>()
    };
    // A fold that is made beside a request shows in the next one; from then on nothing moves.
    let settle = |served: &Served, request: &Value| {
        let mut quiet = 0;
        while quiet < 2 {
            let before = changes(served);
            served.post(MESSAGES, request);
            quiet = if changes(served) == before { quiet + 1 } else { 0 };
        }
    };
    let forwarded = || provider.requests().pop().unwrap().text();
    let mut served = start();
    let mut folded = 0;
    for turns in (4..60).step_by(4) {
        let request = conversation(turns, turns % 8 == 0);
        settle(&served, &request);
        let before = forwarded();
        if turns % 8 == 0 {
            // In the middle of its stream.
            let mut stream = served.open(MESSAGES, &request);
            let mut start = [0; 20];
            stream.read_exact(&mut start).unwrap();
            served.signal("KILL");
            served.ended();
        } else {
            served.signal("KILL");
            served.ended();
        }
        served = start();
        served.post(MESSAGES, &request);
        let after = forwarded();
        assert!(after == before, "after {turns} turns: {} bytes became {}", before.len(), after.len());
        folded += usize::from(before.len() < request.to_string().len());
    }
    assert!(folded >= 5, "the conversation was folded in {folded} of 14 rounds");
}
