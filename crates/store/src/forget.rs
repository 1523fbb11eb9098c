//! Deletion on request: what to delete, and what was deleted.

use crate::search::Whose;

/// What is to be forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Forget<'a> {
    /// Whose.
    pub whose: Whose<'a>,
    /// What of it.
    pub what: Forgotten<'a>,
}

/// What of somebody's is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten<'a> {
    /// One session: its record and events, its checkpoints, and the originals that no other session removed.
    Session(&'a str),
    /// Sessions whose last request came before a time, and what belongs to no session and was stored before it.
    Before(i64),
    /// All of it.
    All,
}

/// How thoroughly the file is cleaned afterwards. What was deleted is overwritten in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// Free room is given back; others read and write meanwhile.
    Gentle,
    /// The file is written anew, so that nothing is left either of what was deleted by releases that did not overwrite.
    /// Nobody else can write for a second per 100 MB or so.
    Thorough,
}

/// What went, or would go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Sessions.
    pub sessions: u64,
    /// Originals.
    pub originals: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Turns in the histories of sessions.
    pub events: u64,
}

/// What a change of keys did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rekeyed {
    /// Originals that were encrypted anew.
    pub originals: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Sessions.
    pub sessions: u64,
    /// What could not be opened, and was left as it is.
    pub damaged: u64,
    /// Keys that nothing is encrypted with any more.
    pub retired: u64,
}

impl Gone {
    /// Whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        self.sessions == 0 && self.originals == 0 && self.checkpoints == 0 && self.events == 0
    }
}
