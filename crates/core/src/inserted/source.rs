//! Where a passage of a handoff comes from.

use super::foreign::RECAP;
use super::previous::IN_SHORT;

/// Where a passage comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// What the user said.
    User,
    /// What the user pasted: the later paragraphs of a long message.
    Pasted,
    /// The assistant's last words before the user speaks again.
    Answer,
    /// Its words in the middle of work, where it explains.
    Explanation,
    /// Its words in the middle of work, where it says what comes next.
    Narration,
    /// What another agent reported.
    Report,
    /// What an edit changed.
    Edit,
    /// The definitions and constants of what was written to a file.
    Outline,
    /// What else was written to a file.
    Written,
    /// What was written to a document: a plan, notes.
    Document,
    /// A command.
    Command,
    /// What a command or tool printed.
    Output,
    /// What a file said when it was read.
    Read,
    /// Arguments of a call that is none of these.
    Arguments,
}

impl Source {
    /// All sources.
    pub const ALL: [Source; 14] = [
        Source::User,
        Source::Pasted,
        Source::Answer,
        Source::Explanation,
        Source::Narration,
        Source::Report,
        Source::Edit,
        Source::Outline,
        Source::Written,
        Source::Document,
        Source::Command,
        Source::Output,
        Source::Read,
        Source::Arguments,
    ];
}

/// The source of a step by its heading, as a handoff writes it.
pub(super) fn source_of(title: &str) -> Source {
    let is = |word: &str| title.starts_with(word);
    match () {
        () if is("Assistant:") || is(RECAP) || is(IN_SHORT) => Source::Answer,
        () if is("User") => Source::User,
        () if is("EDIT ") => Source::Edit,
        () if is("WRITE ") => Source::Document,
        () if is("$ ") => Source::Output,
        () if is("AGENT ") || is("FETCH ") => Source::Report,
        () if is("SEARCH ") => Source::Read,
        () => Source::Arguments,
    }
}
