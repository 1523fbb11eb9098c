//! What the driver says, as what is the matter with the store. Details of the server may hold values of rows; only its
//! message is told.

use crate::error::Fault;
use deadpool_postgres::{PoolError, TimeoutType};
use std::error::Error as _;
use std::io;
use std::time::Duration;
use tokio_postgres::error::SqlState;

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        let Some(told) = error.as_db_error() else {
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            return if error.is_closed() || error.source().is_some_and(|source| source.is::<io::Error>()) {
                Fault::Unreachable(why)
            } else if error.to_string().contains("connect") || error.to_string().contains("TLS") {
                Fault::Unreachable(format!("{error}: {why}"))
            } else {
                Fault::Other(format!("{error}: {why}"))
            };
        };
        let words = told.message().to_owned();
        let code = told.code();
        if *code == SqlState::INVALID_PASSWORD || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
            Fault::Login(words)
        } else if *code == SqlState::INVALID_CATALOG_NAME {
            Fault::NoDatabase
        } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
            Fault::Rights(words)
        } else if *code == SqlState::DISK_FULL {
            Fault::DiskFull
        } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            Fault::ReadOnly
        } else if is_collision(code) {
            Fault::Locked(Duration::ZERO)
        } else if is_going_away(code) {
            Fault::Unreachable(words)
        } else {
            Fault::Other(words)
        }
    }
}

/// Two transactions were in each other's way; the one that gave way may try again.
fn is_collision(code: &SqlState) -> bool {
    [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
        SqlState::LOCK_NOT_AVAILABLE,
    ]
    .contains(code)
}

/// The server ends the connection, or takes none at the moment.
fn is_going_away(code: &SqlState) -> bool {
    let class = code.code().get(..2);
    class == Some("57") || class == Some("08") || *code == SqlState::TOO_MANY_CONNECTIONS
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Fault {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(TimeoutType::Wait) => Fault::Locked(Duration::ZERO),
            PoolError::Timeout(_) => Fault::Unreachable("it does not answer in time".into()),
            other => Fault::Other(other.to_string()),
        }
    }
}
