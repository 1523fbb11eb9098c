//! Folders that are for their owner only, and that outlive a crash.

use std::fs::{DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

/// Makes a folder and those above it. Returns those whose entries changed, and in any case its own.
pub(crate) fn create_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let changed = 1 + missing.count();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    Ok(folder.ancestors().take(changed).map(Path::to_owned).collect())
}

/// A file is as durable as the entry of its folder.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
