//! Keeping originals: where the store is, and what happens when it cannot be had.

use foldline_core::{Compaction, Policy};
use foldline_store::{Limits, NewOriginal, Store, StoreError, default_path};
use std::path::PathBuf;

/// The word that switches keeping off.
const NONE: &str = "none";

/// The store's file; `None` when the settings switch it off or the user has no place for it.
pub fn path_of(policy: &Policy) -> Option<PathBuf> {
    match policy.store.path.as_deref() {
        Some(NONE) => None,
        Some(path) => Some(PathBuf::from(path)),
        None => default_path(&|name| std::env::var(name).ok()),
    }
}

/// The store, if there is to be one.
pub fn open(policy: &Policy) -> Result<Option<Store>, StoreError> {
    path_of(policy).map(|path| Store::open(&path, limits(policy))).transpose()
}

/// How much the store keeps, and for how long.
pub fn limits(policy: &Policy) -> Limits {
    Limits::of(policy.store.max_bytes, policy.store.max_age_days)
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
