//! What the host of an agent writes into the user's turn: memory files, the environment, skills, tools, notes of the
//! moment. None of it is what the user said. Some of it holds until a newer version comes: that is the host's standing
//! context, which outlives every fold word for word.

mod context;
mod envelope;
mod table;

pub(crate) use context::{host_context, said};
pub(crate) use envelope::{is_host_text, leading, without_envelopes, without_reminders};
