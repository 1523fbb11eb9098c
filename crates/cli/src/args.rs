//! The command line arguments.

use crate::reach::RecallBy;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Keeps long-running LLM agents inside their context window without losing the work.
#[derive(Debug, Parser)]
#[command(name = "foldline", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  # compact a transcript
  foldline compress session.json -o smaller.json
  # see where its tokens are
  foldline inspect session.json
  # fold standard input, whatever its size
  cat session.jsonl | foldline compress --force
  # fit a token budget
  foldline compress big.json --target-tokens 12k
  # search removed text
  foldline search importer timeout

Topics, as in `foldline help presets`:
  presets: when a conversation is compacted, and how far
  formats: what can be read and written
  recall: how removed text comes back
  privacy: what is sent, kept and deleted

Exit codes:
  0  success
  1  a check found violations
  2  invalid usage or input
  3  the target cannot be met
  4  the summariser failed and abort_on_failure is set, or eval --ask got no answer")]
pub struct Cli {
    /// What to do; without it, the program says what could be done next.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compact a transcript: protect head and tail, reduce old outputs, fold the middle into a handoff.
    Compress(Compress),
    /// Show where the tokens are, the zones, and what a fold would do.
    Inspect(Inspect),
    /// Check a transcript against its provider's rules.
    Validate(Validate),
    // These are described where their options are: `--help` says more than one line.
    Reduce(crate::command::reduce::ReduceArgs),
    Hook(crate::command::hook::HookArgs),
    Recall(crate::command::recall::RecallArgs),
    Search(crate::command::search::SearchArgs),
    Forget(crate::command::forget::ForgetArgs),
    Undo(crate::command::undo::UndoArgs),
    /// Show the status of the store, create keys, re-encrypt it.
    #[command(subcommand)]
    Store(crate::command::store::StoreCommand),
    /// Create, list and revoke the keys of the gateway's clients.
    #[command(subcommand)]
    Keys(crate::command::keys::KeysCommand),
    /// Measure what survives a compaction, and what outputs are reduced to, on a folder of transcripts.
    Eval(crate::command::eval::EvalArgs),
    /// Replay recorded sessions under policies: what each request contains and costs.
    Replay(crate::command::replay::ReplayArgs),
    /// Write conversations as training data, without synthetic messages.
    Export(crate::command::export::ExportArgs),
    /// Mask secrets in any text.
    Redact(Redact),
    /// Check settings, store, upstream, summariser and clients, with a fix for each problem.
    Doctor(Doctor),
    /// Show, check, describe or write the settings.
    #[command(subcommand)]
    Config(Config),
    Mcp(crate::command::mcp::McpArgs),
    Setup(crate::command::setup::SetupArgs),
    Wrap(crate::command::wrap::WrapArgs),
    /// Run the gateway between agents and their providers.
    Serve(Serve),
    Completions(crate::command::completions::CompletionsArgs),
    #[command(hide = true)]
    Man(crate::command::completions::ManArgs),
}

/// Where the transcript comes from, and how it is read.
#[derive(Debug, Args)]
pub struct Source {
    /// Transcript file; standard input if omitted or `-`.
    pub file: Option<PathBuf>,
    /// Wire format of the transcript.
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    pub format: FormatName,
}

/// The formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Detect from the content.
    Auto,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// A Claude Code session file.
    ClaudeCode,
    /// ShareGPT trajectories.
    Sharegpt,
    /// Google Gemini.
    Gemini,
}

/// Where cache marks go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CacheMarks {
    /// Unchanged.
    #[default]
    Off,
    /// On the system prompt and the last three messages.
    #[value(name = "system-and-3")]
    SystemAndThree,
    /// On tools, system prompt, handoff and a window that rolls with the conversation.
    Auto,
}

impl CacheMarks {
    /// The layout that it names; `None` leaves marks as they are.
    pub const fn layout(self) -> Option<foldline_core::cache::Layout> {
        match self {
            CacheMarks::Off => None,
            CacheMarks::SystemAndThree => Some(foldline_core::cache::Layout::SystemAndThree),
            CacheMarks::Auto => Some(foldline_core::cache::Layout::Auto),
        }
    }
}

