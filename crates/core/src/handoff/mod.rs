//! The handoff: the structured record that stands for folded messages.

mod frame;
mod mark;
mod previous;
mod quote;
mod render;
mod section;
mod select;

pub use frame::{Frame, Standing};
pub use mark::{
    CLOSING, OPENING, handoff_part, is_handoff, is_handoff_text, is_only_handoff, originals, own_words, root, split,
};
pub(crate) use previous::IN_SHORT;
pub use previous::{Line, remember};
pub use render::{Handoff, record, write};
pub use section::Section;
