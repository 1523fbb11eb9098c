//! `foldline reduce`: one tool output in, a shorter one out; what hooks of agents call.
//!
//! Whatever goes wrong, the output comes out as it went in: an agent must not lose what its tool said.

use crate::args::{Tuning, tokens};
use crate::failure::{Failure, Verdict};
use crate::reach::RecallBy;
use crate::{keep, output};
use foldline_core::output::{Output, Shorter, shorten, whole_by};
use foldline_core::tokens::estimate;
use foldline_store::NewOriginal;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Make one tool output shorter, from standard input to standard output
///
/// The original is kept, and the first line of the result says how to get it back. Where nothing is gained the output comes
/// out as it went in, and so it does when anything goes wrong; standard error says what.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo test 2>&1 | foldline reduce --tool bash --arg command='cargo test'
  # as a hook of an agent that has the tools of `foldline mcp`
  foldline reduce --tool Bash --args '{\"command\":\"make\"}' --recall tool:mcp__foldline__foldline_recall --json < output
  # small outputs stay as they are
  foldline reduce --above 2k < output

Exit codes: 0 reduced or left alone, 2 bad usage or standard input cannot be read.")]
pub struct ReduceArgs {
    /// The tool that printed it
    #[arg(long, value_name = "NAME", default_value = "")]
    pub tool: String,
    /// An argument of the call, such as command=… or path=…; may be given several times
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = argument)]
    pub arguments: Vec<(String, String)>,
    /// All arguments of the call, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "arguments")]
    pub args: Option<String>,
    /// Outputs of no more tokens than this are left alone, as `2000` or `2k`
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub above: Option<u64>,
    /// How the agent gets the original back: `command`, `tool` (foldline_recall of `foldline mcp`), `tool:NAME`, or `none`
    #[arg(long, value_name = "WAY", default_value = "command")]
    pub recall: RecallBy,
    /// The result as JSON: text, whether it was reduced, kind, handle, tokens
    #[arg(long)]
    pub json: bool,
    /// Where originals are kept: a file, or `none`
    #[arg(long, value_name = "PATH|none")]
    pub store: Option<String>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Reads `KEY=VALUE`.
fn argument(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Runs the command.
pub fn run(args: &ReduceArgs) -> Result<Verdict, Failure> {
    if std::io::stdin().is_terminal() {
        return Err(Failure::input(
            "standard input is a terminal; pipe a tool output in, as in `cargo test 2>&1 | foldline reduce --tool bash`",
        ));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?;
    let (reduced, trouble) = match std::str::from_utf8(&bytes) {
        Ok(text) => attempt(args, text),
        // Bytes are nobody's words.
        Err(_) => (None, None),
    };
    if let Some(trouble) = trouble {
        output::tell(&format!("foldline reduce: the output is left as it is: {trouble}\n"));
    }
    match (reduced, args.json) {
        (Some(short), false) => output::print(&short.text)?,
        (None, false) => print_bytes(&bytes)?,
        (reduced, true) => output::print(&described(&bytes, reduced.as_ref()))?,
    }
    Ok(Verdict::Fine)
}

/// The shorter form, or why there is none although there should be.
pub(super) fn attempt(args: &ReduceArgs, text: &str) -> (Option<Shorter>, Option<String>) {
    // A fault of ours is told in one line, without the words of the panic.
    std::panic::set_hook(Box::new(|_| {}));
    let made = catch_unwind(AssertUnwindSafe(|| reduce(args, text)));
    let _ours = std::panic::take_hook();
    match made {
        Ok(Ok(short)) => (short, None),
        Ok(Err(trouble)) => (None, Some(trouble)),
        Err(_) => (None, Some("an internal error".to_owned())),
    }
}

fn reduce(args: &ReduceArgs, text: &str) -> Result<Option<Shorter>, String> {
    if args.above.is_some_and(|above| u64::from(estimate(text)) <= above) {
        return Ok(None);
    }
    let arguments = match &args.args {
        Some(json) => json.clone(),
        None => {
            let fields = args.arguments.iter().map(|(key, value)| (key.clone(), Value::String(value.clone())));
            Value::Object(fields.collect::<Map<_, _>>()).to_string()
        }
    };
    let output = Output { tool: &args.tool, arguments: &arguments, text };
    let reach = args.recall.reach();
    let Some(short) = shorten(&output, |handle| whole_by(&reach, handle)) else { return Ok(None) };
    let tuning = Tuning { config: args.config.clone(), store: args.store.clone(), ..Tuning::default() };
    let settings = super::settings(&tuning, Vec::new()).map_err(|failure| failure.message)?;
    match keep::open(&settings.store).map_err(|error| error.to_string())? {
        Some(store) => {
            let original = NewOriginal { handle: short.handle, text, tool: &args.tool };
            store.put(keep::now_ms(), "", &[original]).map_err(|error| error.to_string())?;
            Ok(Some(short))
        }
        // A handle that leads nowhere is not shown.
        None => Ok(shorten(&output, |_| String::new())),
    }
}

fn described(bytes: &[u8], reduced: Option<&Shorter>) -> String {
    let described = match reduced {
        Some(short) => json!({
            "text": short.text,
            "reduced": true,
            "kind": short.kind.to_string(),
            "handle": short.handle,
            "tokens_before": short.tokens.0,
            "tokens_after": short.tokens.1,
        }),
        None => {
            let text = String::from_utf8_lossy(bytes);
            let tokens = estimate(&text);
            json!({ "text": text, "reduced": false, "tokens_before": tokens, "tokens_after": tokens })
        }
    };
    format!("{described}\n")
}

fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
