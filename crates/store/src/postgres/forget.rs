//! Forgetting on request: what belongs together goes together, and leaves no memory of having been there. Rows are deleted;
//! the server overwrites where they stood when it vacuums.

use super::expire::recount;
use super::sessions::{FORGETTING, names};
use super::sql::{Value, all, change, first, int, values};
use crate::error::Fault;
use crate::forget::{Forget, Forgotten, Gone};
use crate::rows::whole;
use crate::seal::Vault;
use crate::search::Whose;
use tokio_postgres::Transaction;

/// Which rows go, as conditions on `$1` (names of the session, or a time) and `$2` (the namespace, or null).
struct Conditions {
    sessions: &'static str,
    originals: &'static str,
    checkpoints: &'static str,
    events: &'static str,
}

/// What belongs to a session, under any of its names. Somebody else's session is none.
const SESSION: Conditions = Conditions {
    sessions: "id = ANY($1) AND ($2::bytea IS NULL OR namespace = $2)",
    originals: "id IN (SELECT original FROM foldline.removals WHERE session = ANY($1))
        AND NOT EXISTS (SELECT 1 FROM foldline.removals WHERE original = o.id AND session <> ALL($1))
        AND ($2::bytea IS NULL OR namespace = $2)",
    checkpoints: "session = ANY($1) AND ($2::bytea IS NULL OR namespace = $2)",
    events: "session = ANY($1) AND ($2::bytea IS NULL OR session IN (
        SELECT id FROM foldline.sessions WHERE namespace = $2))",
};

/// What is older than a time and belongs to no session that went on after it.
const BEFORE: Conditions = Conditions {
    sessions: "last_at < $1 AND ($2::bytea IS NULL OR namespace = $2)",
    originals: "created_at < $1 AND ($2::bytea IS NULL OR namespace = $2)
        AND NOT EXISTS (SELECT 1 FROM foldline.removals JOIN foldline.sessions ON sessions.id = removals.session
                         WHERE original = o.id AND last_at >= $1)",
    checkpoints: "created_at < $1 AND ($2::bytea IS NULL OR namespace = $2)
        AND NOT EXISTS (SELECT 1 FROM foldline.sessions WHERE id = o.session AND last_at >= $1)",
    events: "at < $1 AND CASE WHEN $2::bytea IS NULL
            THEN NOT EXISTS (SELECT 1 FROM foldline.sessions WHERE id = o.session AND last_at >= $1)
            ELSE session IN (SELECT id FROM foldline.sessions WHERE namespace = $2 AND last_at < $1) END",
};

/// What a condition is about.
enum About {
    Names(Vec<Vec<u8>>),
    Time(i64),
}

impl About {
    fn value(&self) -> Value<'_> {
        match self {
            About::Names(names) => (names, tokio_postgres::types::Type::BYTEA_ARRAY),
            About::Time(time) => (time, tokio_postgres::types::Type::INT8),
        }
    }
}

fn meant(vault: &Vault, forget: &Forget<'_>) -> Result<(&'static Conditions, About), Fault> {
    Ok(match forget.what {
        Forgotten::Session(id) => (&SESSION, About::Names(names(vault, id)?)),
        Forgotten::Before(time) => (&BEFORE, About::Time(time)),
        Forgotten::All => (&BEFORE, About::Time(i64::MAX)),
    })
}

fn whose<'a>(forget: &Forget<'a>) -> Option<&'a [u8]> {
    match forget.whose {
        Whose::Namespace(name) => Some(name.as_bytes()),
        Whose::Everybody => None,
    }
}

/// Counts what would go.
pub(super) async fn count(moment: &Transaction<'_>, vault: &Vault, forget: &Forget<'_>) -> Result<Gone, Fault> {
    let (conditions, about) = meant(vault, forget)?;
    let Conditions { sessions, originals, checkpoints, events } = conditions;
    let sql = format!(
        "SELECT (SELECT count(*) FROM foldline.sessions AS o WHERE {sessions}),
                (SELECT count(*) FROM foldline.originals AS o WHERE {originals}),
                (SELECT coalesce(sum(size), 0)::int8 FROM foldline.originals AS o WHERE {originals}),
                (SELECT count(*) FROM foldline.checkpoints AS o WHERE {checkpoints}),
                (SELECT count(*) FROM foldline.events AS o WHERE {events})"
    );
    let namespace = whose(forget);
    let given = [about.value(), (&namespace as _, tokio_postgres::types::Type::BYTEA)];
    let Some(row) = first(moment, &sql, &given).await? else { return Ok(Gone::default()) };
    let sum = |column| int(&row, column).map(whole);
    Ok(Gone { sessions: sum(0)?, originals: sum(1)?, text_bytes: sum(2)?, checkpoints: sum(3)?, events: sum(4)? })
}

/// Deletes it, with the note that something was forgotten: who still holds a copy in memory finds the note before it
/// writes the copy down.
pub(super) async fn forget(transaction: &Transaction<'_>, vault: &Vault, forget: &Forget<'_>) -> Result<Gone, Fault> {
    // First: writers of copies wait from here on, and see afterwards that something was forgotten.
    all(transaction, "SELECT pg_advisory_xact_lock($1)", values![FORGETTING => INT8]).await?;
    change(transaction, "UPDATE foldline.totals SET forgotten = forgotten + 1", values![]).await?;
    let gone = count(transaction, vault, forget).await?;
    let (conditions, about) = meant(vault, forget)?;
    let namespace = whose(forget);
    let given = [about.value(), (&namespace as _, tokio_postgres::types::Type::BYTEA)];
    for (table, condition) in
        [("originals", conditions.originals), ("checkpoints", conditions.checkpoints), ("events", conditions.events)]
    {
        change(transaction, &format!("DELETE FROM foldline.{table} AS o WHERE {condition}"), &given).await?;
    }
    // Sessions go last: until then it is known what belongs to them. What else one removed stays with the others that
    // removed it, but not the memory of this one.
    let sql = format!(
        "WITH gone AS (DELETE FROM foldline.sessions AS o WHERE {} RETURNING id)
         DELETE FROM foldline.removals WHERE session IN (SELECT id FROM gone)",
        conditions.sessions
    );
    change(transaction, &sql, &given).await?;
    if let About::Time(_) = about {
        let sql = "DELETE FROM foldline.tombstones WHERE expired_at < $1 AND ($2::bytea IS NULL OR namespace = $2)";
        change(transaction, sql, &given).await?;
    }
    recount(transaction).await?;
    Ok(gone)
}
