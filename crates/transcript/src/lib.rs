//! Foldline reads transcripts here.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod edit;
pub mod identity;
pub mod reasoning;
pub mod recall;
pub mod repair;
pub mod rewrite;
pub mod signature;
mod transcript;
pub mod validate;
pub mod wire;

pub use transcript::{
    Content, Exchanges, Format, Link, Message, Part, PartKind, Place, Reported, Role, Shape, Transcript,
};
