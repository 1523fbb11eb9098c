//! Sessions and events, what was learnt about models, whose objects are, who is folding.

use super::expire::{believed, let_sessions_go};
use super::seals::use_key;
use super::sql::{all, change, first, int, text, values};
use crate::conversation::{EventRow, FoldClaim, Key, Revise, SessionRow, WindowRow};
use crate::error::Fault;
use crate::limits::{Limits, millis};
use crate::rows::{number, whole};
use crate::seal::{Scope, Vault, What};
use tokio_postgres::{GenericClient, Row, Transaction};

/// Events that are kept: some weeks of a busy gateway.
const MOST_EVENTS: i64 = 200_000;
/// The lock of whoever forgets: `Fold` and one.
pub(super) const FORGETTING: i64 = 0x466f_6c65;
/// Rows about models that are kept; clients may make up names.
const MOST_WINDOWS: i64 = 4_096;

/// Writes sessions and events. Where `known` says how often something was forgotten on request when they were taken down,
/// and it has been since, nothing is written.
pub(super) async fn write(
    transaction: &Transaction<'_>,
    (vault, limits, now): (&Vault, &Limits, i64),
    (sessions, events): (&[SessionRow], &[EventRow]),
    known: Option<u64>,
) -> Result<bool, Fault> {
    if sessions.is_empty() && events.is_empty() {
        return Ok(true);
    }
    if let Some(known) = known
        && forgotten(transaction).await? != Some(known)
    {
        return Ok(false);
    }
    use_key(transaction, vault).await?;
    // In one order on every node, so that no two wait for each other.
    let mut ordered: Vec<&SessionRow> = sessions.iter().collect();
    ordered.sort_by(|one, other| one.id.cmp(&other.id));
    for session in ordered {
        write_session(transaction, vault, session).await?;
    }
    let seal = vault.writing(Scope::Sessions);
    let (mut names, mut times, mut records) = (Vec::new(), Vec::new(), Vec::new());
    for event in events {
        let name = seal.name(&event.session)?;
        records.push(seal.text(What::Event(&name), &event.record)?.as_bytes().to_vec());
        names.push(name.into_bytes());
        times.push(event.at);
    }
    if !events.is_empty() {
        let sql = "INSERT INTO foldline.events (session, at, record, sealed)
                   SELECT session, at, record, $4 FROM unnest($1::bytea[], $2::int8[], $3::bytea[])
                       WITH ORDINALITY AS given (session, at, record, place) ORDER BY place";
        let given = values![
            names => BYTEA_ARRAY, times => INT8_ARRAY, records => BYTEA_ARRAY, seal.number() => INT8
        ];
        change(transaction, sql, given).await?;
    }
    let before = believed(transaction, limits, now).await?.saturating_sub(millis(limits.max_age));
    for sql in [
        "DELETE FROM foldline.sessions WHERE id IN (
             SELECT id FROM foldline.sessions WHERE last_at < $1 FOR UPDATE SKIP LOCKED)",
        "DELETE FROM foldline.events WHERE id IN (
             SELECT id FROM foldline.events WHERE at < $1 FOR UPDATE SKIP LOCKED)",
    ] {
        change(transaction, sql, values![before => INT8]).await?;
    }
    let sql = "DELETE FROM foldline.events WHERE id IN (
             SELECT id FROM foldline.events WHERE id <= (SELECT max(id) FROM foldline.events) - $1
                FOR UPDATE SKIP LOCKED)";
    change(transaction, sql, values![MOST_EVENTS => INT8]).await?;
    let_sessions_go(transaction, limits).await?;
    Ok(true)
}

