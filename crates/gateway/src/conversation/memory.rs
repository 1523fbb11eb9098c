//! Bounded in-memory state: sessions, known checkpoints, texts of checkpoints in use, folds in progress. What is
//! evicted here is read again from the store.

use super::checkpoint::{Checkpoint, CheckpointFacts};
use super::incoming::{CredentialId, SessionId};
use super::sessions::{Sums, Totals};
use super::state::{Conversation, ConversationEvent, Reports};
use super::unkept::UnkeptFolds;
use super::windows::Windows;
use foldline_store::{EventRow, Forget, Forgotten, Gone, Key, SessionRow, Whose};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// Conversations of one session that are remembered: the main one, sub-agents and side questions that
/// come under the same name, and what is left of it after the client compacted.
const MOST_CONVERSATIONS: usize = 16;

/// Rejected checkpoints that are remembered.
const MOST_REJECTED: usize = 4_096;

/// Events that wait for the next flush; beyond them the oldest are lost, which only history feels.
const MOST_EVENTS: usize = 20_000;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Memory {
    tick: u64,
    pub(super) sessions: HashMap<SessionId, Session>,
    roots: HashMap<Key, Root>,
    texts: HashMap<Key, (Arc<Checkpoint>, u64)>,
    text_bytes: usize,
    pub(super) flights: HashSet<(SessionId, Key)>,
    /// Checkpoints that a provider rejected. After a restart one may be tried once more.
    rejected: HashSet<Key>,
    pub(super) windows: Windows,
    pub(super) unkept: UnkeptFolds,
    pub(super) events: Vec<EventRow>,
    pub(super) totals: Totals,
    /// The name of this process among those that write to the same store; none where nobody else does.
    node: Option<String>,
}

/// How much is held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) sessions: usize,
    pub(super) text_bytes: usize,
}

/// A session in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub(super) namespace: String,
    pub(super) record: SessionRecord,
    /// Whether the store has an older version.
    pub(super) is_dirty: bool,
    /// What happened since the store was written, where other nodes write there, too.
    changes: Option<Changes>,
    tick: u64,
}

/// Changes in their order.
#[derive(Clone, Debug, Default)]
struct Changes {
    /// Tells them from those of other nodes, and of other times that the session was in memory; empty where it is in none.
    name: String,
    list: Vec<Change>,
    /// How many there were before the first of them.
    before: u64,
}

/// Something that happened to a session, to be repeated on what another node wrote.
#[derive(Clone, Debug)]
enum Change {
    /// To one of its conversations.
    Conversation { root: String, events: Vec<ConversationEvent> },
    /// Counts.
    Sums(Sums),
    /// Somebody asked for a fold, or got it.
    Manual(Option<Option<String>>),
}

/// Changes that are remembered while a shared store is away; beyond them the oldest are lost.
const MOST_CHANGES: usize = 4_096;

/// What is stored of a session. Counts only.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionRecord {
    pub(super) label: String,
    pub(super) dialect: String,
    pub(super) model: String,
    pub(super) first_at: i64,
    pub(super) last_at: i64,
    pub(super) context: u64,
    pub(super) trigger: u64,
    pub(super) window: u64,
    pub(super) sums: Sums,
    /// Somebody asked for a fold, with a focus perhaps.
    #[serde(skip_serializing_if = "Option::is_none", with = "manual")]
    pub(super) manual: Option<Option<String>>,
    #[serde(rename = "lanes")]
    conversations: Vec<Conversation>,
    /// Changes that it has, by their name and how many they were; the latest written last. Who loses the database while
    /// writing cannot know whether it has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written: Vec<(String, u64)>,
}

/// Names of changes that a session remembers: nodes that may be writing it at the same time, with room to spare.
const MOST_WRITTEN: usize = 8;

/// The checkpoints of all conversations that begin with the same message.
#[derive(Debug, Default)]
struct Root {
    facts: HashMap<Key, CheckpointFacts>,
    /// Positions at which there is one, in order.
    positions: Vec<usize>,
    tick: u64,
}

impl Root {
    fn add(&mut self, key: Key, facts: CheckpointFacts) {
        self.facts.insert(key, facts);
        if let Err(at) = self.positions.binary_search(&facts.position) {
            self.positions.insert(at, facts.position);
        }
    }
}

