//! `foldline` alone: what to do next, with what is on this machine.

use super::setup::status;
use crate::failure::{Failure, Verdict};
use crate::output;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Prints it.
pub fn run() -> Result<Verdict, Failure> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let claude = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let claude = claude.or_else(|| home.map(|home| home.join(".claude")));
    let session = claude.and_then(|folder| newest_session(&folder.join("projects")));
    let clients = status::found(&[]);
    let ready = clients.iter().find(|client| client.gateway.is_some()).map(|client| client.name);
    let client = ready.or_else(|| clients.first().map(|client| client.name));
    output::print(&page(session.as_deref(), client, ready))?;
    Ok(Verdict::Fine)
}

fn page(session: Option<&Path>, client: Option<&str>, ready: Option<&str>) -> String {
    let (about, file) = match session {
        Some(path) => ("Look at your newest Claude Code session:", quoted(path)),
        None => ("Look at a conversation (a request body, or a session file of an agent):", "FILE".to_owned()),
    };
    let client = client.unwrap_or("claude");
    let keep = match ready {
        Some(ready) => format!("{ready} is set up for the gateway; start it, if it does not run:\n  foldline serve\n"),
        None => format!("Set it up for good (--undo takes it back):\n  foldline setup {client}\n  foldline serve\n"),
    };
    format!(
        "Foldline keeps long-running LLM agents inside their context window without losing the work.\n\n\
         {about}\n  foldline inspect {file}\n  foldline compress {file} -o smaller.json\n\n\
         Run an agent behind it once:\n  foldline wrap {client}\n\n\
         {keep}\n\
         More:\n  foldline doctor\n  foldline help\n  foldline help presets\n"
    )
}

/// The session file that was written last.
fn newest_session(projects: &Path) -> Option<PathBuf> {
    let folders = std::fs::read_dir(projects).ok()?.flatten();
    let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flat_map(Iterator::flatten);
    let sessions = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "jsonl"));
    let dated = sessions.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())));
    dated.max_by_key(|(written, _): &(SystemTime, PathBuf)| *written).map(|(_, path)| path)
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~'));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
