//! `foldline hook`: what the command hooks of an agent call. The event comes as JSON on standard input; what is printed is for the
//! agent. Whatever goes wrong, the agent goes on as if there were no hook.

use super::compress;
use super::reduce::{ReduceArgs, attempt};
use crate::args::{CacheMarks, Compress, FormatName, Source, Tuning, tokens};
use crate::failure::{Failure, Verdict};
use crate::output;
use crate::reach::RecallBy;
use serde_json::{Value, json};
use std::io::Read;
use std::path::PathBuf;

/// Answer an event of an agent's command hooks, from standard input to standard output
///
/// After a tool ran (PostToolUse), its output is replaced by a shorter one with a handle. After a compaction (SessionStart with source
/// `compact`), the handoff of what was compacted is added to the context. Other events are left alone.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  # in hooks/hooks.json of a Claude Code plugin, or in its settings
  foldline hook claude --recall tool:mcp__foldline__foldline_recall --above 2k

Exit codes: 0 always, unless the usage is wrong; standard error says what went wrong.")]
pub struct HookArgs {
    /// Whose hooks
    #[arg(value_enum)]
    pub host: Host,
    /// Outputs of no more tokens than this are left alone, as `2000` or `2k`
    #[arg(long, value_name = "TOKENS", value_parser = tokens, default_value = "2k")]
    pub above: u64,
    /// How the agent gets originals back: `command`, `tool` (foldline_recall of `foldline mcp`), `tool:NAME`, or `none`
    #[arg(long, value_name = "WAY", default_value = "command")]
    pub recall: RecallBy,
    /// Where originals are kept: a file, or `none`
    #[arg(long, value_name = "PATH|none")]
    pub store: Option<String>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// An agent with command hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Host {
    /// Claude Code.
    Claude,
}

/// Runs the command.
pub fn run(args: &HookArgs) -> Result<Verdict, Failure> {
    let mut input = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut input).map_err(|error| error.to_string());
    let event = read.and_then(|_| serde_json::from_str::<Value>(&input).map_err(|error| error.to_string()));
    let done = event.and_then(|event| match event["hook_event_name"].as_str() {
        Some("PostToolUse") => after_tool(args, event),
        Some("SessionStart") if event["source"] == "compact" => after_compaction(args, &event),
        _ => Ok(()),
    });
    if let Err(trouble) = done {
        output::tell(&format!("foldline hook: nothing is changed: {trouble}\n"));
    }
    Ok(Verdict::Fine)
}

/// Prints the result of a tool with a shorter output, where there is one.
fn after_tool(args: &HookArgs, mut event: Value) -> Result<(), String> {
    let tool = event["tool_name"].as_str().unwrap_or_default().to_owned();
    // What was asked back is wanted whole.
    if tool.contains("foldline_") {
        return Ok(());
    }
    let reduce = ReduceArgs {
        args: Some(event["tool_input"].to_string()),
        tool,
        arguments: Vec::new(),
        above: Some(args.above),
        recall: args.recall.clone(),
        json: false,
        store: args.store.clone(),
        config: args.config.clone(),
    };
    let mut response = event["tool_response"].take();
    let Some(text) = words(&mut response) else { return Ok(()) };
    let Value::String(original) = &*text else { return Ok(()) };
    let (reduced, trouble) = attempt(&reduce, original);
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let Some(short) = reduced else { return Ok(()) };
    *text = Value::String(short.text);
    if let Some(fields) = response.as_object_mut() {
        // A copy of a large output in a file, which the agent would be sent to.
        fields.retain(|name, _| !name.starts_with("persistedOutput"));
    }
    let answer = json!({
        "suppressOutput": true,
        "hookSpecificOutput": { "hookEventName": "PostToolUse", "updatedToolOutput": response },
    });
    output::print(&format!("{answer}\n")).map_err(|failure| failure.message)
}

/// Where the words of a tool's result are: it is a text, a field of an object, or the only block of a list.
fn words(response: &mut Value) -> Option<&mut Value> {
    match response {
        Value::String(_) => Some(response),
        Value::Object(fields) => {
            let name = ["stdout", "content", "result"]
                .into_iter()
                .find(|name| fields.get(*name).is_some_and(Value::is_string))?;
            fields.get_mut(name)
        }
        Value::Array(blocks) => match blocks.as_mut_slice() {
            [Value::Object(block)] => block.get_mut("text").filter(|text| text.is_string()),
            _ => None,
        },
        _ => None,
    }
}

/// From this version on Claude Code lets plugins compact, and ours has done it.
const COMPACTS: [u32; 3] = [2, 1, 287];

/// Prints the handoff of the session so far: what a hook prints at the start of a session is added to its context.
fn after_compaction(args: &HookArgs, event: &Value) -> Result<(), String> {
    let transcript = event["transcript_path"].as_str().ok_or("`transcript_path` is missing")?;
    let text = std::fs::read_to_string(transcript).map_err(|error| format!("cannot read {transcript}: {error}"))?;
    if text.lines().rev().find_map(version).is_some_and(|version| version >= COMPACTS) {
        return Ok(());
    }
    let compress = Compress {
        source: Source { file: Some(PathBuf::from(transcript)), format: FormatName::ClaudeCode },
        tuning: Tuning { config: args.config.clone(), store: args.store.clone(), ..Tuning::default() },
        output: None,
        force: true,
        focus: None,
        pins: Vec::new(),
        target_tokens: None,
        summarizer: None,
        summarizer_model: None,
        memory: None,
        cache_marks: CacheMarks::Off,
        recall: args.recall.clone(),
        handoff: true,
        report: None,
        state: None,
        dry_run: false,
        quiet: true,
    };
    compress::run(&compress).map(drop).map_err(|failure| failure.message)
}

/// The version that wrote a line of a session file.
fn version(line: &str) -> Option<[u32; 3]> {
    let line: Value = serde_json::from_str(line).ok()?;
    let mut numbers = line["version"].as_str()?.split('.').map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}
