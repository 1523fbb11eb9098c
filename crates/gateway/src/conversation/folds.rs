//! Prunes and folds as people see them: which there were, and what one of them put in place of what.

use super::account::{Account, Told};
use super::ask::{CredentialId, Dialect, SessionId};
use super::memory::{Record, Session};
use super::shared::{MOST_UNDER_A_ROOT, Shared, name};
use foldline_store::{Key, StoreError};
use foldline_transcript::wire;

/// One prune or fold of a session, without content.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldView {
    /// Its name in addresses.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// `prune` or `fold`.
    pub kind: String,
    /// Why it was time, and what was done.
    pub reason: String,
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Whether somebody took it back.
    pub is_undone: bool,
    /// Whether it is the one that can be taken back.
    pub is_latest: bool,
}

/// One prune or fold with content.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldText {
    /// What is told about it without content.
    pub view: FoldView,
    /// Why, what was done part by part, what is held; none for one of an earlier release.
    pub account: Option<Account>,
    /// What stands in place of the messages: role and words of each.
    pub messages: Vec<(String, String)>,
}

/// Digits of a checkpoint's name that stand in addresses.
const ID_DIGITS: usize = 16;

/// Folds of a record, the latest first, with the root and the name of the checkpoint of each.
fn marks(record: &Record) -> Vec<(FoldView, String, String)> {
    let latest = record.latest_folded().and_then(|c| c.latest_fold()).map(|mark| mark.checkpoints.clone());
    let mut found: Vec<_> = record
        .conversations()
        .flat_map(|conversation| conversation.folds.iter().map(move |mark| (conversation.root(), mark)))
        .filter_map(|(root, mark)| {
            let checkpoint = mark.checkpoints.first()?.clone();
            let view = FoldView {
                id: checkpoint.chars().take(ID_DIGITS).collect(),
                at: mark.at,
                kind: mark.kind.clone(),
                reason: mark.reason.clone(),
                tokens: mark.tokens,
                is_undone: mark.is_undone,
                is_latest: latest.as_ref() == Some(&mark.checkpoints),
            };
            Some((view, root.to_owned(), checkpoint))
        })
        .collect();
    found.sort_by(|(one, ..), (two, ..)| two.at.cmp(&one.at));
    found
}

fn session(shared: &Shared, id: &SessionId) -> Result<Option<Session>, StoreError> {
    let held = shared.memory().sessions.get(id).cloned();
    match (held, shared.store()) {
        (Some(held), _) => Ok(Some(held)),
        (None, Some(store)) => Ok(store.session(id.as_str())?.map(|row| Session::of_row(&row))),
        (None, None) => Ok(None),
    }
}

/// The folds of a session, the latest first.
pub(super) fn list(shared: &Shared, id: &SessionId) -> Result<Vec<FoldView>, StoreError> {
    let session = session(shared, id)?;
    Ok(session.map(|session| marks(&session.record)).unwrap_or_default().into_iter().map(|(view, ..)| view).collect())
}

/// One fold with what it put in place of the messages.
pub(super) fn one(
    shared: &Shared,
    credential: &CredentialId,
    id: &SessionId,
    fold: &str,
) -> Result<Option<FoldText>, StoreError> {
    let namespace = credential.namespace();
    let Some(session) = session(shared, id)?.filter(|session| session.namespace == namespace) else {
        return Ok(None);
    };
    let Some((view, root, checkpoint)) = marks(&session.record).into_iter().find(|(view, ..)| view.id == fold) else {
        return Ok(None);
    };
    let (Some(store), Some(root)) = (shared.store(), key(&root)) else { return Ok(None) };
    let entries = store.checkpoints(&namespace, &root, MOST_UNDER_A_ROOT)?;
    let Some(entry) = entries.into_iter().find(|entry| name(&entry.key) == checkpoint) else { return Ok(None) };
    let Some(text) = store.checkpoint_text(view.at, &namespace, &entry.key)? else { return Ok(None) };
    let account = serde_json::from_str::<Told>(&entry.record).ok().and_then(|told| told.account);
    let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.name() == session.record.dialect);
    Ok(Some(FoldText { view, account, messages: dialect.map(|dialect| words(&text, dialect)).unwrap_or_default() }))
}

/// Role and words of messages as they stand in a list.
fn words(text: &str, dialect: Dialect) -> Vec<(String, String)> {
    let list = format!("[{text}]");
    let Ok(transcript) = wire::read(&list, Some(dialect.format())) else { return Vec::new() };
    let said = |message: &foldline_transcript::Message| {
        let parts = transcript.parts_of(message).iter().map(|part| transcript.words(part).into_owned());
        parts.filter(|words| !words.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
    };
    transcript.messages.iter().map(|message| (message.role.name().to_owned(), said(message))).collect()
}

/// The key of a name.
fn key(name: &str) -> Option<Key> {
    let mut bytes = [0; 32];
    if name.len() != 64 {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(name.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(Key(bytes))
}