impl SessionRecord {
    /// The conversation of a root, as it stands.
    pub(super) fn conversation(&self, root: &str) -> Option<&Conversation> {
        self.conversations.iter().find(|conversation| conversation.root() == root)
    }

    /// All conversations.
    pub(super) fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        self.conversations.iter()
    }

    /// Whether a conversation has been told of a checkpoint.
    pub(super) fn has_checkpoint(&self, root: &str, checkpoint: &str) -> bool {
        self.conversation(root).is_some_and(|conversation| conversation.has_checkpoint(checkpoint))
    }

    /// The conversation with the latest fold that can be undone.
    pub(super) fn latest_folded(&self) -> Option<&Conversation> {
        let folded = self.conversations.iter().filter(|conversation| conversation.latest.is_some());
        folded.max_by_key(|conversation| conversation.latest_fold().map_or(0, |mark| mark.at))
    }

    /// The checkpoint that was made last in the conversation that was used last and has one.
    pub(super) fn latest_checkpoint(&self) -> Option<&str> {
        self.conversations.iter().rev().find_map(|conversation| conversation.latest.as_deref())
    }

    /// Changes the conversation of a root; the latest used come last. From outside, [`Session::apply`] is the only way: what
    /// is not remembered as a change is lost where another node wrote.
    fn with_conversation<T>(&mut self, root: &str, change: impl FnOnce(&mut Conversation) -> T) -> T {
        let at = self.conversations.iter().position(|conversation| conversation.root() == root);
        let mut conversation = match at {
            Some(at) => self.conversations.remove(at),
            None => Conversation::new(root),
        };
        let result = change(&mut conversation);
        if self.conversations.len() >= MOST_CONVERSATIONS {
            self.conversations.remove(0);
        }
        self.conversations.push(conversation);
        result
    }
}

impl Session {
    /// A session that nobody knows yet.
    pub(super) fn of(credential: CredentialId) -> Session {
        Session { namespace: credential.namespace(), ..Session::default() }
    }

    /// The session as it goes into the store.
    pub(super) fn row(&self, id: &SessionId) -> SessionRow {
        SessionRow {
            id: id.to_string(),
            namespace: self.namespace.clone(),
            last_at: self.record.last_at,
            // Numbers and short names: this cannot fail.
            record: serde_json::to_string(&self.record).unwrap_or_default(),
        }
    }

    /// A session that other nodes write, too: its reports are in the store before a client has its reply.
    pub(super) fn of_shared_row(row: &SessionRow) -> Session {
        Session { namespace: row.namespace.clone(), record: SessionRecord::of_row(row), ..Session::default() }
    }

    /// A session out of the store. A record of another release that cannot be read starts anew.
    pub(super) fn of_row(row: &SessionRow) -> Session {
        let mut record = SessionRecord::of_row(row);
        let is_unheard =
            |conversation: &&mut Conversation| conversation.base.is_none() && conversation.latest.is_none();
        for conversation in record.conversations.iter_mut().filter(is_unheard) {
            conversation.reports = Reports::Lost;
        }
        Session { namespace: row.namespace.clone(), record, ..Session::default() }
    }
}

impl SessionRecord {
    fn of_row(row: &SessionRow) -> SessionRecord {
        serde_json::from_str(&row.record).unwrap_or_default()
    }

    /// How many of these changes it has.
    fn has_of(&self, changes: &Changes) -> u64 {
        self.written.iter().find(|(name, _)| *name == changes.name).map_or(0, |(_, count)| *count)
    }

    /// Takes note that it has so many of these changes.
    fn note_written(&mut self, changes: &Changes, count: u64) {
        self.written.retain(|(name, _)| *name != changes.name);
        self.written.push((changes.name.clone(), count));
        let surplus = self.written.len().saturating_sub(MOST_WRITTEN);
        self.written.drain(..surplus);
    }

