//! State shared by all requests: settings, store and memory, and the operations on them.

use super::checkpoint::{Checkpoint, CheckpointFacts};
use super::error::PrepareError;
use super::fold_details::{self, FoldDetails};
use super::incoming::{CredentialId, Dialect, IncomingTurn, SessionId};
use super::memory::{Bounds, Memory, Session, SharedSession};
use super::parsed_request::ParsedRequest;
use super::prepared::Durability;
use super::settings::{ConversationSettings, Mode};
use super::state::Conversation;
use super::unkept::{self, UnkeptFold};
use super::windows::{Reply, Window};
use foldline_core::Job;
use foldline_core::policy::{AutoOr, Policy};
use foldline_core::tokens::Counter;
use foldline_store::{
    CheckpointEntry, Cleaning, FoldClaim, Forget, Gone, Kept, Key, Keyring, Limits, NewCheckpoint, NewFold,
    NewOriginal, Opening, Precedence, SessionRow, Store, StoreError,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// Checkpoints under one root that are looked at. Conversations that all begin with the same message are
/// many in some set-ups; the latest used are the ones that go on.
pub(super) const MOST_UNDER_A_ROOT: usize = 4_096;

/// Share of the trigger at which a prune alone must land, unless the settings say where. Every rewrite costs
/// the cached prefix once. A loop of 300 turns through 32,000 tokens is rewritten twice as often when a prune
/// may land just below the trigger as when it must buy about as much room as a fold.
const LOW_WATER: f64 = 0.6;

/// Share of the trigger by which a conversation grows after a rewrite before the next one is made without need, unless the
/// settings say another. A fold pays best after ten requests or so, and this is what coding agents add in five to ten.
const GROWTH: f64 = 0.3;

/// What [`Conversations`](super::Conversations) share.
#[derive(Debug)]
pub(super) struct Shared {
    settings: RwLock<Arc<Rules>>,
    store: OnceLock<Store>,
    waiting: Mutex<Option<UnopenedStore>>,
    /// Whether the store is a database that other nodes use, open or not.
    is_shared: bool,
    /// How long it is waited for while it restarts.
    restart: Duration,
    memory: Mutex<Memory>,
    /// The latest time that anybody told us; the last flush needs one.
    clock: AtomicI64,
    /// Until when a store that failed to keep a fold is not asked to keep the next.
    rests_until: AtomicI64,
    /// How often something was forgotten on request, as far as we know.
    forgotten: AtomicU64,
    /// Held while a session is read from or written to a store that others use, by the number of its name.
    sharing: Vec<Mutex<()>>,
}

/// Sessions that can be shared at the same time.
const SHARED_AT_ONCE: usize = 64;

/// The right to fold a conversation beside its requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nobody else could want it.
    Alone,
    /// Held in a store that others use, too.
    Held {
        /// Whose conversation it is.
        namespace: String,
        /// Which.
        root: Key,
        /// By whom.
        holder: [u8; 16],
    },
}

/// Where it is known how a session stands after a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionHome {
    /// Here; the store learns it in a moment.
    Here,
    /// In a store that others read, together with the fold.
    Store,
    /// Here and in such a store, where the fold was already: another node made it, or this one did and lost the database
    /// before it was told so.
    Known,
}

/// How long the right to fold is held by a node that is killed, in milliseconds: longer than a model takes. Folds that
/// cannot wait are made all the same.
const CLAIMED: i64 = 180_000;

/// How long a store that failed is left alone, in milliseconds: a locked one costs every try its whole wait.
const REST: i64 = 1_000;

/// A store that could not be opened. Until it can, nothing is kept.
#[derive(Debug)]
struct UnopenedStore {
    place: PathBuf,
    how: Opening,
    why: String,
    /// When it was tried last.
    tried_at: i64,
}

/// How often a store that could not be opened is tried again, in milliseconds: opening costs little, and who mends it
/// waits for it.
const TRY_EVERY: i64 = 1_000;

/// Settings, and what follows from them once.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) settings: ConversationSettings,
    /// Carries the table of models, so that no request copies it.
    pub(super) job: Job,
}

