//! The `foldline` command: parse, run, exit code.
#![forbid(unsafe_code)]

mod args;
mod batch;
mod command;
mod failure;
mod input;
mod keep;
mod output;
mod page;
mod progress;
mod reach;
mod settings;
mod store_keys;

use args::{Cli, Command};
use clap::Parser;
use failure::Verdict;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(page) = command::help::page_asked_for(std::env::args_os()) {
        return exit(output::print(&page).map(|()| Verdict::Fine));
    }
    let Some(command) = Cli::parse().command else {
        return exit(command::start::run());
    };
    exit(match command {
        Command::Compress(args) => command::compress::run(&args),
        Command::Inspect(args) => command::inspect::run(&args),
        Command::Validate(args) => command::validate::run(&args),
        Command::Reduce(args) => command::reduce::run(&args),
        Command::Hook(args) => command::hook::run(&args),
        Command::Recall(args) => command::recall::run(&args),
        Command::Search(args) => command::search::run(&args),
        Command::Forget(args) => command::forget::run(&args),
        Command::Undo(args) => command::undo::run(&args),
        Command::Store(args) => command::store::run(&args),
        Command::Keys(args) => command::keys::run(&args),
        Command::Eval(args) => command::eval::run(&args),
        Command::Replay(args) => command::replay::run(&args),
        Command::Export(args) => command::export::run(&args),
        Command::Redact(args) => command::redact::run(&args),
        Command::Doctor(args) => command::doctor::run(&args),
        Command::Config(args) => command::config::run(&args),
        Command::Mcp(args) => command::mcp::run(&args),
        Command::Setup(args) => command::setup::run(&args),
        Command::Wrap(args) => command::wrap::run(&args),
        Command::Serve(args) => command::serve::run(&args),
        Command::Completions(args) => command::completions::completions(&args),
        Command::Man(args) => command::completions::man(&args),
    })
}

fn exit(result: Result<Verdict, failure::Failure>) -> ExitCode {
    match result {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Found) => ExitCode::from(1),
        Ok(Verdict::Exit(code)) => ExitCode::from(code),
        Err(failure) => {
            // A command that told already leaves nothing to say.
            if !failure.message.is_empty() {
                output::tell(&format!("error: {}\n", failure.message));
            }
            ExitCode::from(failure.code)
        }
    }
}
