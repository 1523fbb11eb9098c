//! Trajectories for training: a conversation without what compactors put into it, or with a label on it, in the
//! form that trainers read.
//!
//! A model that is trained on handoffs and placeholders learns to write them. What is synthetic is known by its
//! marks, ours and those of other compactors ([`synthetic`]), and is dropped or labelled in the document itself
//! ([`clean`]); everything else keeps its bytes. [`convert`] writes the result as ShareGPT turns or Chat messages.

mod clean;
mod convert;
mod mark;
mod sharegpt;
mod turn;

#[cfg(test)]
mod tests;

pub use clean::{Cleaned, Synthetic, clean};
pub use convert::{Labels, Target, convert};
pub use mark::{Artefact, synthetic};
