//! A provider for tests of Gemini clients: a model that calls a tool again and again and then says that it is done, to
//! requests that Google would accept.
//!
//! usage: gemini_worker WINDOW CALLS [TOOL ARGUMENTS]
//! `{n}` in the arguments stands for the number of the call. Prints its address, and at the end of input what it saw.
#![allow(clippy::print_stdout)]

use foldline_script::{Act, Provider, Received, Strict};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the model says in the end.
const DONE: &str = "All is done.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (window, calls) = (number(32_000), number(20));
    let tool = arguments.next().unwrap_or_else(|| "run_shell_command".to_owned());
    let template = arguments.next().unwrap_or_else(|| r#"{"command":"seq {n} 900"}"#.to_owned());
    let strict = Strict::new(window);
    let (judge, made) = (strict.clone(), Arc::new(AtomicUsize::new(0)));
    let provider = Provider::choosing(move |request, _| match judge.judge(request, DONE) {
        Act::Say { .. } if !offers_tools(request) => side(request),
        Act::Say { .. } if !request.uri.path().contains("enerateContent") => Act::say(DONE),
        Act::Say { .. } => match made.fetch_add(1, Ordering::Relaxed) {
            made if made < calls => call(request, &tool, &template, made),
            _ => Act::say(DONE),
        },
        refusal => refusal,
    })
    .await?;
    println!("{}", provider.url());
    let read = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
    read.await.ok();
    let turns: Vec<Received> = provider.requests().into_iter().filter(offers_tools).collect();
    let last = turns.last().map(Received::text).unwrap_or_default();
    println!(
        "{}",
        json!({
            "requests": turns.len(), "refused": strict.refused(), "rewrites": rewrites(&turns),
            "largest": turns.iter().map(|turn| turn.body.len() / 4).max(),
            "folded": last.contains("FOLDLINE HANDOFF"), "last": last,
        })
    );
    Ok(())
}

/// Requests whose contents are not those of the one before and what came since. The contents stand first in the body, so
/// that its bytes tell nothing.
fn rewrites(turns: &[Received]) -> usize {
    let contents = |turn: &Received| turn.json()["contents"].as_array().cloned().unwrap_or_default();
    let is_rewrite = |pair: &&[Received]| match pair {
        [one, two] => !contents(two).starts_with(&contents(one)),
        _ => false,
    };
    turns.windows(2).filter(is_rewrite).count()
}

fn offers_tools(request: &Received) -> bool {
    request.json().get("tools").is_some()
}

/// A question beside the conversation; clients want JSON for some.
fn side(request: &Received) -> Act {
    let wants_json = request.text().contains("application/json");
    Act::say(if wants_json { r#"{"reasoning":"Nothing is left.","next_speaker":"user"}"# } else { "Yes." })
}

/// A signed call, in the delivery that was asked for.
fn call(request: &Received, tool: &str, template: &str, number: usize) -> Act {
    let args: Value = serde_json::from_str(&template.replace("{n}", &(number + 1).to_string())).unwrap_or_default();
    let prompt = request.body.len() / 4;
    let parts =
        json!([{ "functionCall": { "name": tool, "args": args }, "thoughtSignature": format!("c2lnbmVk{number:04}") }]);
    let reply = json!({
        "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": prompt, "candidatesTokenCount": 20, "totalTokenCount": prompt + 20 },
        "modelVersion": "gemini", "responseId": format!("resp_{number}"),
    });
    let is_events = request.uri.query().unwrap_or_default().contains("alt=sse");
    let is_stream = request.uri.path().ends_with(":streamGenerateContent");
    let (content_type, body) = match (is_stream, is_events) {
        (true, true) => ("text/event-stream", format!("data: {reply}\r\n\r\n")),
        (true, false) => ("application/json", format!("[{reply}]")),
        _ => ("application/json", reply.to_string()),
    };
    Act::Raw { status: 200, headers: Vec::new(), content_type: content_type.to_owned(), body }
}
