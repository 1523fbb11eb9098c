//! `foldline completions` and `foldline man`: what packages install beside the program.

use crate::args::Cli;
use crate::failure::{Failure, Verdict};
use crate::output;
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// Print the completions for a shell
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  foldline completions bash > ~/.local/share/bash-completion/completions/foldline
  foldline completions zsh > ~/.zfunc/_foldline
  foldline completions fish > ~/.config/fish/completions/foldline.fish
  foldline completions powershell >> $PROFILE

For zsh, ~/.zfunc has to be in fpath before compinit runs.")]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Write the manual pages of all commands into a folder
#[derive(Clone, Debug, clap::Args)]
pub struct ManArgs {
    /// The folder, made if it is not there
    pub folder: PathBuf,
}

/// Runs `completions`.
pub fn completions(args: &CompletionsArgs) -> Result<Verdict, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "foldline", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Verdict::Fine)
}

/// Runs `man`.
pub fn man(args: &ManArgs) -> Result<Verdict, Failure> {
    let fail = |path: &Path, error: std::io::Error| Failure::input(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(&args.folder).map_err(|error| fail(&args.folder, error))?;
    let mut command = Cli::command();
    // Before it knows its subcommands' whole names, pages would be called `key` for `store key`.
    command.build();
    let mut waiting = vec![command];
    while let Some(command) = waiting.pop() {
        // Packages have the help of a command on its own page.
        waiting.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help").cloned());
        let page = clap_mangen::Man::new(command);
        let path = args.folder.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text).map_err(|error| fail(&path, error))?;
        output::write_bytes(&path, &text)?;
    }
    Ok(Verdict::Fine)
}
