//! Client keys of the store: looked up in memory, which follows the store once a second on every node.
//!
//! A revoked key ends within two seconds. While the store cannot be read, the keys that were read last stay known; expiry
//! and budgets hold all the same. What a key used on this node is known at once, what it used on others within a second
//! or two. Requests in progress on this node count with their prompts and an answer of a few words. So a budget can be
//! exceeded by one request, by what answers have more, and by what other nodes have in progress.

use super::answer::Refusal;
use super::dates;
use super::upstream_keys::UpstreamKeys;
use crate::conversation::CredentialId;
use arc_swap::ArcSwap;
use foldline_store::{ClientKey, KeyDay, KeyEvent, KeyEventKind, KeyScope, KeyUsage, Store, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often the store is read, in milliseconds.
const READ_EVERY: i64 = 1_000;
/// One event per key and kind of refusal within so many milliseconds: a client may ask often.
const EVENT_EVERY: i64 = 60_000;
/// Events that wait for a store that cannot be written.
const MOST_EVENTS_WAITING: usize = 1_000;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// The keys of the store.
#[derive(Default)]
pub struct StoredKeys {
    known: ArcSwap<Known>,
    books: Mutex<Books>,
    in_progress: Mutex<BTreeMap<(CredentialId, u64), KeyUsage>>,
    reservations: AtomicU64,
}

/// What a request in progress counts until it is booked.
pub struct Reservation {
    keys: Arc<StoredKeys>,
    whose: (CredentialId, u64),
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.keys.in_progress().remove(&self.whose);
    }
}

/// What was read last.
#[derive(Default)]
struct Known {
    /// When; `None` when nothing was read yet.
    read_at: Option<i64>,
    /// The day that usage is of.
    day: i64,
    keys: HashMap<CredentialId, StoredKey>,
}

struct StoredKey {
    row: ClientKey,
    /// What it used in the day, on all nodes, as far as it is written down.
    used: KeyUsage,
    upstream: Arc<UpstreamKeys>,
}

/// What is not written down yet.
#[derive(Default)]
struct Books {
    open: Usage,
    /// Being written down.
    closing: Usage,
    /// Written down, but not read back yet.
    written: Usage,
    events: Vec<KeyEvent>,
    told: HashMap<(CredentialId, KeyEventKind), i64>,
}

type Usage = BTreeMap<(CredentialId, i64), KeyUsage>;

impl StoredKeys {
    /// Whether a key of the store, revoked or not, has this digest.
    pub fn has(&self, credential: CredentialId) -> bool {
        self.known.load().keys.contains_key(&credential)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.known.load().keys.is_empty()
    }

    /// Whether they could be read since the start.
    pub fn was_read(&self) -> bool {
        self.known.load().read_at.is_some()
    }

    /// Whether a key has a scope at this time; `None` when it is no key of the store.
    pub fn grants(&self, credential: CredentialId, scope: KeyScope, now: i64) -> Option<bool> {
        let known = self.known.load();
        let key = known.keys.get(&credential)?;
        Some(key.refusal_of_state(now).is_none() && key.row.terms.scopes.contains(&scope))
    }

    /// Whether a key is in force; `None` when it is no key of the store.
    pub fn is_valid(&self, credential: CredentialId, now: i64) -> Option<bool> {
        let known = self.known.load();
        known.keys.get(&credential).map(|key| key.refusal_of_state(now).is_none())
    }

    /// The provider keys that are sent in place of a key of the store.
    pub fn upstream(&self, credential: CredentialId) -> Option<Arc<UpstreamKeys>> {
        self.known.load().keys.get(&credential).map(|key| key.upstream.clone())
    }

    /// Refuses a key of the store that is revoked, expired, has none of these scopes, or has used up its budget where it
    /// would be forwarded. What is no key of the store is not refused here.
    pub fn check(&self, credential: CredentialId, scopes: &[KeyScope], now: i64) -> Result<(), Refusal> {
        let known = self.known.load();
        let Some(key) = known.keys.get(&credential) else { return Ok(()) };
        let refused = key.refusal_of_state(now).or_else(|| key.refusal_of_scope(scopes)).or_else(|| {
            let is_forwarded = scopes.contains(&KeyScope::Generate);
            is_forwarded.then(|| key.refusal_of_budget(&self.used_today(&known, credential, now), now)).flatten()
        });
        match refused {
            Some((kind, refusal)) => {
                self.note(credential, KeyEvent { at: now, name: key.row.name.clone(), kind });
                Err(refusal)
            }
            None => Ok(()),
        }
    }