    /// What another node wrote, with what happened here since.
    fn rebased(&self, theirs: SessionRecord, changes: Option<&Changes>) -> SessionRecord {
        let mut record = theirs;
        let missing = changes.map(|changes| changes.after(record.has_of(changes))).unwrap_or_default();
        for conversation in &mut record.conversations {
            if let Some(own) = self.conversation(conversation.root()) {
                conversation.measured = own.measured.clone();
            }
        }
        for change in missing {
            match change {
                Change::Conversation { root, events } => {
                    record.with_conversation(root, |conversation| conversation.apply_all(events.iter().cloned()));
                }
                Change::Sums(sums) => record.sums.add(sums),
                Change::Manual(manual) => record.manual.clone_from(manual),
            }
        }
        let first_at = [record.first_at, self.first_at].into_iter().filter(|at| *at > 0).min().unwrap_or(0);
        if self.last_at < record.last_at {
            return SessionRecord { first_at, ..record };
        }
        SessionRecord {
            label: self.label.clone(),
            dialect: self.dialect.clone(),
            model: self.model.clone(),
            first_at,
            last_at: self.last_at,
            context: self.context,
            trigger: self.trigger,
            window: self.window,
            sums: record.sums,
            manual: record.manual,
            conversations: record.conversations,
            written: record.written,
        }
    }
}

/// A session as it stands here, to be written beside what other nodes write.
#[derive(Clone, Debug)]
pub(super) struct SharedSession {
    id: SessionId,
    session: Session,
    /// How many changes there ever were up to now.
    changes: u64,
}

impl SharedSession {
    /// One that nobody holds yet.
    pub(super) fn new(id: &SessionId, session: Session) -> SharedSession {
        SharedSession { id: id.clone(), session: Session { changes: Some(Changes::default()), ..session }, changes: 0 }
    }

    pub(super) fn id(&self) -> &SessionId {
        &self.id
    }

    /// With events that are kept together with something else.
    pub(super) fn with(mut self, root: &str, events: &[ConversationEvent]) -> SharedSession {
        self.session.apply(root, events.to_vec());
        self
    }

    /// With a request at this time.
    pub(super) fn at(mut self, now: i64) -> SharedSession {
        self.session.record.last_at = self.session.record.last_at.max(now);
        self
    }

    /// As it is written where there is none.
    pub(super) fn row(&self) -> SessionRow {
        let mut session = self.session.clone();
        self.note_written(&mut session.record);
        session.row(&self.id)
    }

    /// What is kept together with something else is known to be written by that.
    fn note_written(&self, record: &mut SessionRecord) {
        if let Some(changes) = self.session.changes.as_ref().filter(|changes| !changes.name.is_empty()) {
            record.note_written(changes, self.changes);
        }
    }

    /// As it is written where another node has written.
    pub(super) fn revised(&self, theirs: &SessionRow) -> SessionRow {
        let mut record = self.session.record.rebased(SessionRecord::of_row(theirs), self.session.changes.as_ref());
        self.note_written(&mut record);
        Session { record, namespace: theirs.namespace.clone(), ..Session::default() }.row(&self.id)
    }
}

impl Session {
    /// The conversation of a root, for one turn.
    pub(super) fn conversation_for_a_turn(&mut self, root: &str) -> Conversation {
        self.record.with_conversation(root, Conversation::for_a_turn)
    }

    /// Something happened to one of its conversations.
    pub(super) fn apply(&mut self, root: &str, events: Vec<ConversationEvent>) {
        self.record.with_conversation(root, |conversation| conversation.apply_all(events.iter().cloned()));
        self.change(Change::Conversation { root: root.to_owned(), events });
    }

    /// Somebody asked for a fold, or got it.
    pub(super) fn ask_for_fold(&mut self, manual: Option<Option<String>>) {
        self.record.manual.clone_from(&manual);
        self.change(Change::Manual(manual));
    }

    fn add(&mut self, sums: &Sums) {
        self.record.sums.add(sums);
        self.change(Change::Sums(*sums));
    }

    fn change(&mut self, change: Change) {
        self.is_dirty = true;
        if let Some(changes) = &mut self.changes {
            if changes.list.len() >= MOST_CHANGES {
                changes.drop_up_to(changes.before + MOST_CHANGES as u64 / 2);
            }
            changes.list.push(change);
        }
    }
}

impl Changes {
    fn end(&self) -> u64 {
        self.before + self.list.len() as u64
    }

    /// Those that came after so many.
    fn after(&self, count: u64) -> &[Change] {
        let known = usize::try_from(count.saturating_sub(self.before)).unwrap_or(usize::MAX).min(self.list.len());
        self.list.get(known..).unwrap_or_default()
    }

