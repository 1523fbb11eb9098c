//! Writes results atomically, with colours only on a terminal.

use crate::failure::Failure;
use anstyle::Style;
use std::fs::File;
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
        let made = new_file(&part, Readers::Owner);
        made.and_then(|_| std::fs::remove_file(&part)).map_err(|error| unwritable(path, &error))
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

/// Writes a file whole, whatever is in it. One that was there keeps its permissions, also while it is written.
pub fn write_bytes(path: &Path, text: &[u8]) -> Result<(), Failure> {
    // A device or pipe has no beside.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text).map_err(|error| unwritable(path, &error));
    }
    let part = part_beside(path);
    let permissions = std::fs::metadata(path).ok().map(|known| known.permissions());
    let readers = if permissions.is_some() { Readers::Owner } else { Readers::Usual };
    let written = new_file(&part, readers)
        .and_then(|mut file| file.write_all(text))
        .and_then(|()| permissions.map_or(Ok(()), |permissions| std::fs::set_permissions(&part, permissions)))
        .and_then(|()| std::fs::rename(&part, path));
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

/// Who may read a file that is being written.
#[derive(Clone, Copy)]
enum Readers {
    Owner,
    /// As the user's mask says.
    Usual,
}

/// A file that was not there before: nothing that somebody put in its place is written through.
fn new_file(path: &Path, readers: Readers) -> std::io::Result<File> {
    let open = || {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if matches!(readers, Readers::Owner) {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = readers;
        options.open(path)
    };
    match open() {
        // Left behind by a process with the same number.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            open()
        }
        opened => opened,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        std::fs::write(&path, "old").unwrap();
        for mode in [0o600, 0o640] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            write_file(&path, "new").unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_link_in_the_place_of_the_part_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("out.json"), folder.path().join("other"));
        std::fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, part_beside(&path)).unwrap();
        check_writable(&path).unwrap();
        std::os::unix::fs::symlink(&other, part_beside(&path)).unwrap();
        write_file(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "precious");
        assert!(!path.is_symlink() && std::fs::read_to_string(&path).unwrap() == "new");
    }
}
