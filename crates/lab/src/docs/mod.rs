//! Writes the references under `docs/`: settings, metrics, report, command line. A test of the program fails when one of
//! them is not what this would write.

mod metrics;
mod types;

use crate::Failure;
use foldline_core::Policy;
use foldline_core::settings::{Section, Sections};
use foldline_gateway::settings::GatewaySettings;
use foldline_store::StoreSettings;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A page under `docs/`: its name and its text.
pub type Page = (&'static str, String);

/// All pages, from the sources at `root` and the help of a `foldline` binary.
pub fn pages(root: &Path, binary: &Path) -> Result<Vec<Page>, Failure> {
    Ok(vec![
        ("settings.md", settings()),
        ("metrics.md", metrics::page(root)?),
        ("report.md", types::page(root)?),
        ("cli.md", command_line(binary)?),
    ])
}

/// Writes the pages that differ; the names of those.
pub fn write(root: &Path, binary: &Path) -> Result<Vec<&'static str>, Failure> {
    let mut written = Vec::new();
    for (name, text) in stale(root, binary)? {
        std::fs::write(root.join("docs").join(name), text)?;
        written.push(name);
    }
    Ok(written)
}

/// The pages that are not what they should be.
pub fn stale(root: &Path, binary: &Path) -> Result<Vec<Page>, Failure> {
    let mut pages = pages(root, binary)?;
    pages.retain(|(name, text)| std::fs::read_to_string(root.join("docs").join(name)).ok().as_ref() != Some(text));
    Ok(pages)
}

/// What stands at the top of each page.
fn heading(title: &str) -> String {
    format!("<!-- Written by `lab docs`; do not edit. -->\n\n# {title}\n\n")
}

fn settings() -> String {
    let sections = Sections::new(Policy::TABLES.into_iter().chain([StoreSettings::TABLE, GatewaySettings::TABLE]));
    format!(
        "{}A settings file is YAML with these sections. `foldline.yaml` in the working directory is read, or the file that `--config` or \
         `FOLDLINE_CONFIG` names. Each key has a variable (`FOLDLINE_COMPRESSION_THRESHOLD` for `compression.threshold`, or \
         `FOLDLINE_THRESHOLD`) and a flag (`--set compression.threshold=0.6`, or `--set threshold=0.6`). Flags win over variables, \
         variables over the file, the file over the preset. `foldline config show` lists values and where they come from, \
         `foldline config schema` prints a JSON Schema. Numbers of tokens and bytes may be written `200k` or `1.5M`.\n\n{}",
        heading("Settings"),
        sections.markdown()
    )
}

/// The help of all commands, as a terminal of a hundred columns shows it.
fn command_line(binary: &Path) -> Result<String, Failure> {
    let mut out = heading("Command line");
    let top = help(binary, &[])?;
    let exit_codes = top.split_once("Exit codes:").map(|(_, codes)| codes.trim_end()).unwrap_or_default();
    write!(out, "## Exit codes\n\n")?;
    for line in exit_codes.lines().filter(|line| !line.trim().is_empty()) {
        let (code, meaning) = line.trim().split_once(' ').ok_or("an exit code without a meaning")?;
        writeln!(out, "- `{code}` {}", meaning.trim())?;
    }
    let mut commands = vec![Vec::new()];
    let mut next = 0;
    while let Some(command) = commands.get(next).cloned() {
        let text = help(binary, &command)?;
        let name = [&["foldline".to_owned()], command.as_slice()].concat().join(" ");
        write!(out, "\n## `{name}`\n\n```text\n{}\n```\n", text.trim_end())?;
        for sub in subcommands(&text) {
            commands.push([command.as_slice(), &[sub]].concat());
        }
        next += 1;
    }
    for topic in topics(&top) {
        let page = printed(binary, &["help".to_owned(), topic.to_owned()])?;
        write!(out, "\n## `foldline help {topic}`\n\n```text\n{}\n```\n", page.trim_end())?;
    }
    Ok(out)
}

/// The names under "Commands:" of a help text, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// The names under "Topics" of the program's help.
fn topics(help: &str) -> Vec<&str> {
    let list = help.split_once("\nTopics").and_then(|(_, list)| list.split_once('\n')).map_or("", |(_, list)| list);
    list.lines().map_while(|line| line.strip_prefix("  ")?.split_once(':')).map(|(name, _)| name).collect()
}

fn help(binary: &Path, command: &[String]) -> Result<String, Failure> {
    printed(binary, &[command, &["--help".to_owned()]].concat())
}

fn printed(binary: &Path, arguments: &[String]) -> Result<String, Failure> {
    let output = Command::new(binary).args(arguments).env_clear().env("COLUMNS", "100").output();
    let output = output.map_err(|error| format!("{}: {error}; build it first", binary.display()))?;
    let text = String::from_utf8(output.stdout)?;
    // Lines of nothing but blanks come from clap's lists of values.
    Ok(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}
