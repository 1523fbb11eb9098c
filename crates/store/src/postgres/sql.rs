//! Statements with the types of their values. They are sent unnamed and in one go, so they work behind a pooler that gives
//! every transaction another connection.

use crate::error::Fault;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{GenericClient, Row};

/// A value and its type.
pub(super) type Value<'v> = (&'v (dyn ToSql + Sync), Type);

/// Values of a statement: `values![name: BYTEA, now: INT8]`.
macro_rules! values {
    ($($value:expr => $kind:ident),* $(,)?) => {
        &[$((&$value as &(dyn tokio_postgres::types::ToSql + Sync), tokio_postgres::types::Type::$kind)),*]
    };
}
pub(super) use values;

pub(super) async fn all(client: &impl GenericClient, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
    Ok(client.query_typed(sql, values).await?)
}

pub(super) async fn first(client: &impl GenericClient, sql: &str, values: &[Value<'_>]) -> Result<Option<Row>, Fault> {
    Ok(client.query_typed(sql, values).await?.into_iter().next())
}

pub(super) async fn change(client: &impl GenericClient, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
    Ok(client.execute_typed(sql, values).await?)
}

/// A number of a row.
pub(super) fn int(row: &Row, column: usize) -> Result<i64, Fault> {
    Ok(row.try_get::<_, i64>(column)?)
}

pub(super) fn maybe_int(row: &Row, column: usize) -> Result<Option<i64>, Fault> {
    Ok(row.try_get::<_, Option<i64>>(column)?)
}

pub(super) fn bytes(row: &Row, column: usize) -> Result<Vec<u8>, Fault> {
    Ok(row.try_get::<_, Vec<u8>>(column)?)
}

/// A text that is kept as bytes.
pub(super) fn text(row: &Row, column: usize) -> Result<String, Fault> {
    String::from_utf8(bytes(row, column)?).map_err(|_| Fault::Corrupt("a name is not what was stored".into()))
}

/// A digest or a key of 32 bytes.
pub(super) fn digest(row: &Row, column: usize) -> Result<[u8; 32], Fault> {
    bytes(row, column)?.try_into().map_err(|_| Fault::Corrupt("a digest is not what was stored".into()))
}
