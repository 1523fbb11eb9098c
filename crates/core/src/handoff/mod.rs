//! The handoff: the structured record that stands for folded messages.

mod frame;
mod latest;
mod lookalike;
mod quote;
mod render;
mod select;

pub use crate::inserted::{
    CLOSING, HandoffLine, Maker, OPENING, Record, Section, asks_for_handoff, handoff_part, is_handoff, is_handoff_text,
    is_only_handoff, originals, own_words, recall, record, record_in, root,
};
pub use frame::{Fill, Frame, Standing};
pub use latest::latest;
pub use render::{Handoff, Turns, tell, write};
pub use select::MODEL_SHARE;
pub(crate) use select::in_turn;