/// Settings on the command line.
#[derive(Debug, Default, Args)]
pub struct Tuning {
    /// Model that reads the result; determines window and token counts.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Context window of the model, if the model table is wrong or has no entry.
    #[arg(long, value_name = "TOKENS")]
    pub window: Option<String>,
    /// Preset: steady, hermes, sacred-zone, skill, runway or frugal.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The settings file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set one setting; repeatable.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// Store for originals: a file, or `none`.
    #[arg(long, value_name = "PATH|none")]
    pub store: Option<String>,
}

/// A number of tokens, as settings take it: `12000`, `12k`, `1.5M`.
pub fn tokens(text: &str) -> Result<u64, String> {
    let kind = foldline_core::settings::tokens(1, u64::from(u32::MAX));
    let number = kind.read(text).ok().and_then(|value| value.as_u64());
    number.ok_or_else(|| format!("expected {}, as 12000 or 12k", kind.expected()))
}

/// `foldline compress`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  foldline compress session.json > smaller.json
  foldline compress session.json --window 128000 --preset runway --report -
  foldline compress session.json --force --focus \"database schema\"
  foldline compress session.json --force --pin \"Never push to main.\" --pin \"*deadline*\"
  foldline compress session.json --target-tokens 12k -o smaller.json
  foldline compress session.json --force --summarizer http://127.0.0.1:8080 --summarizer-model qwen
  FOLDLINE_SUMMARIZER_KEY=… foldline compress session.json --summarizer https://api.example/v1 --summarizer-model small
  foldline compress session.json --handoff --recall tool > summary.md
  foldline compress request.json --cache-marks system-and-3 --set model.cache_ttl=1h
  foldline compress session.json --dry-run")]
