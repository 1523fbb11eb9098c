//! What a set-up changed, so that it can be undone byte for byte.

use super::client::{Change, Client};
use crate::output;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A file before and after a set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The file.
    pub path: PathBuf,
    /// What it said; none when there was no such file.
    pub before: Option<String>,
    /// What it says since.
    pub after: String,
}

/// The record of a client's set-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Journal {
    /// The files, each once.
    pub entries: Vec<Entry>,
    /// The gateway that the client was pointed at last.
    #[serde(default)]
    pub gateway: Option<String>,
    /// The command that it was given last for the tools.
    #[serde(default)]
    pub command: Option<String>,
}

/// Where the record of a client is.
pub fn place(folder: &Path, client: Client) -> PathBuf {
    folder.join("setup").join(format!("{}.json", client.name()))
}

impl Journal {
    /// Reads a record; an empty one where there is none.
    pub fn read(path: &Path) -> Result<Journal, String> {
        match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Journal::default()),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// Adds changes. A file that was changed before keeps what it said at first.
    pub fn add(&mut self, changes: &[Change]) {
        for Change { path, before, after } in changes {
            match self.entries.iter_mut().find(|entry| entry.path == *path) {
                // Somebody has changed it since: what it says now is what undoing gives back.
                Some(entry) if before.as_ref() != Some(&entry.after) => {
                    *entry = Entry { path: path.clone(), before: before.clone(), after: after.clone() };
                }
                Some(entry) => entry.after.clone_from(after),
                None => self.entries.push(Entry { path: path.clone(), before: before.clone(), after: after.clone() }),
            }
        }
    }

    /// Writes it, for its owner alone: settings may hold keys.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let told = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(told)?;
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        std::fs::write(path, "").map_err(told)?;
        owner_only(path).map_err(told)?;
        std::fs::write(path, text).map_err(told)
    }
}

#[cfg(unix)]
fn owner_only(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn owner_only(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Writes a file of a client in its place, through links, with the permissions that it had.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    let told = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    output::write_file(&target, text).map_err(|failure| failure.message)
}