impl Rules {
    fn of(mut settings: ConversationSettings) -> Rules {
        // The note would stand outside the messages, where it breaks every cached prefix and outlives no turn. `Setup`
        // says so to whoever asks for it.
        settings.policy.compression.system_note = false;
        let knobs = &mut settings.policy.compression;
        if knobs.low_water == AutoOr::Auto {
            knobs.low_water = AutoOr::Fixed(knobs.threshold * LOW_WATER);
        }
        if knobs.min_growth == AutoOr::Auto {
            knobs.min_growth = AutoOr::Fixed(GROWTH);
        }
        // Reported usage corrects the estimate within a turn. A vocabulary would add what it takes to load it to
        // somebody's first fold, and its memory to the process.
        let job = Job { models: settings.models.take(), counter: Some(Counter::Estimate), ..Job::default() };
        Rules { settings, job }
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds { sessions: self.settings.memory_sessions.max(1), text_bytes: self.settings.memory_bytes }
    }

    /// The policy, with what the provider taught about its window, and the model that only an address names. `reply` is
    /// what the request asks for.
    pub(super) fn policy(&self, window: Option<Window>, reply: Option<u32>, model: Option<&str>) -> Cow<'_, Policy> {
        let mut policy = Cow::Borrowed(&self.settings.policy);
        if let Some(Window { tokens, reply: counted }) = window {
            policy.to_mut().model.window = AutoOr::Fixed(tokens);
            if let (Reply::Counted, Some(reply)) = (counted, reply) {
                policy.to_mut().model.max_output = AutoOr::Fixed(reply);
            }
        }
        if let (Some(model), None) = (model, &policy.model.name) {
            policy.to_mut().model.name = Some(model.to_owned());
        }
        policy
    }
}

/// A fold that is to be kept.
pub(super) struct FoldToStore<'a> {
    pub(super) credential: CredentialId,
    pub(super) dialect: Dialect,
    pub(super) root: Key,
    pub(super) checkpoint: Checkpoint,
    /// Details for people.
    pub(super) details: Option<&'a FoldDetails>,
    pub(super) originals: &'a [NewOriginal<'a>],
    pub(super) precedence: Precedence,
    pub(super) session: &'a SharedSession,
    pub(super) durability: Durability,
    pub(super) now: i64,
}

/// A fold as the store keeps it.
#[derive(Clone, Copy)]
pub(super) struct FoldRecord<'a> {
    pub(super) credential: CredentialId,
    pub(super) root: Key,
    pub(super) checkpoint: &'a Checkpoint,
    /// Facts and details, as JSON.
    pub(super) record: &'a str,
    pub(super) originals: &'a [NewOriginal<'a>],
    pub(super) precedence: Precedence,
    pub(super) session: &'a SharedSession,
}

impl Shared {
    pub(super) fn open(settings: ConversationSettings) -> Result<Shared, PrepareError> {
        let shared = Shared::waiting(settings);
        shared.open_store(i64::MAX)?;
        Ok(shared)
    }

    /// Opens a store if it can; if not, it is tried again from time to time.
    pub(super) fn open_or_wait(settings: ConversationSettings) -> Shared {
        let shared = Shared::waiting(settings);
        // Why it failed is remembered.
        let _waits = shared.open_store(i64::MAX);
        shared
    }

    fn waiting(settings: ConversationSettings) -> Shared {
        let limits = Limits { wait: settings.store_wait, ..settings.limits };
        let restart = limits.restart;
        let how = Opening { limits, keys: settings.keys.clone(), originals: settings.originals.clone() };
        let is_shared = settings.store.as_deref().is_some_and(foldline_store::is_url);
        let waiting = settings.store.clone().map(|place| UnopenedStore { place, how, why: String::new(), tried_at: 0 });
        Shared {
            settings: RwLock::new(Arc::new(Rules::of(settings))),
            store: OnceLock::new(),
            waiting: Mutex::new(waiting),
            is_shared,
            restart,
            memory: Mutex::new(if is_shared { Memory::beside_nodes() } else { Memory::default() }),
            clock: AtomicI64::new(0),
            rests_until: AtomicI64::new(0),
            forgotten: AtomicU64::new(0),
            sharing: (0..SHARED_AT_ONCE).map(|_| Mutex::new(())).collect(),
        }
    }

