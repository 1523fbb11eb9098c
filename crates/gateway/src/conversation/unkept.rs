//! Folds that were used although the store could not keep them. They are written once it can: until then a restart, or
//! another node, would send something else.

use super::checkpoint::Checkpoint;
use super::incoming::{CredentialId, Dialect, SessionId};
use super::shared::{FoldRecord, Rules, Shared};
use foldline_store::{Kept, Key, Precedence};
use std::sync::Arc;

/// Folds that wait; beyond them the oldest are lost, as all were before.
const MOST: usize = 256;

/// A fold that is in memory only.
#[derive(Clone, Debug)]
pub(super) struct UnkeptFold {
    pub(super) credential: CredentialId,
    pub(super) session: SessionId,
    pub(super) dialect: Dialect,
    pub(super) root: Key,
    pub(super) checkpoint: Arc<Checkpoint>,
    /// Its record in the store.
    pub(super) record: String,
}

/// Those that wait, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct UnkeptFolds(Vec<UnkeptFold>);

impl UnkeptFolds {
    pub(super) fn add(&mut self, fold: UnkeptFold) {
        self.remove(&fold.checkpoint.key);
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(fold);
    }

    pub(super) fn remove(&mut self, key: &Key) {
        self.0.retain(|fold| fold.checkpoint.key != *key);
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Checkpoint>> {
        self.0.iter().map(|fold| &fold.checkpoint).find(|checkpoint| checkpoint.key == *key)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn under(&self, root: Option<&Key>) -> Vec<UnkeptFold> {
        self.0.iter().filter(|fold| root.is_none_or(|root| fold.root == *root)).cloned().collect()
    }
}

/// Writes what waits, of one conversation or of all. What cannot be written goes on waiting.
pub(super) fn keep(shared: &Shared, rules: &Rules, root: Option<&Key>, now: i64) {
    let waiting = shared.memory().unkept.under(root);
    let Some(store) = shared.store_for(rules).filter(|_| !waiting.is_empty() && !shared.store_rests(now)) else {
        return;
    };
    for fold in waiting {
        let _alone = shared.sharing(&fold.session);
        let Some(session) = shared.memory().session_to_share(&fold.session) else {
            shared.memory().unkept.remove(&fold.checkpoint.key);
            continue;
        };
        let record = FoldRecord {
            credential: fold.credential,
            root: fold.root,
            checkpoint: &fold.checkpoint,
            record: &fold.record,
            originals: &[],
            // What another node wrote meanwhile may be in use there.
            precedence: Precedence::First,
            session: &session,
        };
        let written = shared.write_fold(store, &record, now).and_then(|kept| match kept {
            Kept::Written => Ok((kept, None)),
            Kept::Known => Ok((kept, shared.stored_checkpoint(store, &record, fold.dialect, now)?)),
        });
        let Ok((kept, other)) = written else {
            shared.let_rest(now);
            return;
        };
        let mut memory = shared.memory();
        memory.unkept.remove(&fold.checkpoint.key);
        if kept == Kept::Written && store.is_shared() {
            memory.note_shared(&session, None);
        }
        if let Some(other) = other {
            memory.admit_root(fold.root, vec![(other.key, other.facts)], rules.bounds());
            memory.admit_text(Arc::new(other), rules.bounds());
        }
    }
}
