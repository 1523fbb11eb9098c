//! Opens the store and stores originals.

use crate::args::Tuning;
use crate::command::settings;
use crate::failure::Failure;
use crate::store_keys::{self, StoreKeyError};
use foldline_core::Compaction;
use foldline_store::{Limits, NewOriginal, Opening, Store, StoreError, StoreSettings, default_path};
use std::path::PathBuf;

/// The word that switches keeping off.
const NONE: &str = "none";

/// The store's file; `None` when the settings switch it off or the user has no place for it.
pub fn path_of(store: &StoreSettings) -> Option<PathBuf> {
    match store.path.as_deref() {
        Some(NONE) => None,
        Some(path) => Some(PathBuf::from(path)),
        None => default_path(&|name| std::env::var(name).ok()),
    }
}

/// Why a store cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The store itself.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its keys.
    #[error(transparent)]
    Keys(#[from] StoreKeyError),
    /// None was named and there is no default.
    #[error(
        "no store: it is disabled in the settings, or neither XDG_DATA_HOME nor HOME is set; choose one with --store"
    )]
    NoStore,
}

impl From<KeepError> for Failure {
    fn from(error: KeepError) -> Failure {
        Failure::input(error)
    }
}

/// The store, if there is to be one.
pub fn open(settings: &StoreSettings) -> Result<Option<Store>, KeepError> {
    let Some(path) = path_of(settings) else { return Ok(None) };
    Ok(Some(Store::open(&path, opening(settings)?)?))
}

/// The store that is named, or that of the settings. Asking makes none where there is none.
pub fn open_existing(store: Option<&PathBuf>, config: Option<&PathBuf>) -> Result<Store, Failure> {
    let settings = settings(&Tuning { config: config.cloned(), ..Tuning::default() }, Vec::new())?;
    let path = store.cloned().or_else(|| path_of(&settings.store)).ok_or(KeepError::NoStore)?;
    let how = opening(&settings.store)?;
    Ok(Store::open_existing(&path, how).map_err(KeepError::from)?)
}

/// As [`open_existing`], but makes the store where there is none.
pub fn open_or_make(store: Option<&PathBuf>, config: Option<&PathBuf>) -> Result<Store, Failure> {
    let settings = settings(&Tuning { config: config.cloned(), ..Tuning::default() }, Vec::new())?;
    let path = store.cloned().or_else(|| path_of(&settings.store)).ok_or(KeepError::NoStore)?;
    let how = opening(&settings.store)?;
    Ok(Store::open(&path, how).map_err(KeepError::from)?)
}

/// How the store is opened: how much it keeps and for how long, and what it is encrypted with.
pub fn opening(store: &StoreSettings) -> Result<Opening, KeepError> {
    let limits = Limits::of(store.max_bytes, store.max_age_days);
    Ok(Opening { limits, keys: store_keys::keys(store)?, originals: store.objects() })
}

/// Stores what a compaction removed; when it returns, every handle can be recalled.
pub fn keep(store: &Store, done: &Compaction<'_>) -> Result<(), StoreError> {
    let texts: Vec<_> = done.plan.originals.iter().map(|original| (original, original.text(&done.source))).collect();
    let originals: Vec<NewOriginal<'_>> = texts
        .iter()
        .map(|(original, text)| NewOriginal { handle: original.handle, text, tool: &original.tool })
        .collect();
    store.put(now_ms(), "", &originals).map(drop)
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// The day in Greenwich, as `YYYY-MM-DD`.
pub fn today() -> String {
    let now = jiff::Timestamp::now().to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}