    fn drop_up_to(&mut self, end: u64) {
        let gone = usize::try_from(end.saturating_sub(self.before)).unwrap_or(usize::MAX).min(self.list.len());
        self.list.drain(..gone);
        self.before += gone as u64;
    }
}

/// Whether somebody asked, and with which focus: none is the empty text.
mod manual {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(asked: &Option<Option<String>>, to: S) -> Result<S::Ok, S::Error> {
        asked.as_ref().map(|focus| focus.clone().unwrap_or_default()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
        let asked = Option::<String>::deserialize(from)?;
        Ok(asked.map(|focus| Some(focus).filter(|focus| !focus.is_empty())))
    }
}

impl Memory {
    fn tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    /// An empty one for a store that other nodes write to: changes are remembered.
    pub(super) fn beside_nodes() -> Memory {
        let name = foldline_store::random_id().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Memory { node: Some(name), ..Memory::default() }
    }

    /// A session that is held.
    pub(super) fn session(&mut self, id: &SessionId) -> Option<&mut Session> {
        let tick = self.tick();
        let session = self.sessions.get_mut(id)?;
        session.tick = tick;
        Some(session)
    }

    /// Takes over what another node wrote about a session.
    pub(super) fn renew(&mut self, id: &SessionId, row: &SessionRow) {
        if let Some(session) = self.session(id) {
            session.record = session.record.rebased(SessionRecord::of_row(row), session.changes.as_ref());
        }
    }

    /// A session to be written beside what other nodes write.
    pub(super) fn session_to_share(&mut self, id: &SessionId) -> Option<SharedSession> {
        let session = self.session(id)?.clone();
        let changes = session.changes.as_ref().map_or(0, Changes::end);
        Some(SharedSession { id: id.clone(), changes, session })
    }

    /// A session was written: what it held is no change any more.
    pub(super) fn note_shared(&mut self, shared: &SharedSession, written: Option<&SessionRow>) {
        let Some(session) = self.session(&shared.id) else { return };
        if let Some(changes) = &mut session.changes {
            changes.drop_up_to(shared.changes);
            session.is_dirty = !changes.list.is_empty();
        }
        if let Some(row) = written {
            self.renew(&shared.id, row);
        }
    }

    /// A session was written together with a fold, and with what that did to a conversation.
    pub(super) fn note_kept(&mut self, shared: &SharedSession, root: &str, events: &[ConversationEvent]) {
        self.note_shared(shared, None);
        if let Some(session) = self.session(&shared.id) {
            session.record.with_conversation(root, |conversation| conversation.apply_all(events.iter().cloned()));
        }
    }

    /// Takes a session in, unless it is there. Returns sessions that were let go and must be written.
    pub(super) fn admit(&mut self, id: &SessionId, session: Session, bounds: Bounds) -> Vec<SessionRow> {
        let tick = self.tick();
        let changes = self.node.as_ref().map(|node| Changes { name: format!("{node}-{tick:x}"), ..Changes::default() });
        self.sessions.entry(id.clone()).or_insert(Session { tick, changes, ..session });
        if self.sessions.len() <= bounds.sessions {
            return Vec::new();
        }
        let oldest = oldest(self.sessions.iter().map(|(id, session)| (id.clone(), session.tick)), bounds.sessions);
        let gone = oldest.into_iter().filter_map(|id| Some((self.sessions.remove(&id)?, id)));
        gone.filter(|(session, _)| session.is_dirty).map(|(session, id)| session.row(&id)).collect()
    }

    /// Whether the checkpoints under a root are known.
    pub(super) fn knows_root(&mut self, root: &Key) -> bool {
        let tick = self.tick();
        self.roots.get_mut(root).map(|known| known.tick = tick).is_some()
    }

    /// Takes in what the store knows about a root.
    pub(super) fn admit_root(&mut self, root: Key, found: Vec<(Key, CheckpointFacts)>, bounds: Bounds) {
        let tick = self.tick();
        let known = self.roots.entry(root).or_default();
        known.tick = tick;
        for (key, facts) in found {
            // Another node may have put another one in its place.
            if known.facts.get(&key).is_some_and(|before| *before != facts)
                && let Some((gone, _)) = self.texts.remove(&key)
            {
                self.text_bytes -= gone.text.len();
            }
            known.add(key, facts);
        }
        if self.roots.len() > bounds.sessions {
            for root in oldest(self.roots.iter().map(|(root, known)| (*root, known.tick)), bounds.sessions) {
                self.roots.remove(&root);
            }
        }
    }

