//! The handoff: the structured record that stands for folded messages.

mod frame;
mod mark;
mod previous;
mod render;
mod section;
mod select;

pub use frame::{Frame, Standing};
pub use mark::{CLOSING, OPENING, handoff_part, is_handoff, is_handoff_text, is_only_handoff, own_words, split};
pub use previous::{Remembered, remember};
pub use render::{Handoff, write};
pub use section::Section;
