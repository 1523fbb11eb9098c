//! `foldline mcp`: the tools for agents, on standard input and output.

use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::{keep, output, store_keys};
use foldline_gateway::conversation::{ConversationSettings, Conversations, Whom};
use foldline_gateway::mcp::{Tools, serve_stdio};
use foldline_store::Keyring;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Serve recall, search, status and pin as tools for agents (MCP on standard input and output)
///
/// The tools see everything in the store: who starts the command may read the file. Agents behind a shared gateway use
/// `/foldline/mcp` of the gateway instead, which knows them by their key.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  claude mcp add foldline -- foldline mcp
  # Codex, in ~/.codex/config.toml
  [mcp_servers.foldline]
  command = \"foldline\"
  args = [\"mcp\"]")]
pub struct McpArgs {
    /// The store's file; the one of the settings when not given
    #[arg(long, value_name = "PATH")]
    pub store: Option<String>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs the command: until input ends.
pub fn run(args: &McpArgs) -> Result<Verdict, Failure> {
    if std::io::stdin().is_terminal() {
        output::tell(
            "foldline mcp: waiting for a client on standard input; clients start this command themselves, \
             `foldline setup CLIENT` tells them to\n",
        );
    }
    let tuning = Tuning { config: args.config.clone(), store: args.store.clone(), ..Tuning::default() };
    let settings = super::settings(&tuning, Vec::new())?;
    let store = keep::path_of(&settings.store);
    let keys =
        if store.is_some() { store_keys::keys(&settings.store).map_err(Failure::input)? } else { Keyring::none() };
    let limits = settings.store.limits();
    let originals = settings.store.objects();
    let settings = ConversationSettings { store, limits, keys, originals, ..ConversationSettings::default() };
    let conversations = Conversations::open_or_wait(settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::input(format!("no threads can be had: {error}")))?;
    let served = runtime.block_on(serve_stdio(Tools::new(conversations, Whom::Owner)));
    // A read of standard input cannot be interrupted, and must not keep the process.
    runtime.shutdown_background();
    served.map(|()| Verdict::Fine).map_err(Failure::input)
}
