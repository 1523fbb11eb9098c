//! The prunes and folds of a session for people: a list, and one of them with its text.

use super::fold_details::{FoldDetails, StoredDetails};
use super::incoming::{CredentialId, Dialect, SessionId};
use super::memory::{Session, SessionRecord};
use super::shared::{MOST_UNDER_A_ROOT, Shared, key_named, name};
use foldline_store::StoreError;
use foldline_transcript::wire;

/// One prune or fold of a session, without content.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldView {
    /// Its name in URLs.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// `prune` or `fold`.
    pub kind: String,
    /// Why it was due, and what was done.
    pub reason: String,
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Whether it was undone.
    pub is_undone: bool,
    /// Whether it is the one that can be undone.
    pub is_latest: bool,
}

/// One prune or fold with content.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldText {
    /// Everything except content.
    pub view: FoldView,
    /// Reason, edits, kept rules; none for a fold of an earlier release.
    pub details: Option<FoldDetails>,
    /// The messages that replaced the originals: role and text of each.
    pub messages: Vec<(String, String)>,
}

/// Digits of a checkpoint's name that are used in URLs.
const ID_DIGITS: usize = 16;

/// Folds of a record, the latest first, with the root and the name of the checkpoint of each.
fn marks(record: &SessionRecord) -> Vec<(FoldView, String, String)> {
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
    found.sort_by_key(|(view, ..)| std::cmp::Reverse(view.at));
    found
}

fn session(shared: &Shared, id: &SessionId) -> Result<Option<Session>, StoreError> {
    // Another node may have folded it since.
    shared.renew(id, shared.now());
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

/// One fold with the messages that replaced the originals.
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
    let (Some(store), Some(root)) = (shared.store(), key_named(&root)) else { return Ok(None) };
    let entries = store.checkpoints(&namespace, &root, MOST_UNDER_A_ROOT)?;
    let Some(entry) = entries.into_iter().find(|entry| name(&entry.key) == checkpoint) else { return Ok(None) };
    let Some(text) = store.checkpoint_text(view.at, &namespace, &entry.key)? else { return Ok(None) };
    let details = serde_json::from_str::<StoredDetails>(&entry.record).ok().and_then(|told| told.details);
    let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.name() == session.record.dialect);
    Ok(Some(FoldText { view, details, messages: dialect.map(|dialect| words(&text, dialect)).unwrap_or_default() }))
}

/// Role and text of each message of a list.
fn words(text: &str, dialect: Dialect) -> Vec<(String, String)> {
    let list = format!("[{text}]");
    let Ok(transcript) = wire::read(&list, Some(dialect.format())) else { return Vec::new() };
    let said = |message: &foldline_transcript::Message| {
        let parts = transcript.parts_of(message).iter().map(|part| transcript.words(part).into_owned());
        parts.filter(|words| !words.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
    };
    transcript.messages.iter().map(|message| (message.role.name().to_owned(), said(message))).collect()
}