pub struct Compress {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub tuning: Tuning,
    /// Output file; standard output if omitted, unless that is a terminal. `-` prints there, too.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Fold even below the trigger.
    #[arg(long)]
    pub force: bool,
    /// Topic that the handoff gives priority; implies --force.
    #[arg(long, value_name = "TEXT")]
    pub focus: Option<String>,
    /// Text that the handoff keeps verbatim, in addition to `compression.pins`; repeatable. With `*`, a pattern for
    /// sentences of the user.
    #[arg(long = "pin", value_name = "TEXT")]
    pub pins: Vec<String>,
    /// Maximum tokens of the result, as `12000` or `12k`.
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub target_tokens: Option<u64>,
    /// Summariser: `none` (no model) or the base URL of an API.
    #[arg(long, value_name = "none|URL")]
    pub summarizer: Option<String>,
    /// Model of the summariser; its key comes from the environment or a file (summarizer.key_env, summarizer.key_file).
    #[arg(long, value_name = "NAME")]
    pub summarizer_model: Option<String>,
    /// Memory file that the agent reads anyway; the summariser need not repeat it.
    #[arg(long, value_name = "FILE")]
    pub memory: Option<PathBuf>,
    /// Cache marks on the result: off, system-and-3, or auto (tools, system, handoff, rolling window). Marks that are
    /// there stay.
    #[arg(long, value_enum, default_value_t = CacheMarks::Off, value_name = "LAYOUT")]
    pub cache_marks: CacheMarks,
    /// How the agent that reads the result gets originals back: `command`, `tool` (foldline_recall of `foldline mcp`),
    /// `tool:NAME`, or `none`.
    #[arg(long, value_name = "WAY", default_value = "command")]
    pub recall: RecallBy,
    /// Print the handoff and what followed it, as text, instead of the conversation; implies --force. For agents that take a
    /// summary.
    #[arg(long, conflicts_with = "cache_marks")]
    pub handoff: bool,
    /// File for the JSON report; `-` is standard error.
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// File with session state, read if it exists and written afterwards.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Print the plan and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print nothing on standard error except problems.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `foldline inspect`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  foldline inspect session.json
  foldline inspect session.json --window 128000 --json | jq .by_tool")]
pub struct Inspect {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub tuning: Tuning,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `foldline validate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  foldline validate request.json
  foldline validate request.json --format anthropic --json")]
pub struct Validate {
    #[command(flatten)]
    pub source: Source,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `foldline redact`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl logs api | foldline redact > shareable.log
  foldline redact src/config.rs --mode code
  # what was found, masked; exit code 1 when there is something
  foldline redact .env --list
  foldline redact dump.txt --list --json
  # what is looked for: name, meaning, keywords, pattern
  foldline redact --rules")]
pub struct Redact {
    /// Text file; standard input if omitted or `-`.
    pub file: Option<PathBuf>,
    /// What kind of text it is.
    #[arg(long, value_enum, default_value_t = RedactMode::Text)]
    pub mode: RedactMode,
    /// List the findings, masked, with line and rule, instead of the text.
    #[arg(long, group = "lists")]
    pub list: bool,
    /// List the rules instead of reading a text.
    #[arg(long, group = "lists", conflicts_with_all = ["file", "output"])]
    pub rules: bool,
    /// The list as JSON.
    #[arg(long, requires = "lists")]
    pub json: bool,
    /// Output file; standard output if omitted.
    #[arg(short, long, value_name = "FILE", conflicts_with = "list")]
    pub output: Option<PathBuf>,
}

/// Kinds of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RedactMode {
    /// Output, logs, configuration, prose: a value with a secret name counts as a secret.
    Text,
    /// Source code: constants and fixtures are kept.
    Code,
}

/// `foldline doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  foldline doctor
  foldline doctor --model claude-sonnet-4-5 --set summarizer.url=http://127.0.0.1:8080 --json
  foldline doctor --upstream https://api.openai.com/v1")]
pub struct Doctor {
    #[command(flatten)]
    pub tuning: Tuning,
    /// Provider that should be reachable; repeatable.
    #[arg(long, value_name = "URL")]
    pub upstream: Vec<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// `foldline config`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  foldline config show --preset runway
  foldline config init
  foldline config check foldline.yaml
  foldline config schema > foldline.schema.json")]
pub enum Config {
    /// The settings in effect, and where each comes from.
    Show {
        #[command(flatten)]
        tuning: Tuning,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// What is wrong with a settings file, or with the settings in effect.
    Check {
        /// The settings file; all sources together when left out.
        file: Option<PathBuf>,
    },
    /// The JSON Schema of settings files.
    Schema,
    /// Write a settings file with all keys, their defaults and meanings as comments.
    Init {
        /// The file, which must not exist yet; `-` is standard output. [default: foldline.yaml]
        file: Option<PathBuf>,
        /// The file of the user, which is read in every directory without a foldline.yaml.
        #[arg(long, conflicts_with = "file")]
        user: bool,
    },
}

/// `foldline serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # loopback, port 8787, OpenAI, Anthropic and Gemini
  foldline serve
  # a server of your own
  foldline serve --upstream-openai http://127.0.0.1:8080
  foldline serve --preset runway --listen 127.0.0.1:9000
  foldline serve --config foldline.yaml --log-format json

Then point an agent at it:
  export ANTHROPIC_BASE_URL=http://127.0.0.1:8787
  export OPENAI_BASE_URL=http://127.0.0.1:8787/v1
  export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787

The settings file is read again when it changes. SIGTERM and Ctrl-C let open requests finish.")]
pub struct Serve {
    #[command(flatten)]
    pub tuning: Tuning,
    /// Address to listen on; addresses other than loopback require gateway.client_keys or gateway.require_key.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    #[command(flatten)]
    pub upstreams: crate::command::serve::Upstreams,
    /// How much is logged. Logs never contain content.
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LogLevel::Info)]
    pub log: LogLevel,
    /// How log lines look.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What is broken.
    Error,
    /// What went wrong and was made good.
    Warn,
    /// What was done.
    Info,
    /// Every request.
    Debug,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// Calls `check` with every command's help text behind its options.
    fn each_epilogue(command: &clap::Command, check: &mut dyn FnMut(&str, &str)) {
        if let Some(text) = command.get_after_help() {
            check(command.get_name(), &text.to_string());
        }
        command.get_subcommands().for_each(|command| each_epilogue(command, check));
    }

    #[test]
    fn help_can_be_read_in_a_narrow_terminal() {
        let mut seen = 0;
        each_epilogue(&Cli::command(), &mut |name, text| {
            seen += 1;
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
                assert!(!is_prose(pair[0]) || !is_prose(pair[1]), "{name}: clap breaks lines, not we: {pair:?}");
            }
            for line in lines {
                assert!(!line.trim_start().contains("    "), "{name}: a column beside an example breaks: {line}");
            }
        });
        assert!(seen > 10);
    }

    #[test]
    fn tokens_are_read_as_settings_are() {
        assert_eq!(tokens("12k"), Ok(12_000));
        assert_eq!(tokens("1.5M"), Ok(1_500_000));
        assert_eq!(tokens("12000"), Ok(12_000));
        for wrong in ["", "0", "k", "-1", "1.5", "12kk"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }
}
