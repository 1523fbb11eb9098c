//! HTTP in and out.
//!
//! - [`conversation`]: what a request becomes before it is forwarded. No HTTP.
//! - [`outbound`]: connections to providers.
//! - [`summariser`]: asks a model to write a handoff.
//! - [`serve`]: the gateway itself.

pub mod conversation;
pub mod outbound;
pub mod serve;
pub mod settings;
pub mod summariser;
