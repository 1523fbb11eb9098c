//! Checks that every handle in a result can be recalled byte for byte from a store.

use crate::failure::Failure;
use crate::keep;
use foldline_core::Compaction;
use foldline_store::{Limits, Recall, Store};
use foldline_transcript::recall::Handle;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Where originals go during a run.
pub struct Keep {
    store: Option<Store>,
    /// Dropped after the store: its files are in there.
    _folder: Option<tempfile::TempDir>,
}

/// What a check of handles found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Handles {
    /// Handles that stood in results.
    pub checked: u64,
    /// Those that did not lead back to their original, and how.
    pub wrong: Vec<String>,
}

impl Handles {
    /// Adds what another check found.
    pub fn add(&mut self, other: Handles) {
        self.checked += other.checked;
        self.wrong.extend(other.wrong);
    }
}

impl Keep {
    /// The store that the user names, none, or one that is gone after the run.
    pub fn open(place: Option<&str>) -> Result<Keep, Failure> {
        let fail = |error: &dyn std::fmt::Display| Failure::input(format!("cannot store originals: {error}"));
        let open = |path: &Path| Store::open(path, Limits::default()).map(Some).map_err(|error| fail(&error));
        match place {
            Some("none") => Ok(Keep { store: None, _folder: None }),
            Some(path) => Ok(Keep { store: open(Path::new(path))?, _folder: None }),
            None => {
                let folder = tempfile::tempdir().map_err(|error| fail(&error))?;
                Ok(Keep { store: open(&folder.path().join("originals.db"))?, _folder: Some(folder) })
            }
        }
    }

    /// Whether originals are kept at all.
    pub fn is_on(&self) -> bool {
        self.store.is_some()
    }

    /// Stores what a compaction removed, then recalls every handle that its result shows.
    pub fn check(&self, name: &str, done: &Compaction<'_>) -> Handles {
        let mut found = Handles::default();
        let Some(store) = &self.store else {
            return found;
        };
        if let Err(error) = keep::keep(store, done) {
            found.wrong.push(format!("{name}: originals cannot be stored: {error}"));
            return found;
        }
        let known = shown(&done.source);
        for handle in shown(&done.body).difference(&known) {
            found.checked += 1;
            if let Err(why) = recall(store, *handle, done) {
                found.wrong.push(format!("{name}: {handle} {why}"));
            }
        }
        found
    }
}

fn recall(store: &Store, handle: Handle, done: &Compaction<'_>) -> Result<(), String> {
    let planned = done.plan.originals.iter().find(|original| original.handle == handle);
    let planned = planned.ok_or("is in the result, but no original has it")?;
    match store.get(keep::now_ms(), "", handle) {
        Ok(Recall::Found(kept)) if kept.text == planned.text(&done.source) => Ok(()),
        Ok(Recall::Found(_)) => Err("returns a different text".to_owned()),
        Ok(other) => Err(format!("cannot be recalled: {other:?}")),
        Err(error) => Err(format!("cannot be recalled: {error}")),
    }
}

/// The handles that stand in a text.
fn shown(text: &str) -> BTreeSet<Handle> {
    let length = Handle::of("").to_string().len();
    text.match_indices(Handle::PREFIX).filter_map(|(at, _)| Handle::parse(text.get(at..at + length)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_found_wherever_they_stand() {
        let (one, two) = (Handle::of("one"), Handle::of("two"));
        let text = format!("[was x · {one}] and \"{two}\" but fl-nothing and fl-12");
        assert_eq!(shown(&text), BTreeSet::from([one, two]));
    }
}
