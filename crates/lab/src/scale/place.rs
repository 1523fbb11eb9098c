//! Where the stores are: in a folder that goes at the end, or in one that is kept and timed again without being filled.

use super::fill::{ADDED, Content, Filling};
use crate::Failure;
use foldline_script::postgres::Postgres;
use foldline_store::{Cursor, Limits, Store};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// In the folder of a store that has everything.
const MARK: &str = "filled";
/// The folder of what is needed for filling alone.
const PACKED: &str = "packed";
/// The database that every server has.
const DATABASE: &str = "postgres";
/// Bytes of texts that are added to the index of words at once.
const INDEX_BYTES: u64 = 64 << 20;

/// A folder with a folder for each store.
pub(super) struct Place {
    folder: PathBuf,
    content: Content,
    is_kept: bool,
}

/// A store with all its rows.
pub(super) struct Filled {
    pub(super) store: Store,
    /// Rows and index; none if it was filled earlier.
    pub(super) took: Option<[Duration; 2]>,
    /// Bytes on the disk.
    pub(super) bytes: u64,
    /// Ends after the store.
    _server: Option<Postgres>,
}

impl Place {
    pub(super) fn new(keep: Option<&Path>, content: Content) -> Result<Place, Failure> {
        let own = || std::env::temp_dir().join(format!("foldline-scale-{}", std::process::id()));
        let folder = keep.map_or_else(own, Path::to_owned);
        std::fs::create_dir_all(&folder)?;
        Ok(Place { folder, content, is_kept: keep.is_some() })
    }

    pub(super) fn sqlite(&self, tell: &impl Fn(&str)) -> Result<Filled, Failure> {
        let folder = self.folder_of("sqlite")?;
        let file = folder.join("store.db");
        let (store, took) = filled("SQLite", &file, &folder, tell, |store| {
            let packed = self.folder.join(PACKED);
            std::fs::create_dir_all(&packed)?;
            Filling::new(self.content, &packed)?.fill(store)
        })?;
        Ok(Filled { store, took, bytes: std::fs::metadata(&file)?.len(), _server: None })
    }

    /// The same rows. `None`, with a line that says so, where PostgreSQL is not installed.
    pub(super) fn postgres(&self, rows: &Store, tell: &impl Fn(&str)) -> Result<Option<Filled>, Failure> {
        let folder = self.folder_of("postgres")?;
        let Some(server) = Postgres::start_in(&folder)? else { return Ok(None) };
        let (store, took) = filled("PostgreSQL", &server.url(DATABASE), &folder, tell, |store| copy(rows, store))?;
        let bytes = server.answer(DATABASE, "SELECT pg_database_size(current_database())")?.parse()?;
        Ok(Some(Filled { store, took, bytes, _server: Some(server) }))
    }

    /// The folder of a store, which is empty unless the store has everything.
    fn folder_of(&self, store: &str) -> Result<PathBuf, Failure> {
        let folder = self.folder.join(format!("{store}-{}", self.content.count));
        if folder.exists() && !folder.join(MARK).exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

/// Opens a store, and fills it unless it has everything.
fn filled(
    name: &str,
    place: &Path,
    folder: &Path,
    tell: &impl Fn(&str),
    fill: impl FnOnce(&Store) -> Result<(), Failure>,
) -> Result<(Store, Option<[Duration; 2]>), Failure> {
    let store = Store::open(place, Limits { max_bytes: 1 << 40, ..Limits::default() })?;
    if folder.join(MARK).exists() {
        return Ok((store, None));
    }
    tell(&format!("{name} is filled"));
    let rows = Instant::now();
    fill(&store)?;
    let rows = rows.elapsed();
    tell(&format!("{name}: rows in {:.0} s; the index of words", rows.as_secs_f64()));
    let index = Instant::now();
    while store.index(INDEX_BYTES)? > 0 {}
    let took = [rows, index.elapsed()];
    // As a server that has run for a while: statistics are there, and nothing is left to be written.
    store.vacuum()?;
    std::fs::write(folder.join(MARK), "")?;
    Ok((store, Some(took)))
}

/// Adds all records of one store to another.
fn copy(from: &Store, to: &Store) -> Result<(), Failure> {
    let (mut cursor, mut batch) = (Cursor::default(), Vec::new());
    loop {
        let page = from.page(&mut cursor)?;
        let is_end = page.is_empty();
        batch.extend(page);
        if batch.len() >= ADDED || is_end {
            to.add(&batch)?;
            batch.clear();
        }
        if is_end {
            return Ok(());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let folder = if self.is_kept { self.folder.join(PACKED) } else { self.folder.clone() };
        let _left = std::fs::remove_dir_all(folder);
    }
}