    /// Counts a request as in progress, with what it will use at least. Refuses it where others in progress take up what
    /// is left of the budget. `None` for a key without one.
    pub fn reserve(
        self: &Arc<StoredKeys>,
        credential: CredentialId,
        expected: KeyUsage,
        now: i64,
    ) -> Result<Option<Reservation>, Refusal> {
        let known = self.known.load();
        let Some(key) = known.keys.get(&credential).filter(|key| key.has_budget()) else { return Ok(None) };
        let mut in_progress = self.in_progress();
        let mut used = self.used_today(&known, credential, now);
        in_progress.range((credential, 0)..=(credential, u64::MAX)).for_each(|(_, taken)| used.add(taken));
        if let Some((kind, refusal)) = key.refusal_of_budget(&used, now) {
            self.note(credential, KeyEvent { at: now, name: key.row.name.clone(), kind });
            return Err(match refusal {
                Refusal::KeyBudget { budget, .. } => Refusal::KeyBudgetTaken { budget },
                other => other,
            });
        }
        let whose = (credential, self.reservations.fetch_add(1, Ordering::Relaxed));
        in_progress.insert(whose, expected);
        Ok(Some(Reservation { keys: self.clone(), whose }))
    }

    fn in_progress(&self) -> MutexGuard<'_, BTreeMap<(CredentialId, u64), KeyUsage>> {
        self.in_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a key used today, also what is not written down yet.
    fn used_today(&self, known: &Known, credential: CredentialId, now: i64) -> KeyUsage {
        let day = KeyDay::of(now);
        let stored = known.keys.get(&credential).filter(|_| known.day == day);
        let mut used = stored.map(|key| key.used).unwrap_or_default();
        let books = self.books();
        for usage in [&books.open, &books.closing, &books.written] {
            if let Some(more) = usage.get(&(credential, day)) {
                used.add(more);
            }
        }
        used
    }

    /// Books what a key used, and says its name; `None` when it is no key of the store.
    pub fn book(&self, credential: CredentialId, usage: &KeyUsage, now: i64) -> Option<String> {
        let name = self.known.load().keys.get(&credential)?.row.name.clone();
        self.books().open.entry((credential, KeyDay::of(now))).or_default().add(usage);
        Some(name)
    }

    fn note(&self, credential: CredentialId, event: KeyEvent) {
        let mut books = self.books();
        let told = books.told.entry((credential, event.kind)).or_insert(i64::MIN);
        if event.at.saturating_sub(*told) >= EVENT_EVERY {
            *told = event.at;
            books.events.push(event);
        }
    }

    /// Writes down what was used and reads the keys again, if it is time to.
    pub fn follow(&self, store: Option<&Store>, now: i64) -> Result<(), StoreError> {
        let is_due = self.known.load().read_at.is_none_or(|read_at| (now - read_at).abs() >= READ_EVERY);
        match store.filter(|_| is_due) {
            Some(store) => self.synchronise(store, now),
            None => Ok(()),
        }
    }

    /// Writes down what was used, and reads the keys again.
    pub fn synchronise(&self, store: &Store, now: i64) -> Result<(), StoreError> {
        self.write(store, now)?;
        let known = read(store, now, &self.known.load())?;
        let mut books = self.books();
        books.written.clear();
        books.told.retain(|(id, _), told| known.keys.contains_key(id) && now.saturating_sub(*told) < EVENT_EVERY);
        self.known.store(Arc::new(known));
        Ok(())
    }

    fn write(&self, store: &Store, now: i64) -> Result<(), StoreError> {
        let (usage, events) = self.close_books();
        if usage.is_empty() && events.is_empty() {
            return Ok(());
        }
        let booked = store.book_keys(now, &usage, &events);
        let mut books = self.books();
        let closing = std::mem::take(&mut books.closing);
        let next = if booked.is_ok() { &mut books.written } else { &mut books.open };
        for (whose, usage) in closing {
            next.entry(whose).or_default().add(&usage);
        }
        if booked.is_err() {
            books.events.splice(0..0, events);
            let most = books.events.len().min(MOST_EVENTS_WAITING);
            books.events.truncate(most);
        }
        booked
    }

