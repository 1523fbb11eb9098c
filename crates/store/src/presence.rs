//! Which file stands at the place of a store: an open file that was deleted or replaced can still be written, but
//! nobody will ever find what was written there.

use crate::sqlite::log_of;
use std::path::Path;

/// The files of a store that is open.
#[derive(Debug, Default)]
pub(crate) struct Files {
    file: Presence,
    log: Presence,
}

impl Files {
    /// What stands there.
    pub(crate) fn at(place: &Path) -> Files {
        Files { file: Presence::at(place), log: Presence::at(&log_of(place)) }
    }

    /// Whether the file is still the one that was opened.
    pub(crate) fn is_there(&self, place: &Path) -> bool {
        self.file != Presence::Absent && self.file == Presence::at(place)
    }

    /// Removes the log that a file left behind: SQLite would take it for that of whatever stands there next.
    pub(crate) fn remove_log(self, place: &Path) {
        let log = log_of(place);
        if self.log != Presence::Absent && self.log == Presence::at(&log) {
            // One that cannot be removed shows at the next step, as a store that cannot be opened.
            let _left = std::fs::remove_file(log);
        }
    }
}

/// A file as the system knows it, whatever it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
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

impl Presence {
    /// What stands there.
    #[cfg(unix)]
    fn at(place: &Path) -> Presence {
        use std::os::unix::fs::MetadataExt;
        match place.metadata() {
            Ok(file) => Presence::File { device: file.dev(), number: file.ino() },
            Err(_) => Presence::Absent,
        }
    }

    /// Where files have no numbers, an open one cannot be deleted either.
    #[cfg(not(unix))]
    fn at(_: &Path) -> Presence {
        Presence::File { device: 0, number: 0 }
    }
}
