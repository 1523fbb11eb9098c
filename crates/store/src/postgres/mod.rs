//! Originals and conversations in PostgreSQL, for several gateways at once.
//!
//! Every call is one transaction or one statement, sent without a name and without anything that outlives it on the
//! connection, so a pooler in transaction mode may stand in between.

mod checkpoints;
mod client_keys;
mod connect;
mod expire;
mod fault;
mod forget;
mod migrate;
mod object_rows;
mod originals;
mod rekey;
mod seals;
mod search;
mod sessions;
mod sql;
mod transfer;
mod transfer_keys;

use crate::address::{Address, Digest};
use crate::backend::{Backend, Paged, Used};
use crate::conversation::{CheckpointEntry, EventRow, FoldClaim, Kept, Key, NewFold, Revise, SessionRow, WindowRow};
use crate::error::Fault;
use crate::forget::{Cleaning, Forget, Gone, Rekeyed};
use crate::keys::Keyring;
use crate::limits::Limits;
use crate::object_store::{Looked, ObjectName, Objects, Placed};
use crate::opening::{Absent, Opening};
use crate::original::{NewOriginal, Pruned, Stats, Stored};
use crate::rows::digests_of;
use crate::seal::Vault;
use crate::search::Search;
use crate::transfer::{Cursor, Record};
use crate::url::Url;
use crate::wait::Served;
use deadpool_postgres::{Object, Pool};
use foldline_core::reading::{Findings, Way};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio_postgres::{IsolationLevel, Transaction};

/// How long a statement of a request may take, at least. A server that takes longer is as good as none.
const SHORT: Duration = Duration::from_secs(2);
/// How long a step of other work may take.
const LONG: Duration = Duration::from_secs(600);
/// How often a transaction is tried that was in another's way.
const TRIES: u32 = 6;
/// Pauses between tries to connect meanwhile.
const BETWEEN_CONNECTIONS: Duration = Duration::from_millis(50);
/// Originals that a prune lets go in one transaction, so that others get their turn in between.
const CLEARED_PER_TURN: u32 = 1_000;

/// What a transaction sees of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sees {
    /// What was committed before each statement.
    Latest,
    /// What was committed before it began; it writes nothing.
    Snapshot,
}

/// A store in a PostgreSQL database.
#[derive(Debug)]
pub(crate) struct PostgresStore {
    place: PathBuf,
    limits: Limits,
    pool: Pool,
    vault: RwLock<Arc<Vault>>,
    objects: Arc<Objects>,
    /// Since when it does not answer.
    lost: Mutex<Option<Instant>>,
    /// Goes last: the connections end while it still runs.
    served: Served,
}

impl PostgresStore {
    pub(crate) fn connect(
        url: &Url,
        how: Opening,
        absent: Absent,
        objects: Arc<Objects>,
    ) -> Result<PostgresStore, Fault> {
        let Opening { limits, keys, originals: _ } = how;
        let served = Served::start("foldline-store")?;
        let pool = connect::pool(url, &limits)?;
        let place = url.shown();
        let (vault, lost) = (RwLock::default(), Mutex::default());
        let store = PostgresStore { place, limits, pool, vault, objects, lost, served };
        // Others may be preparing the database, and we wait for them.
        store.transact(LONG, Sees::Latest, async |transaction| migrate::migrate(transaction, absent).await)?;
        store.set_keys(keys)?;
        Ok(store)
    }

    fn short(&self) -> Duration {
        self.limits.wait.max(self.limits.restart).max(SHORT)
    }