    fn close_books(&self) -> (Vec<KeyDay>, Vec<KeyEvent>) {
        let mut books = self.books();
        books.closing = std::mem::take(&mut books.open);
        let day =
            |(&(whose, day), &usage): (&(CredentialId, i64), &KeyUsage)| KeyDay { digest: whose.key(), day, usage };
        let usage = books.closing.iter().map(day).collect();
        (usage, std::mem::take(&mut books.events))
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads everything. The environment is read for keys that are new: what a variable holds is fixed at the start of a
/// process.
fn read(store: &Store, now: i64, before: &Known) -> Result<Known, StoreError> {
    let day = KeyDay::of(now);
    let used = store.key_usage(day)?.into_iter().filter(|used| used.day == day);
    let used: HashMap<_, _> = used.map(|used| (used.digest, used.usage)).collect();
    let mut keys = HashMap::new();
    for row in store.client_keys()? {
        let id = CredentialId::of_stored(row.digest);
        let same = before.keys.get(&id).filter(|key| key.row.terms.upstream == row.terms.upstream);
        let upstream = same.map_or_else(|| Arc::new(mapped(&row)), |key| key.upstream.clone());
        let used = used.get(&row.digest).copied().unwrap_or_default();
        keys.insert(id, StoredKey { row, used, upstream });
    }
    Ok(Known { read_at: Some(now), day, keys })
}

fn mapped(row: &ClientKey) -> UpstreamKeys {
    let mut upstream = UpstreamKeys::default();
    for (provider, variable) in &row.terms.upstream {
        let value = std::env::var(variable).ok().filter(|value| !value.is_empty());
        let is_mapped = value.is_some_and(|value| upstream.map(provider, &value).is_ok());
        if !is_mapped {
            upstream.map_nothing();
            tracing::warn!(key = row.name, provider, variable, "the provider key of a client key is not set");
        }
    }
    upstream
}

impl StoredKey {
    fn refusal_of_state(&self, now: i64) -> Option<(KeyEventKind, Refusal)> {
        if self.row.revoked_at.is_some() {
            return Some((KeyEventKind::RefusedRevoked, Refusal::KeyRevoked));
        }
        let expired_at = self.row.terms.expires_at.filter(|expires_at| *expires_at <= now)?;
        Some((KeyEventKind::RefusedExpired, Refusal::KeyExpired { at: dates::iso(expired_at) }))
    }

    fn refusal_of_scope(&self, wanted: &[KeyScope]) -> Option<(KeyEventKind, Refusal)> {
        let scopes = &self.row.terms.scopes;
        let first = wanted.first().filter(|_| !wanted.iter().any(|scope| scopes.contains(scope)))?;
        Some((KeyEventKind::RefusedScope, Refusal::KeyScope { scope: first.name() }))
    }

    fn has_budget(&self) -> bool {
        self.row.terms.tokens_per_day.is_some() || self.row.terms.dollars_per_day.is_some()
    }

    fn refusal_of_budget(&self, used: &KeyUsage, now: i64) -> Option<(KeyEventKind, Refusal)> {
        let terms = &self.row.terms;
        let tokens = terms.tokens_per_day.filter(|limit| used.tokens() >= *limit);
        let dollars = terms.dollars_per_day.filter(|limit| used.dollars >= *limit);
        let budget = match (tokens, dollars) {
            (Some(limit), _) => format!("{limit} tokens"),
            (None, Some(limit)) => format!("${limit}"),
            (None, None) => return None,
        };
        let seconds = u64::try_from((DAY - now.rem_euclid(DAY) + 999) / 1_000).unwrap_or(1);
        Some((KeyEventKind::RefusedBudget, Refusal::KeyBudget { budget, seconds }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_store::{KeyTerms, Limits};

    const NOW: i64 = 1_760_000_000_000;

    fn store(terms: KeyTerms) -> (Store, CredentialId, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s.db"), Limits::default()).unwrap();
        let id = CredentialId::of_key("k");
        store.add_client_key(NOW, id.key(), "one", terms).unwrap().unwrap();
        (store, id, folder)
    }

    fn generating() -> KeyTerms {
        KeyTerms { scopes: [KeyScope::Generate].into(), ..KeyTerms::default() }
    }

    fn name(checked: Result<(), Refusal>) -> &'static str {
        checked.map_or_else(|refusal| refusal.name(), |()| "fine")
    }

    #[test]
    fn a_budget_is_used_up_and_is_there_again_the_next_day() {
        let (store, id, _folder) = store(KeyTerms { tokens_per_day: Some(100), ..generating() });
        let keys = StoredKeys::default();
        keys.follow(Some(&store), NOW).unwrap();
        let generate = |now| keys.check(id, &[KeyScope::Generate], now);
        assert_eq!(generate(NOW), Ok(()));
        let usage = KeyUsage { requests: 1, tokens_in: 90, tokens_out: 10, dollars: 0.0 };
        assert_eq!(keys.book(id, &usage, NOW).as_deref(), Some("one"));
        let Err(Refusal::KeyBudget { seconds, .. }) = generate(NOW) else { panic!("known before it is written down") };
        let midnight = (NOW / DAY + 1) * DAY;
        assert_eq!(i64::try_from(seconds).unwrap(), (midnight - NOW) / 1_000);
        keys.synchronise(&store, NOW + 1).unwrap();
        assert_eq!(name(generate(NOW + 2)), "key_budget", "also after it is");
        let other = StoredKeys::default();
        other.follow(Some(&store), NOW + 3).unwrap();
        assert_eq!(name(other.check(id, &[KeyScope::Generate], NOW + 3)), "key_budget", "on another node");
        assert_eq!(generate(midnight), Ok(()), "also before the store was read again");
        keys.follow(Some(&store), midnight + 5).unwrap();
        assert_eq!(generate(midnight + 5), Ok(()));
        let kinds: Vec<_> = store.key_events(9).unwrap().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [KeyEventKind::RefusedBudget, KeyEventKind::Added], "one of several refusals in a minute");
    }

    #[test]
    fn requests_in_progress_count_until_they_end() {
        let (store, id, _folder) = store(KeyTerms { tokens_per_day: Some(100), ..generating() });
        let keys = Arc::new(StoredKeys::default());
        keys.follow(Some(&store), NOW).unwrap();
        let prompt = KeyUsage { tokens_in: 60, ..KeyUsage::default() };
        let first = keys.reserve(id, prompt, NOW).unwrap();
        let second = keys.reserve(id, prompt, NOW).unwrap();
        assert!(first.is_some() && second.is_some(), "one request may go beyond the budget");
        let third = keys.reserve(id, prompt, NOW).err();
        assert_eq!(third, Some(Refusal::KeyBudgetTaken { budget: "100 tokens".into() }));
        drop(first);
        assert!(keys.reserve(id, prompt, NOW).is_ok());
        let other = keys.reserve(CredentialId::of_key("other"), prompt, NOW);
        assert!(other.is_ok_and(|none| none.is_none()), "no key of the store");
    }

    #[test]
    fn money_is_a_budget_too() {
        let (store, id, _folder) = store(KeyTerms { dollars_per_day: Some(0.5), ..generating() });
        let keys = StoredKeys::default();
        keys.follow(Some(&store), NOW).unwrap();
        keys.book(id, &KeyUsage { dollars: 0.4, ..KeyUsage::default() }, NOW);
        assert_eq!(keys.check(id, &[KeyScope::Generate], NOW), Ok(()));
        keys.book(id, &KeyUsage { dollars: 0.1, ..KeyUsage::default() }, NOW);
        assert_eq!(name(keys.check(id, &[KeyScope::Generate], NOW)), "key_budget");
    }

    #[test]
    fn a_key_ends_when_it_expires_or_is_revoked() {
        let (store, id, _folder) = store(KeyTerms { expires_at: Some(NOW + 10), ..generating() });
        let keys = StoredKeys::default();
        assert_eq!((keys.is_valid(id, NOW), keys.was_read()), (None, false));
        keys.follow(Some(&store), NOW).unwrap();
        let generate = |now| name(keys.check(id, &[KeyScope::Generate], now));
        assert_eq!((generate(NOW + 9), generate(NOW + 10)), ("fine", "key_expired"));
        store.revoke_client_key(NOW, "one").unwrap();
        keys.follow(Some(&store), NOW + 999).unwrap();
        assert_eq!(generate(NOW), "fine", "what was read last counts until it is read again");
        keys.follow(Some(&store), NOW + 1_000).unwrap();
        assert_eq!((generate(NOW), keys.is_valid(id, NOW)), ("key_revoked", Some(false)));
    }

    #[test]
    fn a_scope_is_not_another() {
        let (store, id, _folder) = store(generating());
        let keys = StoredKeys::default();
        keys.follow(Some(&store), NOW).unwrap();
        assert_eq!(name(keys.check(id, &[KeyScope::Recall, KeyScope::Operator], NOW)), "key_scope");
        assert_eq!(keys.grants(id, KeyScope::Operator, NOW), Some(false));
        assert_eq!(keys.check(CredentialId::of_key("other"), &[KeyScope::Recall], NOW), Ok(()), "not ours to refuse");
    }

    #[test]
    fn usage_that_could_not_be_written_is_written_later() {
        let (store, id, folder) = store(generating());
        let keys = StoredKeys::default();
        keys.follow(Some(&store), NOW).unwrap();
        keys.book(id, &KeyUsage { requests: 1, tokens_in: 7, ..KeyUsage::default() }, NOW);
        drop(store);
        let path = folder.path().join("s.db");
        let brief = Limits { wait: std::time::Duration::from_millis(10), ..Limits::default() };
        let store = Store::open(&path, brief).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(keys.synchronise(&store, NOW).is_err());
        other.execute_batch("COMMIT").unwrap();
        keys.synchronise(&store, NOW).unwrap();
        assert_eq!(store.key_usage(0).unwrap()[0].usage.tokens_in, 7);
    }
}