    /// Takes in what a store that other nodes write knows about a root. What it does not know any more is gone here, too.
    pub(super) fn renew_root(&mut self, root: Key, found: Vec<(Key, CheckpointFacts)>, bounds: Bounds) {
        if let Some(known) = self.roots.get_mut(&root) {
            let unkept = &self.unkept;
            let is_known = |key: &Key| unkept.get(key).is_some() || found.iter().any(|(found, _)| found == key);
            known.facts.retain(|key, _| is_known(key));
        }
        self.admit_root(root, found, bounds);
    }

    /// The checkpoints that may fit, longest first: those at the positions of a chain.
    pub(super) fn fitting(&self, root: &Key, key_at: impl Fn(usize) -> Option<Key>) -> Vec<(Key, CheckpointFacts)> {
        let Some(known) = self.roots.get(root) else {
            return Vec::new();
        };
        let keys = known.positions.iter().rev().filter_map(|&position| key_at(position));
        keys.filter(|key| !self.rejected.contains(key)).filter_map(|key| Some((key, *known.facts.get(&key)?))).collect()
    }

    /// A provider rejected the checkpoint of this name.
    pub(super) fn reject(&mut self, root: &Key, name: &str) {
        let known = self.roots.get(root).into_iter().flat_map(|known| known.facts.keys().copied());
        let Some(key) = known.into_iter().find(|key| super::shared::name(key) == name) else {
            return;
        };
        if self.rejected.len() >= MOST_REJECTED {
            self.rejected.clear();
        }
        self.rejected.insert(key);
        self.unkept.remove(&key);
        self.forget(root, &key);
        if let Some((gone, _)) = self.texts.remove(&key) {
            self.text_bytes -= gone.text.len();
        }
    }

    /// Whether a provider rejected what stood for these messages.
    pub(super) fn is_rejected(&self, key: &Key) -> bool {
        self.rejected.contains(key)
    }

    /// Something else stands for these messages now.
    pub(super) fn readmit(&mut self, key: &Key) {
        self.rejected.remove(key);
    }

    /// A checkpoint is gone from the store.
    pub(super) fn forget(&mut self, root: &Key, key: &Key) {
        if let Some(known) = self.roots.get_mut(root) {
            known.facts.remove(key);
        }
    }

    /// A checkpoint whose text is held.
    pub(super) fn text(&mut self, key: &Key) -> Option<Arc<Checkpoint>> {
        let tick = self.tick();
        match self.texts.get_mut(key) {
            Some((checkpoint, used)) => {
                *used = tick;
                Some(Arc::clone(checkpoint))
            }
            None => self.unkept.get(key).map(Arc::clone),
        }
    }

    /// Holds the text of a checkpoint.
    pub(super) fn admit_text(&mut self, checkpoint: Arc<Checkpoint>, bounds: Bounds) {
        let tick = self.tick();
        self.text_bytes += checkpoint.text.len();
        if let Some((before, _)) = self.texts.insert(checkpoint.key, (checkpoint, tick)) {
            self.text_bytes -= before.text.len();
        }
        if self.text_bytes <= bounds.text_bytes {
            return;
        }
        let mut by_use: Vec<(u64, Key)> = self.texts.iter().map(|(key, (_, used))| (*used, *key)).collect();
        by_use.sort_unstable();
        by_use.pop();
        for (_, key) in by_use {
            if self.text_bytes <= bounds.text_bytes / 4 * 3 {
                break;
            }
            if let Some((gone, _)) = self.texts.remove(&key) {
                self.text_bytes -= gone.text.len();
            }
        }
    }

    /// Everything that was decided without being carried out, or the other way round, is void.
    pub(super) fn drop_checkpoints(&mut self) {
        self.roots.clear();
        self.texts.clear();
        self.unkept.clear();
        self.text_bytes = 0;
    }