/// How often something was forgotten on request. Whoever forgets waits for us, or we see that it was. The lock is none on a
/// row, which every turn on every node would write to.
async fn forgotten(transaction: &Transaction<'_>) -> Result<Option<u64>, Fault> {
    all(transaction, "SELECT pg_advisory_xact_lock_shared($1)", values![FORGETTING => INT8]).await?;
    let row = first(transaction, "SELECT forgotten FROM foldline.totals", values![]).await?;
    Ok(row.as_ref().map(|row| int(row, 0)).transpose()?.map(whole))
}

/// Writes a session, revised if one is there. Says what was written; nothing if something was forgotten on request.
pub(super) async fn revise_session(
    transaction: &Transaction<'_>,
    (vault, limits): (&Vault, &Limits),
    session: &SessionRow,
    revise: Revise<'_>,
    known: u64,
) -> Result<Option<SessionRow>, Fault> {
    if forgotten(transaction).await? != Some(known) {
        return Ok(None);
    }
    use_key(transaction, vault).await?;
    let revised = revised(transaction, vault, session, Some(revise)).await?;
    write_session(transaction, vault, &revised).await?;
    let_sessions_go(transaction, limits).await?;
    Ok(Some(revised))
}

/// A session as it is to be written, given what is there. From then on it is ours until the transaction ends.
pub(super) async fn revised(
    transaction: &Transaction<'_>,
    vault: &Vault,
    fresh: &SessionRow,
    revise: Option<Revise<'_>>,
) -> Result<SessionRow, Fault> {
    let Some(revise) = revise else { return Ok(fresh.clone()) };
    let names = names(vault, &fresh.id)?;
    let sql = format!("{COLUMNS} WHERE id = ANY($1) FOR UPDATE");
    if let Some(row) = first(transaction, &sql, values![names => BYTEA_ARRAY]).await? {
        return Ok(session_row(&row, vault)?.map_or_else(|| fresh.clone(), |there| revise(&there)));
    }
    // Two nodes may both find none. The row is a place to wait for each other.
    let name = vault.writing(Scope::Sessions).name(&fresh.id)?;
    let sql =
        "INSERT INTO foldline.sessions (id, namespace, last_at, record) VALUES ($1, $2, 0, '') ON CONFLICT DO NOTHING";
    let given = values![name.as_bytes() => BYTEA, fresh.namespace.as_bytes() => BYTEA];
    match change(transaction, sql, given).await? {
        1 => Ok(fresh.clone()),
        // Written by another meanwhile: begin anew.
        _ => Err(Fault::Locked(std::time::Duration::ZERO)),
    }
}

/// Writes one session inside a transaction.
pub(super) async fn write_session(
    transaction: &Transaction<'_>,
    vault: &Vault,
    session: &SessionRow,
) -> Result<(), Fault> {
    let names = vault.all(Scope::Sessions);
    // Under an earlier key it has another name.
    let earlier: Result<Vec<Vec<u8>>, Fault> =
        names.iter().skip(1).map(|seal| Ok(seal.name(&session.id)?.into_bytes())).collect();
    let earlier = earlier?;
    if !earlier.is_empty() {
        let sql = "DELETE FROM foldline.sessions WHERE id = ANY($1)";
        change(transaction, sql, values![earlier => BYTEA_ARRAY]).await?;
    }
    let name = vault.writing(Scope::Sessions).name(&session.id)?;
    let seal = vault.writing(Scope::Namespace(&session.namespace));
    let record = seal.text(What::Session(&name), &session.record)?;
    // What another node wrote about a later request stays.
    let sql = "INSERT INTO foldline.sessions AS s (id, namespace, last_at, record, sealed) VALUES ($1, $2, $3, $4, $5)
               ON CONFLICT (id) DO UPDATE
               SET last_at = excluded.last_at, record = excluded.record, sealed = excluded.sealed
                WHERE s.last_at <= excluded.last_at";
    let given = values![
        name.as_bytes() => BYTEA,
        session.namespace.as_bytes() => BYTEA,
        session.last_at => INT8,
        record.as_bytes() => BYTEA,
        seal.number() => INT8,
    ];
    change(transaction, sql, given).await.map(drop)
}

