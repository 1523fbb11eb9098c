//! The handoff: the structured record that stands for folded messages.

mod foreign;
mod frame;
mod lookalike;
mod mark;
mod previous;
mod quote;
mod render;
mod section;
mod select;

pub(crate) use foreign::RECAP;
pub use frame::{Frame, Standing};
pub(crate) use mark::around;
pub use mark::{
    CLOSING, Maker, OPENING, Record, asks_for_handoff, handoff_part, is_handoff, is_handoff_text, is_only_handoff,
    originals, own_words, record, record_in, root,
};
pub(crate) use previous::IN_SHORT;
pub use previous::{Line, recall};
pub use render::{Handoff, tell, write};
pub use section::Section;
