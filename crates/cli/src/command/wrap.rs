//! `foldline wrap`: an agent with a gateway of its own, for one run.

use super::serve::{self, Upstreams};
use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::output;
use foldline_gateway::conversation::Totals;
use foldline_reduce::wording::{counted, grouped};
use serde_json::json;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// Run an agent with a gateway of its own, and say at the end what was saved
///
/// The gateway listens on a free port of this machine as long as the agent runs. The agent finds it by the variables that
/// agents read (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL); what these said before is where requests go.
/// Terminal, signals and exit code are the agent's.
#[derive(Debug, clap::Args)]
#[command(
    trailing_var_arg = true,
    after_help = "Examples:
  foldline wrap claude
  foldline wrap codex exec \"Fix the failing test\"
  foldline wrap --upstream-openai http://127.0.0.1:8080 -- opencode run \"Tidy up\"

Exit codes: those of the agent; 2 when it cannot be started."
)]
pub struct WrapArgs {
    #[command(flatten)]
    pub tuning: Tuning,
    #[command(flatten)]
    pub upstreams: Upstreams,
    /// Say nothing at the end
    #[arg(short, long)]
    pub quiet: bool,
    /// The agent and its arguments
    #[arg(required = true, value_name = "CMD", allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Variables by which agents find their provider, and what they have behind the address.
const VARIABLES: [(&str, &str); 4] = [
    ("ANTHROPIC_BASE_URL", ""),
    ("OPENAI_BASE_URL", "/v1"),
    ("OPENAI_API_BASE", "/v1"),
    ("GOOGLE_GEMINI_BASE_URL", ""),
];

/// The exit code of a process that a signal ended, as shells have it.
const BY_SIGNAL: i32 = 128;

/// Runs the command.
pub fn run(args: &WrapArgs) -> Result<Verdict, Failure> {
    let upstreams = inherited(&args.upstreams);
    let mut flags = serve::upstream_flags(&upstreams);
    flags.push(serve::flag("--listen", "gateway.listen", "127.0.0.1:0"));
    let settings = super::settings(&args.tuning, flags)?;
    let plan = serve::config(&settings)?;
    foldline_gateway::serve::log_places_of_panics();
    let runtime = serve::runtime().map_err(|error| Failure::input(format!("no threads can be had: {error}")))?;
    let (gateway, listener, address) = runtime.block_on(serve::start(&plan))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = runtime.spawn(foldline_gateway::serve::serve(gateway.clone(), listener, async {
        let _ = stopped.await;
    }));
    let ended = runtime.block_on(supervise(args, address));
    drop(stop);
    if ended.is_ok() {
        let _ended = runtime.block_on(serving);
    }
    let totals = gateway.totals();
    runtime.shutdown_background();
    let status = ended?;
    if !args.quiet {
        output::tell(&told(&totals));
    }
    Ok(Verdict::Exit(code_of(status)))
}

/// Starts the agent and waits for its end.
async fn supervise(args: &WrapArgs, address: SocketAddr) -> Result<ExitStatus, Failure> {
    let Some((program, rest)) = args.command.split_first() else {
        return Err(Failure::input("no command is given"));
    };
    let base = format!("http://{address}");
    let mut command = Command::new(program);
    command.args(address_arguments(program, &base)).args(rest);
    for (name, behind) in VARIABLES {
        command.env(name, format!("{base}{behind}"));
    }
    command.env("FOLDLINE_GATEWAY", &base);
    if is_program(program, "opencode") && std::env::var_os("OPENCODE_CONFIG_CONTENT").is_none() {
        command.env("OPENCODE_CONFIG_CONTENT", opencode_settings(&base));
    }
    // Listened to before the agent starts: none may end us alone.
    let signals = Signals::new().map_err(|error| Failure::input(format!("signals cannot be received: {error}")))?;
    let child = command.spawn();
    let child = child.map_err(|error| Failure::input(format!("cannot start {}: {error}", program.display())))?;
    signals.pass_to(child).await.map_err(|error| Failure::input(format!("the agent cannot be waited for: {error}")))
}

/// Arguments for agents that take the address by no variable.
fn address_arguments(program: &OsString, base: &str) -> Vec<String> {
    match is_program(program, "codex") {
        true => vec!["-c".to_owned(), format!("openai_base_url=\"{base}/v1\"")],
        false => Vec::new(),
    }
}

/// The settings that opencode takes from its environment.
fn opencode_settings(base: &str) -> String {
    let at = |version: &str| json!({ "options": { "baseURL": format!("{base}/{version}") } });
    json!({ "provider": { "anthropic": at("v1"), "openai": at("v1"), "google": at("v1beta") } }).to_string()
}

fn is_program(program: &OsString, name: &str) -> bool {
    Path::new(program).file_stem().is_some_and(|stem| stem == name)
}

/// Where requests go: what is said here, else what the environment said before us.
fn inherited(upstreams: &Upstreams) -> Upstreams {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Upstreams {
        upstream_openai: upstreams.upstream_openai.clone().or_else(|| var("OPENAI_BASE_URL")),
        upstream_anthropic: upstreams.upstream_anthropic.clone().or_else(|| var("ANTHROPIC_BASE_URL")),
        upstream_gemini: upstreams.upstream_gemini.clone().or_else(|| var("GOOGLE_GEMINI_BASE_URL")),
    }
}

/// Signals that are the agent's.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
    quit: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for the agent. What the terminal sends reaches it by itself; what is sent to us alone is passed on.
    async fn pass_to(mut self, mut child: Child) -> std::io::Result<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process};
        let agent = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let mut ended = tokio::task::spawn_blocking(move || child.wait());
        loop {
            let signal = tokio::select! {
                ended = &mut ended => return ended.unwrap_or_else(|error| Err(std::io::Error::other(error))),
                _ = self.interrupt.recv() => None,
                _ = self.quit.recv() => None,
                _ = self.terminate.recv() => Some(Signal::TERM),
                _ = self.hang_up.recv() => Some(Signal::HUP),
            };
            if let (Some(signal), Some(agent)) = (signal, agent) {
                // It may have ended meanwhile.
                let _gone = kill_process(agent, signal);
            }
        }
    }
}

fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(BY_SIGNAL + status.signal()?)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

/// What was saved, for people.
fn told(totals: &Totals) -> String {
    let sums = &totals.sums;
    if sums.requests == 0 {
        return "foldline: no request of the agent came through the gateway\n".to_owned();
    }
    let saved = sums.tokens_before.saturating_sub(sums.tokens_after);
    let share = (saved * 100).checked_div(sums.tokens_before).unwrap_or_default();
    let money = match sums.uncompacted > sums.charged + sums.summaries {
        true => format!("; ${:.2} instead of ${:.2}", sums.charged + sums.summaries, sums.uncompacted),
        false => String::new(),
    };
    format!(
        "foldline: {}, {}, {}; {} of {} tokens saved ({share} %){money}\n",
        counted(sums.requests, "request"),
        counted(sums.folds, "fold"),
        counted(sums.prunes, "prune"),
        grouped(saved),
        grouped(sums.tokens_before)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_said_for_people() {
        let mut totals = Totals::default();
        assert_eq!(told(&totals), "foldline: no request of the agent came through the gateway\n");
        totals.sums.requests = 1;
        totals.sums.prunes = 2;
        totals.sums.tokens_before = 172_619;
        totals.sums.tokens_after = 32_264;
        assert_eq!(told(&totals), "foldline: 1 request, 0 folds, 2 prunes; 140,355 of 172,619 tokens saved (81 %)\n");
    }
}
