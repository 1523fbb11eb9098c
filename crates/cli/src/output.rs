//! Writes results atomically, with colours only on a terminal.

use crate::failure::Failure;
use anstyle::Style;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Whether the reader sees colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Text only.
    Plain,
    /// With escape codes for a terminal.
    Colour,
}

impl Paint {
    /// What standard output can show.
    pub fn of_stdout() -> Paint {
        Paint::of(std::io::stdout().is_terminal())
    }

    /// What standard error can show.
    pub fn of_stderr() -> Paint {
        Paint::of(std::io::stderr().is_terminal())
    }

    fn of(is_terminal: bool) -> Paint {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if is_terminal && !refused { Paint::Colour } else { Paint::Plain }
    }

    /// `text` in a style, where styles can be seen.
    pub fn paint(self, style: Style, text: &str) -> String {
        match self {
            Paint::Plain => text.to_owned(),
            Paint::Colour => format!("{style}{text}{style:#}"),
        }
    }
}

/// Writes to standard output. A reader that went away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error; nothing is to be done if that fails.
pub fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Fails now if a file could not be written later: work that takes long should not end in that.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    if path.is_file() || !path.exists() {
        let part = part_beside(path);
        std::fs::write(&part, "").and_then(|()| std::fs::remove_file(&part)).map_err(|error| unwritable(path, &error))
    } else if path.is_dir() {
        Err(unwritable(path, &std::io::ErrorKind::IsADirectory.into()))
    } else {
        Ok(())
    }
}

/// Writes a file whole: beside it first, then in its place, so that a failure leaves the old one.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file whole, whatever is in it.
pub fn write_bytes(path: &Path, text: &[u8]) -> Result<(), Failure> {
    // A device or pipe has no beside.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text).map_err(|error| unwritable(path, &error));
    }
    let part = part_beside(path);
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot write {}: {error}", path.display()))
}

fn part_beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}
