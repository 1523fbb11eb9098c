//! Opening the file: who may read it, how writers wait, and when a write counts as done.

use crate::error::Fault;
use crate::folders::{create_folder, sync_folder};
use crate::keys::Keyring;
use crate::opening::Absent;
use crate::seal::Vault;
use crate::sqlite::migrate::{format, migrate};
use crate::sqlite::seals;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The write-ahead log is cut back to this after a large put.
const LOG_BYTES: i64 = 16 << 20;

/// Statements that a connection keeps prepared: more than all that are used again and again.
const STATEMENTS: usize = 64;

/// How often the switch to the write-ahead log is tried again while others do the same.
const STEP: Duration = Duration::from_millis(20);

/// A file that is open for writing and once more for reading, and the keys to it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) writer: Connection,
    pub(crate) reader: Connection,
    pub(crate) vault: Vault,
}

/// Opens the file for writing and once more for reading.
pub(crate) fn open(place: &Path, wait: Duration, absent: Absent, keys: &Keyring) -> Result<Opened, Fault> {
    match absent {
        Absent::Create => create(place).map_err(Fault::Denied)?,
        Absent::Refuse if !place.exists() => return Err(Fault::Missing),
        Absent::Refuse => {}
    }
    guard(place)?;
    let mut writer = connect(place)?;
    writer.busy_timeout(wait)?;
    // First of all: a file that is not ours is left as it is.
    if format(&writer)? == 0 {
        // Takes effect while the file is empty, and would be a write and a sync at every later opening: lets a prune give
        // pages back without rewriting the file.
        writer.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    log_ahead(&writer, wait)?;
    // FULL syncs the log at each commit; NORMAL would leave that to the next checkpoint.
    writer.pragma_update(None, "synchronous", "FULL")?;
    writer.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    prepare(&writer, wait)?;
    migrate(&mut writer)?;
    let vault = seals::enter(&mut writer, keys)?;
    let reader = open_reader(place, wait)?;
    Ok(Opened { writer, reader, vault })
}

/// Finds the numbers of other keys in a file that is open.
pub(crate) fn enter(writer: &Mutex<Connection>, keys: &Keyring) -> Result<Vault, Fault> {
    seals::enter(&mut lock(writer), keys)
}

/// What every connection that writes needs.
fn prepare(writer: &Connection, wait: Duration) -> rusqlite::Result<()> {
    writer.pragma_update(None, "foreign_keys", true)?;
    // What is deleted is overwritten: it must not be found in free room of the file later.
    writer.pragma_update(None, "secure_delete", true)?;
    writer.busy_timeout(wait)
}

/// Opens a file that is open already once more, for long work in many small steps: others write in between.
pub(crate) fn open_worker(place: &Path, wait: Duration) -> Result<Connection, Fault> {
    let worker = connect(place)?;
    prepare(&worker, wait)?;
    Ok(worker)
}

/// Writes something that changes nothing: whether the store can be written is known by writing only.
pub(crate) fn probe(writer: &Mutex<Connection>) -> Result<(), Fault> {
    let mut writer = lock(writer);
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("UPDATE totals SET originals = originals", [])?;
    transaction.commit()?;
    Ok(())
}

/// Sees to it that nobody else reads the file or replaces it. One that others can read, which happens when it is copied,
/// is taken from them.
#[cfg(unix)]
fn guard(place: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    const WRITTEN_BY_ALL: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let found = place.symlink_metadata().map_err(Fault::Denied)?;
    if found.is_symlink() {
        return Err(Fault::Link);
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = folder.metadata().map_err(Fault::Denied)?.permissions().mode() & 0o7777;
    if mode & WRITTEN_BY_ALL != 0 && mode & STICKY == 0 {
        return Err(Fault::OpenFolder(mode));
    }
    for file in [place.to_owned(), log_of(place), beside(place, "-shm")] {
        let Ok(found) = file.symlink_metadata() else { continue };
        let mode = found.permissions().mode() & 0o7777;
        if mode & OTHERS != 0 {
            let own = std::fs::Permissions::from_mode(mode & !OTHERS);
            std::fs::set_permissions(&file, own).map_err(|_| Fault::Exposed(mode))?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn guard(_: &Path) -> Result<(), Fault> {
    Ok(())
}

/// Opens a file that is open already once more, for reading.
pub(crate) fn open_reader(place: &Path, wait: Duration) -> Result<Connection, Fault> {
    let reader = connect(place)?;
    reader.busy_timeout(wait)?;
    Ok(reader)
}

/// Bytes of the file and of its log.
pub(crate) fn file_bytes(place: &Path) -> u64 {
    [place, &log_of(place)].iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}

/// The write-ahead log of a file.
pub(crate) fn log_of(place: &Path) -> PathBuf {
    beside(place, "-wal")
}

/// A file that SQLite keeps beside another.
fn beside(place: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(place);
    name.push(end);
    PathBuf::from(name)
}

fn connect(place: &Path) -> rusqlite::Result<Connection> {
    // No URI: a path may hold `?` and `%`. Locking between threads is ours, by `Mutex`.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Makes an empty file, which is an empty database, so that nobody else can read it at any moment.
/// SQLite gives the log and the index beside it the same permissions.
fn create(place: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = create_folders(place)?;
    match options.open(place) {
        Ok(_) => made.iter().try_for_each(|folder| sync_folder(folder)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes the folders above a file. Returns those whose entries changed, the file's own among them. SQLite takes care of
/// the files it makes itself.
fn create_folders(place: &Path) -> io::Result<Vec<PathBuf>> {
    match place.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => create_folder(folder),
        None => Ok(Vec::new()),
    }
}

/// Readers go on while somebody writes, and a commit is one sync. The switch happens once in the life of
/// a file; SQLite does not wait when several processes try it at the same time, so we do.
fn log_ahead(connection: &Connection, wait: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(STEP)?;
    let mut waited = Duration::ZERO;
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < wait => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            result => return result,
        }
    }
}

/// A connection. A panic in another thread rolled its transaction back, so the connection is sound.
pub(crate) fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}
