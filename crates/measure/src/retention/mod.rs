//! Retention: how much of what an agent needs later survives a compaction.
//!
//! A session is cut at 60 % of its text ([`cut`]). The first part is compacted, by whoever is on trial. The
//! second part tells what was needed of it.
//!
//! **Name.** A whole token of letters, digits, `_`, `.`, `-` and `/` that is specific enough to be looked for:
//! - a *path* has slashes and is rooted, at least three deep, or has a component that is a file or a name; or is a
//!   word with a known file ending;
//! - a *hash* is at least seven lower-case hexadecimal digits, one of them a figure and one a letter, or a UUID;
//! - an *identifier* is a word of four letters or more, starting with a letter or `_`, with an underscore, a figure,
//!   a hump (`camelCase`) or an acronym with a tail (`HTTPServer`). A dotted or dashed word is read piece by piece.
//!
//! A path tells the paths it has in it: who reads `/srv/app/src/main.py` has read `/srv/app/src`, too.
//!
//! Plain words, numbers, product names with humps and the names of tools are no names.
//!
//! **Fact.** A name that the agent writes in the second part (its words and the values it hands to tools; not what
//! tools answer, not reasoning) before anybody else says it there, that occurs in the first part, and that
//! stood beside something on a line there.
//!
//! **Context.** What stands within twelve tokens of a name on the same line: other names, and words
//! of four letters or more that are no filler. Pieces of the name itself are none.
//!
//! **Kept.** A fact is kept when the compacted part has a line on which the whole name stands within twelve
//! tokens of something from its context. A bare list scores nothing: a line of three names or more with nothing but
//! white space, commas, quotes and bullets between them is no context, unless the first part has that very line.
//!
//! Everything is one pass over tokens and sets of hashes: linear in the text, whatever the text holds.

mod baseline;
mod cut;
mod exam;
mod page;
mod questions;
mod timeline;
mod token;

#[cfg(test)]
mod tests;

pub use baseline::{Baseline, baseline};
pub use cut::{Cut, SHARE, TooShort, cut};
pub use exam::{Exam, Fact, Score, Tally};
pub use page::{Block, Page, Voice};
pub use questions::{Question, Questions, QuestionsError, Told};
pub use timeline::Timeline;
pub use token::Class;
