//! What the gateway adds to a request before it is forwarded, without HTTP.
//!
//! `cargo bench -p foldline-gateway --bench conversation`
#![allow(missing_docs, clippy::unwrap_used)]

use divan::Bencher;
use foldline_core::Policy;
use foldline_core::policy::AutoOr;
use foldline_gateway::conversation::{
    ConversationSettings, Conversations, CredentialId, Dialect, IncomingTurn, Prepared, ReportedUsage, Timestamp,
};
use std::fmt::Write;

fn main() {
    divan::main();
}

const WINDOWS: [u32; 2] = [1_000_000, 120_000];

/// A conversation of about this many bytes.
fn body(dialect: Dialect, bytes: usize) -> String {
    let mut list = String::from(match dialect {
        Dialect::Responses => r#"{"type":"message","role":"user","content":"Rebuild the parts."}"#,
        Dialect::Gemini => r#"{"role":"user","parts":[{"text":"Rebuild the parts."}]}"#,
        _ => r#"{"role":"user","content":"Rebuild the parts."}"#,
    });
    let mut turn = 0;
    while list.len() < bytes {
        let mut output = String::new();
        for line in 0..40 {
            let _ = write!(
                output,
                "part_{turn} line {line}: unit {} took {} ms in src/part_{}.rs\\n",
                line * 7 % 13,
                turn * line % 997,
                turn % 17
            );
        }
        let _ = match dialect {
            Dialect::Chat => write!(
                list,
                r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{turn}","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"make {turn}\"}}"}}}}]}},{{"role":"tool","tool_call_id":"c{turn}","content":"{output}"}}"#
            ),
            Dialect::Responses => write!(
                list,
                r#",{{"type":"function_call","call_id":"c{turn}","name":"bash","arguments":"{{\"command\":\"make {turn}\"}}"}},{{"type":"function_call_output","call_id":"c{turn}","output":"{output}"}}"#
            ),
            Dialect::Messages => write!(
                list,
                r#",{{"role":"assistant","content":[{{"type":"tool_use","id":"c{turn}","name":"bash","input":{{"command":"make {turn}"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{turn}","content":"{output}"}}]}}"#
            ),
            Dialect::Gemini => write!(
                list,
                r#",{{"role":"model","parts":[{{"functionCall":{{"name":"bash","args":{{"command":"make {turn}"}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"bash","response":{{"output":"{output}"}}}}}}]}}"#
            ),
        };
        turn += 1;
    }
    let field = match dialect {
        Dialect::Responses => "input",
        Dialect::Gemini => "contents",
        _ => "messages",
    };
    format!(r#"{{"model":"test-model","{field}":[{list}]}}"#)
}

fn ask(dialect: Dialect, body: &str) -> IncomingTurn<'_> {
    IncomingTurn::plain(dialect, body, CredentialId::of_key("k"), Timestamp(1))
}

fn gateway(window: u32, store: Option<&std::path::Path>) -> Conversations {
    let mut policy = Policy::default();
    policy.model.window = AutoOr::Fixed(window);
    let store = store.map(|folder| folder.join("s.db"));
    Conversations::open(ConversationSettings { policy, store, ..ConversationSettings::default() }).unwrap()
}

fn observed(gateway: &Conversations, prepared: &Prepared<'_>) {
    let usage = ReportedUsage { input: prepared.tokens.1, ..ReportedUsage::default() };
    gateway.observe(&prepared.turn, usage, Timestamp(2));
}

/// Nothing to do, then a known prefix to swap.
#[divan::bench(args = [(0, 2_000), (0, 400_000), (1, 400_000)])]
fn next_turn(bencher: Bencher<'_, '_>, (window, bytes): (usize, usize)) {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(WINDOWS[window], Some(folder.path()));
    let body = body(Dialect::Messages, bytes);
    let prepared = gateway.prepare(&ask(Dialect::Messages, &body)).unwrap();
    observed(&gateway, &prepared);
    bencher.bench_local(|| gateway.prepare(&ask(Dialect::Messages, &body)).unwrap());
}

/// A conversation that this process has not seen.
#[divan::bench(args = Dialect::ALL)]
fn first_sight(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let body = body(dialect, 400_000);
    let folder = tempfile::tempdir().unwrap();
    let mut session = 0;
    let gateway = gateway(1_000_000, Some(folder.path()));
    bencher.bench_local(|| {
        session += 1;
        let name = session.to_string();
        drop(gateway.prepare(&IncomingTurn { session_hint: Some(&name), ..ask(dialect, &body) }).unwrap());
    });
}

/// A fold before the request is forwarded, kept on the disk.
#[divan::bench(args = [100_000, 400_000, 2_000_000], sample_count = 20)]
fn fold(bencher: Bencher<'_, '_>, bytes: usize) {
    let body = body(Dialect::Messages, bytes);
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(u32::try_from(bytes / 8).unwrap(), Some(folder.path()));
    let mut client = 0;
    bencher.bench_local(|| {
        client += 1;
        let credential = CredentialId::of_key(&client.to_string());
        drop(gateway.prepare(&IncomingTurn { credential, ..ask(Dialect::Messages, &body) }).unwrap());
    });
}