    /// Does work in a transaction, again when it was in another's way or the connection was lost. Whether it was committed
    /// before that is not known then: originals and folds are found there already, sessions say what they have, and only
    /// events and the usage of keys of about a second are counted twice.
    fn transact<T>(
        &self,
        patience: Duration,
        sees: Sees,
        work: impl AsyncFn(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.tried(patience, async |client| {
            let builder = client.build_transaction();
            let builder = match sees {
                // Whatever the server's own choice is.
                Sees::Latest => builder.isolation_level(IsolationLevel::ReadCommitted),
                Sees::Snapshot => builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
            };
            let transaction = builder.start().await?;
            let done = work(&transaction).await?;
            transaction.commit().await?;
            Ok(done)
        })
    }

    /// Reads with one statement, or several that need not see the same moment.
    fn read<T>(&self, work: impl AsyncFn(&tokio_postgres::Client) -> Result<T, Fault>) -> Result<T, Fault> {
        self.tried(self.short(), async |client| work(client).await)
    }

    fn tried<T>(
        &self,
        patience: Duration,
        work: impl AsyncFn(&mut tokio_postgres::Client) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.served.wait(async {
            let mut tries = 0;
            loop {
                let mut connection = match self.pool.get().await.map_err(Fault::from) {
                    Err(Fault::Unreachable(_)) if self.may_be_back_soon() => {
                        tokio::time::sleep(BETWEEN_CONNECTIONS).await;
                        continue;
                    }
                    connection => connection?,
                };
                tries += 1;
                let done = tokio::time::timeout(patience, work(&mut connection)).await;
                match done {
                    Ok(Err(Fault::Locked(_))) if tries < TRIES => tokio::time::sleep(pause(tries)).await,
                    // The server went away and is perhaps back already. Each connection of the pool finds that out by itself.
                    Ok(Err(fault @ Fault::Unreachable(_))) => {
                        drop(Object::take(connection));
                        if !self.may_be_back_soon() {
                            return Err(fault);
                        }
                        tries -= 1;
                        tokio::time::sleep(BETWEEN_CONNECTIONS).await;
                    }
                    Ok(done) => {
                        self.answers();
                        return done;
                    }
                    Err(_) => {
                        // What it still does on the server ends with it.
                        drop(Object::take(connection));
                        return Err(Fault::Unreachable(format!("it took longer than {} s", patience.as_secs_f32())));
                    }
                }
            }
        })
    }
}

impl PostgresStore {
    fn lost(&self) -> MutexGuard<'_, Option<Instant>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it stopped to answer a moment ago: a restart takes about a second, and who waits for it notices nothing else.
    fn may_be_back_soon(&self) -> bool {
        self.lost().get_or_insert_with(Instant::now).elapsed() < self.limits.restart
    }

