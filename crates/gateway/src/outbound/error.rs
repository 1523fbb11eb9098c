//! Errors before a response arrives.

use hyper_util::client::legacy::Error as ClientError;
use std::error::Error;

/// Any error that a body may end with.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why there is no response. Messages name hosts and causes, never credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutboundError {
    /// A file with certificates could not be used.
    #[error("cannot use the certificate file {path}: {cause}")]
    Certificates {
        /// The file.
        path: String,
        /// What was wrong with it.
        cause: String,
    },
    /// The URL cannot be requested.
    #[error("{0}")]
    Address(String),
    /// No connection could be made.
    #[error("no connection: {0}")]
    Connect(String),
    /// A connection did not stand in time.
    #[error("no connection within {0:?}")]
    ConnectTimeout(std::time::Duration),
    /// The connection broke before the response.
    #[error("the connection broke: {0}")]
    Broken(String),
}

impl OutboundError {
    pub(super) fn of(error: ClientError) -> OutboundError {
        if let Some(late) = find::<TooLate>(&error) {
            return OutboundError::ConnectTimeout(late.0);
        }
        let causes = causes(&error);
        match error.is_connect() {
            true => OutboundError::Connect(causes),
            false => OutboundError::Broken(causes),
        }
    }

    /// Whether the request cannot have reached the server.
    pub fn is_connect(&self) -> bool {
        !matches!(self, OutboundError::Broken(_))
    }
}

/// A connection took too long.
#[derive(Debug, thiserror::Error)]
#[error("too late")]
pub(super) struct TooLate(pub std::time::Duration);

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The chain of causes without the outermost, which only says that the client failed.
fn causes(error: &dyn Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        // Layers that pass an error on repeat its words.
        if !words.last().is_some_and(|last| last.contains(&said)) {
            words.push(said);
        }
        next = cause.source();
    }
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}
