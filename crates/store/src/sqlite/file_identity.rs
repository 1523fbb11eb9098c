//! Detects that the store's file was deleted or replaced while open: writes to it would be lost.

use super::connection::log_of;
use std::path::Path;

/// The files of a store that is open.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    file: FileIdentity,
    log: FileIdentity,
}

impl OpenFiles {
    /// What stands there.
    pub(crate) fn at(place: &Path) -> OpenFiles {
        OpenFiles { file: FileIdentity::at(place), log: FileIdentity::at(&log_of(place)) }
    }

    /// Whether the file is still the one that was opened.
    pub(crate) fn is_there(&self, place: &Path) -> bool {
        self.file != FileIdentity::Absent && self.file == FileIdentity::at(place)
    }

    /// Removes the log that a file left behind: SQLite would take it for that of whatever stands there next.
    pub(crate) fn remove_log(self, place: &Path) {
        let log = log_of(place);
        if self.log != FileIdentity::Absent && self.log == FileIdentity::at(&log) {
            // One that cannot be removed shows at the next step, as a store that cannot be opened.
            let _left = std::fs::remove_file(log);
        }
    }
}

/// A file as the system knows it, whatever it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FileIdentity {
    /// Nobody has looked, or there is none.
    #[default]
    Absent,
    /// This one.
    File {
        /// The file system.
        device: u64,
        /// The number in it.
        number: u64,
    },
}

impl FileIdentity {
    /// What stands there.
    #[cfg(unix)]
    fn at(place: &Path) -> FileIdentity {
        use std::os::unix::fs::MetadataExt;
        match place.metadata() {
            Ok(file) => FileIdentity::File { device: file.dev(), number: file.ino() },
            Err(_) => FileIdentity::Absent,
        }
    }

    /// Where files have no numbers, an open one cannot be deleted either.
    #[cfg(not(unix))]
    fn at(_: &Path) -> FileIdentity {
        FileIdentity::File { device: 0, number: 0 }
    }
}
