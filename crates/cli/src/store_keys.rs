//! The keys of the store: from a file, a command or the environment.
//!
//! A command stands for the keyring of the system: every system has a program that asks its own (`secret-tool`, `security`,
//! `pass`), while a library for all of them would bring a message bus and a runtime of its own.

use foldline_store::{KeyError, Keyring, StoreSettings};
use std::path::Path;
use std::process::{Command, Stdio};
use zeroize::Zeroizing;

/// The variable that holds the keys where nothing else is set.
pub const VARIABLE: &str = "FOLDLINE_STORE_KEY";

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum StoreKeyError {
    /// Two places.
    #[error("store.key_file and store.key_command are both set; set one of them")]
    Both,
    /// The file cannot be read.
    #[error("store.key_file: cannot read {path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// Others can read the file.
    #[error("store.key_file: {path} is accessible to other users (mode {mode:o}); run chmod 600 on it")]
    Exposed {
        /// The file.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// The command failed.
    #[error("store.key_command: `{command}` {problem}")]
    Command {
        /// As it is set.
        command: String,
        /// What is the matter.
        problem: String,
    },
    /// What was found is no key.
    #[error("{place}: {error}")]
    Key {
        /// Where it comes from.
        place: String,
        /// What is wrong.
        error: KeyError,
    },
}

/// The keys that the settings name; none when they name none.
pub fn keys(settings: &StoreSettings) -> Result<Keyring, StoreKeyError> {
    let (place, text) = match (settings.key_file.as_deref(), settings.key_command.as_deref()) {
        (Some(_), Some(_)) => return Err(StoreKeyError::Both),
        (Some(path), None) => (format!("store.key_file: {path}"), read(Path::new(path))?),
        (None, Some(command)) => (format!("store.key_command: `{command}`"), ask(command)?),
        (None, None) => match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => (VARIABLE.to_owned(), Zeroizing::new(text)),
            _ => return Ok(Keyring::none()),
        },
    };
    Keyring::parse(&text).map_err(|error| StoreKeyError::Key { place, error })
}

/// Reads a key file that nobody else can read. Its group may: that is how secrets are handed to containers.
pub fn read(path: &Path) -> Result<Zeroizing<String>, StoreKeyError> {
    let name = || path.display().to_string();
    let unreadable = |error| StoreKeyError::Unreadable { path: name(), error };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        const OTHERS: u32 = 0o037;
        let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode() & 0o777;
        if mode & OTHERS != 0 {
            return Err(StoreKeyError::Exposed { path: name(), mode });
        }
    }
    std::fs::read_to_string(path).map(Zeroizing::new).map_err(unreadable)
}

/// What a command prints. It may ask the user: the terminal is its own.
fn ask(command: &str) -> Result<Zeroizing<String>, StoreKeyError> {
    let fail = |problem: String| StoreKeyError::Command { command: command.to_owned(), problem };
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let ran = Command::new(shell).args([flag, command]).stdout(Stdio::piped()).stderr(Stdio::inherit()).output();
    let ran = ran.map_err(|error| fail(format!("cannot be run: {error}")))?;
    let out = Zeroizing::new(ran.stdout);
    if !ran.status.success() {
        return Err(fail(format!("failed ({})", ran.status)));
    }
    std::str::from_utf8(&out).map(|text| Zeroizing::new(text.to_owned())).map_err(|_| fail("prints nothing".to_owned()))
}