const COLUMNS: &str = "SELECT id, namespace, last_at, record, sealed FROM foldline.sessions";

/// One session.
pub(super) async fn session(client: &impl GenericClient, vault: &Vault, id: &str) -> Result<Option<SessionRow>, Fault> {
    let names = names(vault, id)?;
    let row = first(client, &format!("{COLUMNS} WHERE id = ANY($1)"), values![names => BYTEA_ARRAY]).await?;
    row.map_or(Ok(None), |row| session_row(&row, vault))
}

/// The names that a session may have, as bytes.
pub(super) fn names(vault: &Vault, session: &str) -> Result<Vec<Vec<u8>>, Fault> {
    vault.all(Scope::Sessions).iter().map(|seal| Ok(seal.name(session)?.into_bytes())).collect()
}

/// The latest sessions, newest first.
pub(super) async fn sessions(
    client: &impl GenericClient,
    vault: &Vault,
    namespace: Option<&str>,
    most: usize,
) -> Result<Vec<SessionRow>, Fault> {
    let most = number(most as u64);
    let rows = match namespace {
        Some(namespace) => {
            let sql = format!("{COLUMNS} WHERE namespace = $1 ORDER BY last_at DESC LIMIT $2");
            all(client, &sql, values![namespace.as_bytes() => BYTEA, most => INT8]).await?
        }
        None => all(client, &format!("{COLUMNS} ORDER BY last_at DESC LIMIT $1"), values![most => INT8]).await?,
    };
    let found: Result<Vec<_>, Fault> = rows.iter().map(|row| session_row(row, vault)).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// A session as it was given; `None` when it cannot be opened, which is as good as none: the next turn writes it anew.
pub(super) fn session_row(row: &Row, vault: &Vault) -> Result<Option<SessionRow>, Fault> {
    let (name, namespace, sealed) = (text(row, 0)?, text(row, 1)?, int(row, 4)?);
    let record = vault.of_row(sealed, Scope::Namespace(&namespace)).zip(Some(text(row, 3)?));
    let record = record.and_then(|(seal, record)| seal.open_text(What::Session(&name), record));
    let id = vault.of_row(sealed, Scope::Sessions).and_then(|seal| seal.open_name(name));
    let last_at = int(row, 2)?;
    Ok(id.zip(record).map(|(id, record)| SessionRow { id, namespace, last_at, record }))
}

/// The latest events of a session, newest first.
pub(super) async fn events(
    client: &impl GenericClient,
    vault: &Vault,
    session: &str,
    most: usize,
) -> Result<Vec<EventRow>, Fault> {
    let names = names(vault, session)?;
    let sql = "SELECT session, at, record, sealed FROM foldline.events
                WHERE session = ANY($1) ORDER BY id DESC LIMIT $2";
    let mut found = Vec::new();
    for row in all(client, sql, values![names => BYTEA_ARRAY, number(most as u64) => INT8]).await? {
        let (name, record) = (text(&row, 0)?, text(&row, 2)?);
        let seal = vault.of_row(int(&row, 3)?, Scope::Sessions);
        if let Some(record) = seal.and_then(|seal| seal.open_text(What::Event(&name), record)) {
            found.push(EventRow { session: session.to_owned(), at: int(&row, 1)?, record });
        }
    }
    Ok(found)
}

/// Writes down what was learnt about models, in the place of earlier rows; one without a record is forgotten.
pub(super) async fn write_windows(
    transaction: &Transaction<'_>,
    limits: &Limits,
    now: i64,
    rows: &[WindowRow],
) -> Result<(), Fault> {
    for WindowRow { namespace, model, record } in rows {
        let (namespace, model) = (namespace.as_bytes(), model.as_bytes());
        match record {
            Some(record) => {
                let sql = "INSERT INTO foldline.windows (namespace, model, record, learnt_at) VALUES ($1, $2, $3, $4)
                           ON CONFLICT (namespace, model)
                           DO UPDATE SET record = excluded.record, learnt_at = excluded.learnt_at";
                let given = values![namespace => BYTEA, model => BYTEA, record.as_bytes() => BYTEA, now => INT8];
                change(transaction, sql, given).await?
            }
            None => {
                let sql = "DELETE FROM foldline.windows WHERE namespace = $1 AND model = $2";
                change(transaction, sql, values![namespace => BYTEA, model => BYTEA]).await?
            }
        };
    }
    let before = believed(transaction, limits, now).await?.saturating_sub(millis(limits.max_age));
    change(transaction, "DELETE FROM foldline.windows WHERE learnt_at < $1", values![before => INT8]).await?;
    let sql = "DELETE FROM foldline.windows WHERE learnt_at < (
                   SELECT learnt_at FROM foldline.windows ORDER BY learnt_at DESC LIMIT 1 OFFSET $1)";
    change(transaction, sql, values![MOST_WINDOWS => INT8]).await.map(drop)
}

