//! What several test programs share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

pub mod case;
pub mod generate;
pub mod kit;
mod odd;
pub mod reading;
pub mod session;
pub mod texts;
pub mod writer;