    /// Tries to open a store that is not open yet, if it is time to.
    fn open_store(&self, now: i64) -> Result<(), StoreError> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(wanted) = waiting.as_mut().filter(|wanted| now.saturating_sub(wanted.tried_at) >= TRY_EVERY) else {
            return Ok(());
        };
        // The first try is made before anybody knows the time.
        wanted.tried_at = if now == i64::MAX { 0 } else { now };
        match Store::open(&wanted.place, wanted.how.clone()) {
            Ok(store) => {
                self.forgotten.store(store.forgotten().unwrap_or(0), Ordering::Relaxed);
                let _first = self.store.set(store);
                *waiting = None;
                Ok(())
            }
            Err(error) => {
                wanted.why = error.to_string();
                Err(error)
            }
        }
    }

    /// Other keys for the store, which may be waiting for them.
    pub(super) fn set_keys(&self, keys: &Keyring) -> Result<(), StoreError> {
        if let Some(waiting) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            waiting.how.keys = keys.clone();
            waiting.tried_at = 0;
            return Ok(());
        }
        match self.store() {
            Some(store) if store.keys() != keys.ids() => store.set_keys(keys.clone()),
            _ => Ok(()),
        }
    }

    /// Forgets on request, in memory and on the disk.
    pub(super) fn forget(&self, forget: &Forget<'_>) -> Result<Gone, StoreError> {
        let Some(store) = self.store() else { return Ok(self.memory().forget_on_request(forget)) };
        // What waits in memory would be written afterwards.
        let now = self.now();
        self.flush(now)?;
        let gone = store.forget(forget, Cleaning::Gentle)?;
        self.look_again(store);
        Ok(gone)
    }

    /// Drops from memory what somebody else, or we, have forgotten on request.
    fn look_again(&self, store: &Store) {
        let Ok(forgotten) = store.forgotten() else { return };
        if self.forgotten.swap(forgotten, Ordering::Relaxed) == forgotten {
            return;
        }
        self.memory().drop_checkpoints();
        let held: Vec<SessionId> = self.memory().sessions.keys().cloned().collect();
        for id in held {
            // One that was never written yet loses the counts of a second.
            if matches!(store.session(id.as_str()), Ok(None)) {
                let mut memory = self.memory();
                memory.sessions.remove(&id);
                memory.events.retain(|event| event.session != id.as_str());
            }
        }
    }

    /// Why nothing is kept although it should be.
    pub(super) fn trouble(&self) -> Option<String> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|waiting| waiting.why.clone())
    }

    /// Takes note that the store failed to keep a fold.
    pub(super) fn let_rest(&self, now: i64) {
        self.rests_until.fetch_max(now.saturating_add(REST), Ordering::Relaxed);
    }

    /// Whether the store failed a moment ago, or is one that other nodes use and could not be opened yet: what this node
    /// decides without it would be something else than what they decide.
    pub(super) fn store_rests(&self, now: i64) -> bool {
        now < self.rests_until.load(Ordering::Relaxed) || self.awaits_shared_store()
    }

    fn awaits_shared_store(&self) -> bool {
        self.is_shared && self.store().is_none()
    }

    /// The store, once it is open.
    pub(super) fn store(&self) -> Option<&Store> {
        self.store.get()
    }

    pub(super) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn reload(&self, settings: ConversationSettings) {
        let rules = Arc::new(Rules::of(settings));
        let mut current = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        if current.settings.mode != rules.settings.mode {
            self.memory().drop_checkpoints();
        }
        *current = rules;
    }

    /// The memory. A panic elsewhere leaves counts that are off by one at worst.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest time that anybody told us.
    pub(super) fn now(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    pub(super) fn note_time(&self, now: i64) {
        self.clock.fetch_max(now, Ordering::Relaxed);
    }

    /// The store for what is carried out; in shadow mode nothing is.
    pub(super) fn store_for(&self, rules: &Rules) -> Option<&Store> {
        self.store().filter(|_| rules.settings.mode == Mode::Live)
    }

    /// Brings a session and the checkpoints of its conversation into memory. Returns the conversation.
    pub(super) fn enter(
        &self,
        rules: &Rules,
        ask: &IncomingTurn<'_>,
        parsed: &ParsedRequest<'_>,
        root: &Key,
    ) -> Result<Conversation, PrepareError> {
        self.note_time(ask.now.0);
        let known = self.memory().session(&parsed.session).is_some();
        // Another node may have served the turn before this one.
        self.renew(&parsed.session, ask.now.0);
        if !known {
            let session = self.stored_session(ask, parsed)?.unwrap_or_else(|| Session::of(ask.credential));
            let gone = self.memory().admit(&parsed.session, session, rules.bounds());
            if let (Some(store), false) = (self.store(), gone.is_empty()) {
                // Sums of sessions that nobody has seen for long: worth a try, not worth a fault.
                let _lost = store.write_copies(ask.now.0, &gone, &[], self.forgotten.load(Ordering::Relaxed));
            }
        }
        let knows_root = self.memory().knows_root(root);
        if self.shared_store(ask.now.0).is_some() {
            unkept::keep(self, rules, Some(root), ask.now.0);
            // When it does not answer, what is known here counts.
            let _known = self.asked(ask.now.0, self.learn_root(rules, ask.credential, root));
        } else if !knows_root && !self.shares_store() {
            self.learn_root(rules, ask.credential, root)?;
        }
        let mut memory = self.memory();
        let Some(session) = memory.session(&parsed.session) else {
            return Ok(Conversation::default());
        };
        Ok(session.conversation_for_a_turn(&name(root)))
    }

    /// Whether a request can be made ready without the store, as far as it only has to be looked up: nobody else writes
    /// there, and its session, its checkpoints and the window of its model are in memory.
    pub(super) fn holds(&self, ask: &IncomingTurn<'_>, parsed: &ParsedRequest<'_>) -> bool {
        if self.store().is_none() && !self.shares_store() {
            return true;
        }
        let mut memory = self.memory();
        !self.shares_store()
            && memory.windows.holds(ask.credential, parsed.model())
            && parsed.root().is_none_or(|root| {
                let fitting = memory.fitting(&root, |position| parsed.key(position));
                memory.session(&parsed.session).is_some()
                    && memory.knows_root(&root)
                    && fitting.iter().all(|(key, _)| memory.text(key).is_some())
            })
    }

    pub(super) fn shares_store(&self) -> bool {
        self.is_shared
    }

    /// How long a request may wait for a database that restarts.
    pub(super) fn longest_restart(&self) -> Duration {
        if self.is_shared { self.restart } else { Duration::ZERO }
    }

    /// A session as the store has it. From a shared store that does not answer, as if it had none: it is asked again with
    /// the next turn.
    fn stored_session(
        &self,
        ask: &IncomingTurn<'_>,
        parsed: &ParsedRequest<'_>,
    ) -> Result<Option<Session>, StoreError> {
        let Some(store) = self.store() else { return Ok(None) };
        if !store.is_shared() {
            return Ok(store.session(parsed.session.as_str())?.map(|row| self.session_of(&row)));
        }
        let asked = self.shared_store(ask.now.0).map(|store| store.session(parsed.session.as_str()));
        let row = asked.and_then(|answer| self.asked(ask.now.0, answer).ok()).flatten();
        Ok(row.map(|row| self.session_of(&row)))
    }

    /// A session out of the store.
    pub(super) fn session_of(&self, row: &SessionRow) -> Session {
        if self.shares_store() { Session::of_shared_row(row) } else { Session::of_row(row) }
    }

    /// What the store answered. One that does not answer is left alone for a moment.
    fn asked<T, E>(&self, now: i64, answer: Result<T, E>) -> Result<T, E> {
        if answer.is_err() {
            self.let_rest(now);
        }
        answer
    }

    /// The store, where other nodes write to it, unless it failed a moment ago.
    fn shared_store(&self, now: i64) -> Option<&Store> {
        self.store().filter(|store| store.is_shared() && !self.store_rests(now))
    }

    /// Only one of this process at a time reads a session from a shared store or writes it there: what two wrote of the same
    /// changes would count twice.
    pub(super) fn sharing(&self, id: &SessionId) -> Option<MutexGuard<'_, ()>> {
        let number = id.as_str().bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let lock = self.sharing.get(number % SHARED_AT_ONCE).filter(|_| self.shares_store())?;
        Some(lock.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes a session down at once where other nodes may serve its next turn.
    pub(super) fn share(&self, id: &SessionId, now: i64) {
        let Some(store) = self.shared_store(now) else { return };
        let _alone = self.sharing(id);
        let Some(session) = self.memory().session_to_share(id) else { return };
        let known = self.forgotten.load(Ordering::Relaxed);
        let revise = |theirs: &SessionRow| session.revised(theirs);
        let written = self.asked(now, store.revise_session(now, &session.row(), &revise, known));
        // If not, the next flush finds out what was forgotten, or tries again.
        if let Ok(Some(written)) = written {
            self.memory().note_shared(&session, Some(&written));
        }
    }

    /// Reads how a session stands where another node may have served a turn since.
    pub(super) fn renew(&self, id: &SessionId, now: i64) {
        let Some(store) = self.shared_store(now) else { return };
        let _alone = self.sharing(id);
        if let Ok(Some(row)) = self.asked(now, store.session(id.as_str())) {
            self.memory().renew(id, &row);
        }
    }

    /// Takes the right to fold a conversation beside its requests, where other nodes may want to do the same.
    pub(super) fn claim_fold(&self, credential: CredentialId, root: Key, now: i64) -> Option<Claim> {
        let Some(store) = self.store().filter(|store| store.is_shared()) else { return Some(Claim::Alone) };
        let holder = foldline_store::random_id();
        let namespace = credential.namespace();
        let claim = FoldClaim { namespace: &namespace, root, holder, until: now.saturating_add(CLAIMED) };
        match store.claim_fold(now, &claim) {
            Ok(true) => Some(Claim::Held { namespace, root, holder }),
            Ok(false) => None,
            Err(_) => {
                self.let_rest(now);
                None
            }
        }
    }

    /// Gives it back.
    pub(super) fn release_fold(&self, claim: &Claim) {
        if let (Claim::Held { namespace, root, holder }, Some(store)) = (claim, self.store()) {
            let claim = FoldClaim { namespace, root: *root, holder: *holder, until: 0 };
            // One that cannot be given back ends by itself.
            let _ends = store.release_fold(&claim);
        }
    }

    /// Reads which checkpoints there are under a root.
    pub(super) fn learn_root(&self, rules: &Rules, credential: CredentialId, root: &Key) -> Result<(), PrepareError> {
        let entries = match self.store_for(rules) {
            Some(store) => store.checkpoints(&credential.namespace(), root, MOST_UNDER_A_ROOT)?,
            None => Vec::new(),
        };
        let found = entries.into_iter().filter_map(|entry| Some((entry.key, facts_of(entry)?))).collect();
        match self.store_for(rules).is_some_and(Store::is_shared) {
            true => self.memory().renew_root(*root, found, rules.bounds()),
            false => self.memory().admit_root(*root, found, rules.bounds()),
        }
        Ok(())
    }

    /// How many messages the longest checkpoint replaces that fits a request.
    pub(super) fn position(&self, root: &Key, parsed: &ParsedRequest<'_>) -> Option<usize> {
        let fitting = self.memory().fitting(root, |position| parsed.key(position));
        fitting.into_iter().find(|(_, facts)| facts.fits(parsed)).map(|(_, facts)| facts.position)
    }

    /// The longest checkpoint that fits a request and was not undone.
    pub(super) fn best(
        &self,
        rules: &Rules,
        ask: &IncomingTurn<'_>,
        parsed: &ParsedRequest<'_>,
        undone: &[String],
    ) -> Result<Option<Arc<Checkpoint>>, PrepareError> {
        let Some(root) = parsed.root() else {
            return Ok(None);
        };
        let fitting = self.memory().fitting(&root, |position| parsed.key(position));
        for (key, facts) in fitting {
            if !facts.fits(parsed) || (!undone.is_empty() && undone.contains(&name(&key))) {
                continue;
            }
            if let Some(checkpoint) = self.memory().text(&key) {
                return Ok(Some(checkpoint));
            }
            let stored = match self.store_for(rules) {
                // A shorter one, or none, until it answers again.
                Some(store) if store.is_shared() && self.store_rests(ask.now.0) => continue,
                Some(store) => {
                    let text = store.checkpoint_text(ask.now.0, &ask.credential.namespace(), &key);
                    if store.is_shared() { self.asked(ask.now.0, text)? } else { text? }
                }
                None => None,
            };
            match stored {
                Some(text) => {
                    let checkpoint = Arc::new(Checkpoint::new(key, facts, text, parsed.dialect));
                    self.memory().admit_text(Arc::clone(&checkpoint), rules.bounds());
                    return Ok(Some(checkpoint));
                }
                None => self.memory().forget(&root, &key),
            }
        }
        Ok(None)
    }

    /// Makes a fold durable, then known. What comes back is the checkpoint that counts: another node, or
    /// another turn of the same conversation, may have been first.
    pub(super) fn keep(
        &self,
        rules: &Rules,
        keeping: FoldToStore<'_>,
    ) -> Result<(Arc<Checkpoint>, SessionHome), StoreError> {
        let FoldToStore {
            credential,
            dialect,
            root,
            mut checkpoint,
            details,
            originals,
            precedence,
            session,
            durability,
            now,
        } = keeping;
        // What a provider rejected is in nobody's way.
        let precedence = if self.memory().is_rejected(&checkpoint.key) { Precedence::Latest } else { precedence };
        let mut home = SessionHome::Here;
        let record = fold_details::Record { facts: &checkpoint.facts, details };
        let record = serde_json::to_string(&record).unwrap_or_default();
        let store = self.store_for(rules);
        if let Some(store) = store.filter(|_| durability == Durability::Disk) {
            let fold = FoldRecord {
                credential,
                root,
                checkpoint: &checkpoint,
                record: &record,
                originals,
                precedence,
                session,
            };
            match self.write_fold(store, &fold, now)? {
                Kept::Written if store.is_shared() => home = SessionHome::Store,
                Kept::Written => {}
                Kept::Known => {
                    let stored = self.stored_checkpoint(store, &fold, dialect, now)?;
                    if store.is_shared() && self.learn_fold(store, &fold)? {
                        home = SessionHome::Known;
                    }
                    checkpoint = stored.unwrap_or(checkpoint);
                }
            }
        }
        let checkpoint = Arc::new(checkpoint);
        let mut memory = self.memory();
        memory.readmit(&checkpoint.key);
        memory.admit_root(root, vec![(checkpoint.key, checkpoint.facts)], rules.bounds());
        memory.admit_text(Arc::clone(&checkpoint), rules.bounds());
        let is_kept_later = store.is_some() || (self.awaits_shared_store() && rules.settings.mode == Mode::Live);
        if is_kept_later && durability == Durability::Memory {
            let (session, checkpoint) = (session.id().clone(), Arc::clone(&checkpoint));
            memory.unkept.add(UnkeptFold { credential, session, dialect, root, checkpoint, record });
        }
        Ok((checkpoint, home))
    }

    /// Writes a fold down, with how its session stands.
    pub(super) fn write_fold(&self, store: &Store, fold: &FoldRecord<'_>, now: i64) -> Result<Kept, StoreError> {
        let FoldRecord { credential, root, checkpoint, record, originals, precedence, session } = *fold;
        let namespace = credential.namespace();
        let position = checkpoint.facts.position as u64;
        let new = NewCheckpoint { key: checkpoint.key, root, position, record, text: &checkpoint.text };
        let row = session.row();
        let fold = NewFold { namespace: &namespace, originals, checkpoint: new, precedence, session: &row };
        match store.is_shared() {
            true => store.keep_fold_with(now, &fold, &|theirs| session.revised(theirs)),
            false => store.keep_fold(now, &fold),
        }
    }

    /// The checkpoint that the store has in the place of a fold.
    pub(super) fn stored_checkpoint(
        &self,
        store: &Store,
        fold: &FoldRecord<'_>,
        dialect: Dialect,
        now: i64,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let (namespace, key) = (fold.credential.namespace(), fold.checkpoint.key);
        let entries = store.checkpoints(&namespace, &fold.root, MOST_UNDER_A_ROOT)?;
        let facts = entries.into_iter().find(|entry| entry.key == key).and_then(facts_of);
        let text = store.checkpoint_text(now, &namespace, &key)?;
        Ok(facts.zip(text).map(|(facts, text)| Checkpoint::new(key, facts, text, dialect)))
    }

    /// Takes over how a session stands in a store that has a fold of it already. Says whether that knows of the fold.
    fn learn_fold(&self, store: &Store, fold: &FoldRecord<'_>) -> Result<bool, StoreError> {
        let id = fold.session.id();
        let Some(row) = store.session(id.as_str())? else { return Ok(false) };
        let mut memory = self.memory();
        memory.renew(id, &row);
        let (root, checkpoint) = (name(&fold.root), name(&fold.checkpoint.key));
        Ok(memory.session(id).is_some_and(|session| session.record.has_checkpoint(&root, &checkpoint)))
    }

    /// Writes down what may wait.
    pub(super) fn flush(&self, now: i64) -> Result<(), StoreError> {
        self.note_time(now);
        // What it fails with was said at the first try, and shows on the page that says whether the gateway is ready.
        let _waits = self.open_store(now);
        let Some(store) = self.store() else {
            self.memory().events.clear();
            return Ok(());
        };
        self.look_again(store);
        unkept::keep(self, &self.rules(), None, now);
        if store.is_shared() {
            let dirty = |(id, session): (&SessionId, &Session)| session.is_dirty.then(|| id.clone());
            let waiting: Vec<SessionId> = self.memory().sessions.iter().filter_map(dirty).collect();
            waiting.iter().for_each(|id| self.share(id, now));
        }
        let (rows, events) = {
            let mut memory = self.memory();
            let mut rows = Vec::new();
            let own = memory.sessions.iter_mut().filter(|(_, session)| session.is_dirty && !store.is_shared());
            for (id, session) in own {
                rows.push(session.row(id));
                session.is_dirty = false;
            }
            rows.sort_by(|one: &SessionRow, two| one.id.cmp(&two.id));
            (rows, std::mem::take(&mut memory.events))
        };
        let written = store.write_copies(now, &rows, &events, self.forgotten.load(Ordering::Relaxed));
        // Held until the store can be written, or until it is known what was forgotten meanwhile.
        if !matches!(written, Ok(true)) {
            let mut memory = self.memory();
            for row in &rows {
                let id = SessionId::parse(&row.id);
                if let Some(session) = id.and_then(|id| memory.sessions.get_mut(&id)) {
                    session.is_dirty = true;
                }
            }
            events.into_iter().for_each(|event| memory.note(event));
        }
        written.map(drop)
    }
}

impl Drop for Shared {
    /// The last sums of a process that ends in peace; a crash loses about a second of them.
    fn drop(&mut self) {
        let _lost = self.flush(self.now());
    }
}

/// The facts of an entry; one of another release that cannot be read is passed over.
fn facts_of(entry: CheckpointEntry) -> Option<CheckpointFacts> {
    serde_json::from_str(&entry.record).ok()
}

/// A key as it stands in records.
pub(super) fn name(key: &Key) -> String {
    super::incoming::hex(&key.0)
}

/// The key that a record names.
pub(super) fn key_named(name: &str) -> Option<Key> {
    let digits = name.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> =
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).map(Key)
}