/// What is known about a model, for one namespace.
pub(super) async fn window(client: &impl GenericClient, namespace: &str, model: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT record FROM foldline.windows WHERE namespace = $1 AND model = $2";
    let row = first(client, sql, values![namespace.as_bytes() => BYTEA, model.as_bytes() => BYTEA]).await?;
    row.map(|row| text(&row, 0)).transpose()
}

/// Takes note of whose an object is. The first one who made it did.
pub(super) async fn claim(
    transaction: &Transaction<'_>,
    limits: &Limits,
    now: i64,
    namespace: &str,
    object: &Key,
) -> Result<(), Fault> {
    let sql = "INSERT INTO foldline.objects (key, namespace, made_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    let given = values![object.0.as_slice() => BYTEA, namespace.as_bytes() => BYTEA, now => INT8];
    change(transaction, sql, given).await?;
    let before = believed(transaction, limits, now).await?.saturating_sub(millis(limits.max_age));
    change(transaction, "DELETE FROM foldline.objects WHERE made_at < $1", values![before => INT8]).await.map(drop)
}

/// Whose an object is.
pub(super) async fn owner(client: &impl GenericClient, object: &Key) -> Result<Option<String>, Fault> {
    let sql = "SELECT namespace FROM foldline.objects WHERE key = $1";
    let row = first(client, sql, values![object.0.as_slice() => BYTEA]).await?;
    row.map(|row| text(&row, 0)).transpose()
}

/// Takes the right to fold, unless somebody else has it. One statement: no lock outlives it.
pub(super) async fn claim_fold(client: &impl GenericClient, now: i64, claim: &FoldClaim<'_>) -> Result<bool, Fault> {
    let sql = "INSERT INTO foldline.claims AS c (namespace, root, holder, until) VALUES ($1, $2, $3, $4)
               ON CONFLICT (namespace, root) DO UPDATE SET holder = excluded.holder, until = excluded.until
                WHERE c.until <= $5 OR c.holder = excluded.holder";
    let given = values![
        claim.namespace.as_bytes() => BYTEA,
        claim.root.0.as_slice() => BYTEA,
        claim.holder.as_slice() => BYTEA,
        claim.until => INT8,
        now => INT8,
    ];
    Ok(change(client, sql, given).await? == 1)
}

/// Gives it back, and clears what nodes that were killed left behind.
pub(super) async fn release_fold(client: &impl GenericClient, claim: &FoldClaim<'_>) -> Result<(), Fault> {
    let sql = "DELETE FROM foldline.claims WHERE namespace = $1 AND root = $2 AND holder = $3";
    let given = values![
        claim.namespace.as_bytes() => BYTEA,
        claim.root.0.as_slice() => BYTEA,
        claim.holder.as_slice() => BYTEA,
    ];
    change(client, sql, given).await.map(drop)
}
