//! Objects as files of a folder.

use super::bucket::{Bucket, CLOCK, Listed};
use crate::error::Fault;
use crate::folders::{create_folder, sync_folder};
use crate::object_name::{ObjectName, StoreId};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A folder of objects, made when the first one is written.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) folder: PathBuf,
    /// As it is shown.
    pub(super) place: String,
}

impl Files {
    fn path(&self, name: &ObjectName) -> PathBuf {
        self.folder.join(name.path())
    }

    fn fault(&self, error: &io::Error) -> Fault {
        let (place, why) = (self.place.clone(), error.to_string());
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Fault::ObjectsRefused { place, why },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::DiskFull,
            _ => Fault::Objects { place, why },
        }
    }

    /// Writes a file under its own name at once: nobody reads it before a row names it, and one that was cut off is swept
    /// like any other that no row names.
    fn write(&self, path: &Path, bytes: &[u8], folders: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        if let Some(folder) = path.parent().filter(|folder| !folders.contains(*folder)) {
            folders.extend(create_folder(folder)?);
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn list_folder(&self, store: &StoreId, first: u8) -> io::Result<Vec<Listed>> {
        let entries = match std::fs::read_dir(self.folder.join(store.shard(first))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_str().and_then(|file| ObjectName::of_file(store, first, file));
            let Some(name) = name else { continue };
            match entry.metadata().and_then(|found| written_at(&found)) {
                Ok(written_at) => listed.push(Listed { name, written_at }),
                // Somebody has just deleted it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }

    fn read_clock(&self, store: &StoreId) -> io::Result<i64> {
        let path = self.folder.join(store.folder()).join(CLOCK);
        // Something is written each time: a file that stays empty may keep its time.
        self.write(&path, b"\n", &mut BTreeSet::new())?;
        written_at(&path.metadata()?)
    }
}

impl Bucket for Files {
    fn put(&self, objects: Vec<(ObjectName, Vec<u8>)>) -> Result<(), Fault> {
        let mut folders = BTreeSet::new();
        let written = objects.iter().try_for_each(|(name, bytes)| self.write(&self.path(name), bytes, &mut folders));
        let synced = written.and_then(|()| folders.iter().try_for_each(|folder| sync_folder(folder)));
        synced.map_err(|error| self.fault(&error))
    }

    fn get(&self, names: &[ObjectName]) -> Result<Vec<Option<Vec<u8>>>, Fault> {
        let read = |name: &ObjectName| match std::fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.fault(&error)),
        };
        names.iter().map(read).collect()
    }

    fn delete(&self, names: &[ObjectName]) -> Result<(), Fault> {
        let mut folders = BTreeSet::new();
        for name in names {
            let path = self.path(name);
            match std::fs::remove_file(&path) {
                Ok(()) => folders.extend(path.parent().map(Path::to_owned)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.fault(&error)),
            }
        }
        folders.iter().try_for_each(|folder| sync_folder(folder)).map_err(|error| self.fault(&error))
    }

    fn list(&self, store: &StoreId, first: u8) -> Result<Vec<Listed>, Fault> {
        self.list_folder(store, first).map_err(|error| self.fault(&error))
    }

    fn clock(&self, store: &StoreId) -> Result<i64, Fault> {
        self.read_clock(store).map_err(|error| self.fault(&error))
    }
}

fn written_at(found: &std::fs::Metadata) -> io::Result<i64> {
    let since = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