    /// Forgets sessions on request, and all checkpoints that are held: those of others are read again.
    pub(super) fn forget_on_request(&mut self, forget: &Forget<'_>) -> Gone {
        self.drop_checkpoints();
        let before = self.sessions.len();
        self.sessions.retain(|id, session| {
            let is_theirs = match forget.whose {
                Whose::Namespace(name) => session.namespace == name,
                Whose::Everybody => true,
            };
            let is_meant = match forget.what {
                Forgotten::Session(wanted) => id.as_str() == wanted,
                Forgotten::Before(time) => session.record.last_at < time,
                Forgotten::All => true,
            };
            !(is_theirs && is_meant)
        });
        Gone { sessions: (before - self.sessions.len()) as u64, ..Gone::default() }
    }

    /// Adds to the sums of a session and of everything.
    pub(super) fn add(&mut self, session: &SessionId, sums: &Sums) {
        self.totals.sums.add(sums);
        if let Some(session) = self.sessions.get_mut(session) {
            session.add(sums);
        }
    }

    /// Remembers an event until the next flush.
    pub(super) fn note(&mut self, event: EventRow) {
        if self.events.len() >= MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 2);
        }
        self.events.push(event);
    }
}

/// The least recently used quarter, so that clearing is rare.
fn oldest<K: Ord + Hash>(entries: impl Iterator<Item = (K, u64)>, most: usize) -> Vec<K> {
    let mut entries: Vec<(u64, K)> = entries.map(|(key, tick)| (tick, key)).collect();
    entries.sort_unstable();
    let gone = entries.len().saturating_sub(most / 4 * 3);
    entries.into_iter().take(gone).map(|(_, key)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Bounds = Bounds { sessions: usize::MAX, text_bytes: usize::MAX };

    fn node(id: &SessionId, session: Session) -> Memory {
        let mut memory = Memory::beside_nodes();
        memory.admit(id, session, ALL);
        memory
    }

    fn request(memory: &mut Memory, id: &SessionId) {
        memory.add(id, &Sums { requests: 1, ..Sums::default() });
    }

    fn requests(row: &SessionRow) -> u64 {
        SessionRecord::of_row(row).sums.requests
    }

    #[test]
    fn what_was_written_without_anybody_knowing_is_not_counted_again() {
        let id = SessionId::parse("fs-0123456789abcdef").unwrap();
        let mut one = node(&id, Session::default());
        request(&mut one, &id);
        let stored = one.session_to_share(&id).unwrap().row();
        // The connection broke at the commit. The same is written again, with what came since.
        request(&mut one, &id);
        let stored = one.session_to_share(&id).unwrap().revised(&stored);
        assert_eq!(requests(&stored), 2);
        let mut other = node(&id, Session::of_shared_row(&stored));
        request(&mut other, &id);
        let stored = other.session_to_share(&id).unwrap().revised(&stored);
        assert_eq!(requests(&stored), 3);
        one.renew(&id, &stored);
        request(&mut one, &id);
        assert_eq!(requests(&one.session_to_share(&id).unwrap().revised(&stored)), 4);
    }

    #[test]
    fn changes_after_a_fold_are_not_taken_for_written_with_it() {
        let id = SessionId::parse("fs-0123456789abcdef").unwrap();
        let mut one = node(&id, Session::default());
        request(&mut one, &id);
        let fold = vec![ConversationEvent::Replaced { checkpoint: "c".to_owned(), mark: None }];
        let shared = one.session_to_share(&id).unwrap().with("root", &fold);
        let stored = shared.row();
        one.note_kept(&shared, "root", &fold);
        request(&mut one, &id);
        let stored = one.session_to_share(&id).unwrap().revised(&stored);
        assert_eq!(requests(&stored), 2);
        assert!(SessionRecord::of_row(&stored).has_checkpoint("root", "c"));
    }

    #[test]
    fn a_session_remembers_few_nodes() {
        let id = SessionId::parse("fs-0123456789abcdef").unwrap();
        let mut stored = Session::default().row(&id);
        for _ in 0..3 * MOST_WRITTEN {
            let mut one = node(&id, Session::of_shared_row(&stored));
            request(&mut one, &id);
            stored = one.session_to_share(&id).unwrap().revised(&stored);
        }
        assert_eq!(SessionRecord::of_row(&stored).written.len(), MOST_WRITTEN);
        assert_eq!(requests(&stored), 3 * MOST_WRITTEN as u64);
    }
}
