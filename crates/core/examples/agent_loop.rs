//! An agent's loop on a context engine, with a scripted model: reads files and runs tests until the
//! window is full, folds, and goes on.
//!
//! ```sh
//! cargo run -p foldline-core --example agent_loop
//! ```

use foldline_core::TokenUsage;
use foldline_core::{ContextEngine, Foldline, Policy, Request};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;

/// Requests that the scripted model answers.
const TURNS: usize = 120;
/// A small window, so that something happens.
const WINDOW: u32 = 16_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut engine = Foldline::new(Policy::default());
    engine.switch_model("scripted-model", Some(WINDOW));
    let log = run(&mut engine, TURNS)?;
    std::io::stdout().write_all(log.as_bytes())?;
    Ok(())
}

/// Runs the loop; any engine will do.
fn run(engine: &mut impl ContextEngine, turns: usize) -> Result<String, Box<dyn Error>> {
    let mut log = String::new();
    let mut messages = vec![
        json!({"role": "system", "content": "You are a careful programmer. Keep the public API stable."}),
        json!({"role": "user", "content": "Make every parser in src/ reject trailing input. Never touch src/legacy.rs."}),
    ];
    for turn in 0..turns {
        let mut body = request(&messages);
        if engine.preflight(&body)?.acts() {
            let folded = engine.compact(&body, &Request::default())?.body;
            let violations = validate(&wire::read(&folded, None)?);
            writeln!(log, "turn {turn:>3}: {} → {} bytes, {} violations", body.len(), folded.len(), violations.len())?;
            body = folded;
            messages = serde_json::from_str::<Value>(&body)?["messages"].as_array().cloned().unwrap_or_default();
        }
        let (reply, usage) = scripted_model(turn, &body);
        engine.observe(&body, usage);
        let call = reply["tool_calls"][0].clone();
        messages.push(reply);
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": tool_output(turn)}));
    }
    let status = engine.status();
    writeln!(log, "{}: {} folds, {} prunes in {turns} turns", engine.name(), status.folds, status.prunes)?;
    Ok(log)
}

fn request(messages: &[Value]) -> String {
    json!({"model": "scripted-model", "messages": messages}).to_string()
}

/// A model that always wants to see one more file, or the tests.
fn scripted_model(turn: usize, body: &str) -> (Value, TokenUsage) {
    let (name, arguments) = match turn % 3 {
        0 => ("read_file", json!({"path": format!("src/parser_{turn}.rs")})),
        1 => ("patch", json!({"path": format!("src/parser_{}.rs", turn - 1), "change": "reject trailing input"})),
        _ => ("terminal", json!({"command": "cargo test"})),
    };
    let reply = json!({
        "role": "assistant",
        "content": format!("Step {turn}."),
        "tool_calls": [{"id": format!("call_{turn}"), "type": "function",
                        "function": {"name": name, "arguments": arguments.to_string()}}],
    });
    (reply, TokenUsage { prompt: body.len() as u64 / 4, completion: 40 })
}

fn tool_output(turn: usize) -> String {
    match turn % 3 {
        0 => (0..60)
            .map(|line| {
                format!("{line:>4}  fn parse_{turn}_{line}(input: &str) -> Result<Node, Error> {{ todo(input) }}\n")
            })
            .collect(),
        1 => "patched, 1 hunk".to_owned(),
        _ => format!("running 214 tests\ntest result: ok. {} passed; 0 failed\n", 214 - turn % 2),
    }
}