    fn answers(&self) {
        *self.lost() = None;
    }
}

/// A little longer each time, and not the same for all.
fn pause(tries: u32) -> Duration {
    let mut random = [0];
    let _same = crate::keys::random(&mut random);
    Duration::from_millis(u64::from(tries) * 2 + u64::from(random[0] % 8))
}

impl Backend for PostgresStore {
    fn place(&self) -> &Path {
        &self.place
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn vault(&self) -> Arc<Vault> {
        Arc::clone(&self.vault.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_keys(&self, keys: Keyring) -> Result<(), Fault> {
        let vault =
            self.transact(self.short(), Sees::Latest, async |transaction| seals::enter(transaction, &keys).await)?;
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(vault);
        Ok(())
    }

    fn probe(&self) -> Result<(), Fault> {
        self.transact(self.short(), Sees::Latest, async |transaction| {
            let sql = "UPDATE foldline.totals SET one = one";
            sql::change(transaction, sql, sql::values![]).await.map(drop)
        })
    }

    fn put(&self, now: i64, namespace: &str, originals: &[NewOriginal<'_>], placed: &Placed) -> Result<Stored, Fault> {
        let digests = digests_of(originals)?;
        if originals.is_empty() {
            return Ok(Stored::default());
        }
        let vault = self.vault();
        self.transact(self.patience_for(originals), Sees::Latest, async |transaction| {
            let how = (&*vault, &self.limits, now);
            let (stored, _) = originals::put(transaction, how, namespace, (originals, &digests), placed).await?;
            object_rows::unlink_unused(transaction, &placed.names()).await?;
            Ok(stored)
        })
    }

    fn get(&self, namespace: &str, address: &Address) -> Result<Looked, Fault> {
        let vault = self.vault();
        self.transact(self.short() * 4, Sees::Snapshot, async |snapshot| {
            originals::get(snapshot, &vault, namespace, address).await
        })
    }

    fn note_use(&self, now: i64, namespace: &str, digest: &Digest) -> Result<(), Fault> {
        let vault = self.vault();
        self.read(async |client| originals::note_use(client, &vault, now, namespace, digest).await)
    }

    fn namespaces(&self, address: &Address) -> Result<Vec<String>, Fault> {
        let vault = self.vault();
        self.read(async |client| originals::namespaces(client, &vault, address).await)
    }

    fn index(&self, most_bytes: u64) -> Result<u64, Fault> {
        let vault = self.vault();
        let mut done = 0;
        while done < most_bytes {
            let turn = self.transact(LONG, Sees::Latest, async |transaction| {
                search::index_some(transaction, &vault, &self.objects).await
            })?;
            if turn == 0 {
                break;
            }
            done += turn;
        }
        self.waiting()
    }

    fn waiting(&self) -> Result<u64, Fault> {
        self.read(async |client| search::waiting(client).await)
    }

    fn find(&self, search: &Search<'_>, way: &Way) -> Result<Findings, Fault> {
        let vault = self.vault();
        self.transact(self.short() * 10, Sees::Snapshot, async |snapshot| {
            search::find(snapshot, (&vault, &self.objects), search, way).await
        })
    }

    fn claim_fold(&self, now: i64, claim: &FoldClaim<'_>) -> Result<bool, Fault> {
        self.read(async |client| sessions::claim_fold(client, now, claim).await)
    }

    fn release_fold(&self, claim: &FoldClaim<'_>) -> Result<(), Fault> {
        self.read(async |client| sessions::release_fold(client, claim).await)
    }

    fn keep_fold(
        &self,
        now: i64,
        fold: &NewFold<'_>,
        revise: Option<Revise<'_>>,
        placed: &Placed,
    ) -> Result<Kept, Fault> {
        let vault = self.vault();
        self.transact(self.patience_for(fold.originals), Sees::Latest, async |transaction| {
            let kept = checkpoints::keep_fold(transaction, (&vault, &self.limits, now), fold, revise, placed).await?;
            object_rows::unlink_unused(transaction, &placed.names()).await?;
            Ok(kept)
        })
    }

    fn checkpoints(&self, namespace: &str, root: &Key, most: usize) -> Result<Vec<CheckpointEntry>, Fault> {
        let vault = self.vault();
        self.read(async |client| checkpoints::entries(client, &vault, namespace, root, most).await)
    }

    fn checkpoint_text(&self, namespace: &str, key: &Key) -> Result<Option<Used<String>>, Fault> {
        let vault = self.vault();
        self.read(async |client| checkpoints::text(client, &vault, namespace, key).await)
    }

    fn note_checkpoint_use(&self, now: i64, namespace: &str, key: &Key, used_at: i64) -> Result<(), Fault> {
        let vault = self.vault();
        self.read(async |client| checkpoints::note_use(client, &vault, now, namespace, key, used_at).await)
    }

    fn write(&self, now: i64, rows: (&[SessionRow], &[EventRow]), known: Option<u64>) -> Result<bool, Fault> {
        let vault = self.vault();
        self.transact(self.short(), Sees::Latest, async |transaction| {
            sessions::write(transaction, (&vault, &self.limits, now), rows, known).await
        })
    }

    fn revise_session(
        &self,
        _: i64,
        session: &SessionRow,
        revise: Revise<'_>,
        known: u64,
    ) -> Result<Option<SessionRow>, Fault> {
        let vault = self.vault();
        self.transact(self.short(), Sees::Latest, async |transaction| {
            sessions::revise_session(transaction, (&vault, &self.limits), session, revise, known).await
        })
    }

    fn session(&self, id: &str) -> Result<Option<SessionRow>, Fault> {
        let vault = self.vault();
        self.read(async |client| sessions::session(client, &vault, id).await)
    }

    fn sessions(&self, namespace: Option<&str>, most: usize) -> Result<Vec<SessionRow>, Fault> {
        let vault = self.vault();
        self.read(async |client| sessions::sessions(client, &vault, namespace, most).await)
    }

    fn events(&self, session: &str, most: usize) -> Result<Vec<EventRow>, Fault> {
        let vault = self.vault();
        self.read(async |client| sessions::events(client, &vault, session, most).await)
    }

    fn write_windows(&self, now: i64, rows: &[WindowRow]) -> Result<(), Fault> {
        self.transact(self.short(), Sees::Latest, async |transaction| {
            sessions::write_windows(transaction, &self.limits, now, rows).await
        })
    }

    fn window(&self, namespace: &str, model: &str) -> Result<Option<String>, Fault> {
        self.read(async |client| sessions::window(client, namespace, model).await)
    }

    fn claim(&self, now: i64, namespace: &str, object: &Key) -> Result<(), Fault> {
        self.transact(self.short(), Sees::Latest, async |transaction| {
            sessions::claim(transaction, &self.limits, now, namespace, object).await
        })
    }

    fn owner(&self, object: &Key) -> Result<Option<String>, Fault> {
        self.read(async |client| sessions::owner(client, object).await)
    }

    fn stats(&self) -> Result<Stats, Fault> {
        self.read(async |client| expire::stats(client).await)
    }

    fn prune(&self, now: i64) -> Result<Pruned, Fault> {
        let mut pruned = Pruned::default();
        loop {
            let turn = self.transact(LONG, Sees::Latest, async |transaction| {
                let batch = originals::Batch::new();
                let turn = expire::sweep(transaction, &self.limits, now, &batch, CLEARED_PER_TURN).await?;
                let sql = "DELETE FROM foldline.claims WHERE until <= $1";
                sql::change(transaction, sql, sql::values![now => INT8]).await?;
                if turn.aged == 0 && turn.forgotten == 0 {
                    expire::recount(transaction).await?;
                }
                Ok(turn)
            })?;
            pruned.aged += turn.aged;
            pruned.oversized += turn.oversized;
            pruned.freed_bytes += turn.freed_bytes;
            pruned.forgotten += turn.forgotten;
            if turn.aged == 0 && turn.forgotten == 0 {
                return Ok(pruned);
            }
        }
    }

    fn count_forgotten(&self, forget: &Forget<'_>) -> Result<Gone, Fault> {
        let vault = self.vault();
        self.transact(LONG, Sees::Snapshot, async |moment| forget::count(moment, &vault, forget).await)
    }

    fn forget(&self, forget: &Forget<'_>, cleaning: Cleaning) -> Result<Gone, Fault> {
        let vault = self.vault();
        let gone =
            self.transact(LONG, Sees::Latest, async |transaction| forget::forget(transaction, &vault, forget).await)?;
        match cleaning {
            // The server's own vacuum comes by within minutes.
            Cleaning::Gentle => {}
            Cleaning::Thorough => self.vacuum()?,
        }
        Ok(gone)
    }

    fn forgotten(&self) -> Result<u64, Fault> {
        self.read(async |client| {
            let row = sql::first(client, "SELECT forgotten FROM foldline.totals", sql::values![]).await?;
            row.map_or(Ok(0), |row| sql::int(&row, 0).map(crate::rows::whole))
        })
    }

    fn rekey(&self, tell: &mut dyn FnMut(u64)) -> Result<Rekeyed, Fault> {
        let vault = self.vault();
        let mut done = Rekeyed::default();
        for step in rekey::Step::ALL {
            let mut after = rekey::After::default();
            loop {
                let before = (after.clone(), done);
                let turn = self.transact(LONG, Sees::Latest, async |transaction| {
                    // From the same row again when a try was in another's way.
                    let (mut after, mut done) = before.clone();
                    let rows = rekey::turn(transaction, (&vault, &self.objects), step, &mut after, &mut done).await?;
                    Ok((rows, after, done))
                })?;
                let (rows, then, so_far) = turn;
                (after, done) = (then, so_far);
                if rows == 0 {
                    break;
                }
                tell(rows);
            }
        }
        done.retired = self.transact(LONG, Sees::Latest, async |transaction| {
            expire::recount(transaction).await?;
            seals::retire(transaction).await
        })?;
        self.vacuum()?;
        Ok(done)
    }

    fn outdated(&self) -> Result<u64, Fault> {
        let vault = self.vault();
        self.read(async |client| rekey::outdated(client, &vault).await)
    }

    fn check(&self) -> Result<Vec<String>, Fault> {
        self.transact(LONG, Sees::Snapshot, async |snapshot| {
            let sql = "SELECT count(*) FROM foldline.originals AS o
                        WHERE object IS NULL AND NOT EXISTS (SELECT 1 FROM foldline.chunks WHERE original = o.id)";
            let row = sql::first(snapshot, sql, sql::values![]).await?;
            let empty = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
            Ok(if empty > 0 { vec![format!("{empty} originals have no text")] } else { Vec::new() })
        })
    }

    fn vacuum(&self) -> Result<(), Fault> {
        // Not in a transaction: the server takes one for each table.
        self.tried(LONG, async |client| {
            for table in ["originals", "chunks", "words", "checkpoints", "sessions", "events", "removals", "tenants"] {
                client.batch_execute(&format!("VACUUM (ANALYZE) foldline.{table}")).await?;
            }
            Ok(())
        })
    }

    fn page(&self, after: &mut Cursor) -> Result<Vec<Paged>, Fault> {
        let before = after.clone();
        let (records, then) = self.transact(LONG, Sees::Snapshot, async |snapshot| {
            let mut after = before.clone();
            Ok((transfer::page(snapshot, &mut after).await?, after))
        })?;
        *after = then;
        Ok(records)
    }

    fn add(&self, records: &[Record], placed: &[Option<ObjectName>]) -> Result<u64, Fault> {
        self.transact(LONG, Sees::Latest, async |transaction| transfer::add(transaction, records, placed).await)
    }
}

impl PostgresStore {
    /// A large text takes its time on the wire.
    fn patience_for(&self, originals: &[NewOriginal<'_>]) -> Duration {
        const BYTES_PER_SECOND: u64 = 2 << 20;
        let bytes: u64 = originals.iter().map(|original| original.text.len() as u64).sum();
        self.short() + Duration::from_secs(bytes / BYTES_PER_SECOND)
    }
}
