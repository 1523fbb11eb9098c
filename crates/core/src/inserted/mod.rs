//! Text in a conversation that no person wrote: earlier handoffs, ours and those of other compactors, and what the host
//! of an agent adds to the user's turn. Found and read here, by everything that asks who says what.

mod foreign;
mod host;
mod mark;
mod previous;
mod section;
mod source;

pub(crate) use foreign::{MARKS as FOREIGN_MARKS, RECAP};
pub(crate) use host::{host_context, said, without_envelopes, without_reminders};
pub use mark::{
    CLOSING, Maker, OPENING, Record, asks_for_handoff, handoff_part, is_handoff, is_handoff_text, is_only_handoff,
    originals, own_words, record, record_in, root,
};
pub(crate) use mark::{NOTHING, ORIGINALS, ROOT, USERS_WORDS};
pub(crate) use previous::{GAP, IN_SHORT, SPEAKERS, STEP, UNDER, WORDLESS};
pub use previous::{HandoffLine, recall};
pub use section::Section;
pub use source::Source;
