//! What the gateway keeps about conversations: checkpoints, sessions, events. Records are the caller's
//! JSON; the store looks at none of it.

use crate::original::NewOriginal;
use std::fmt;

/// A chained digest of messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What replaces the first messages of a conversation.
#[derive(Clone, Copy)]
pub struct NewCheckpoint<'a> {
    /// The digest of the messages it stands for.
    pub key: Key,
    /// The digest of the first of them.
    pub root: Key,
    /// How many they are.
    pub position: u64,
    /// Facts about it.
    pub record: &'a str,
    /// What comes instead.
    pub text: &'a str,
}

/// Which of two checkpoints for the same messages counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// The one that was there: it may be in use.
    First,
    /// The one that comes: the other was refused, or somebody asked for another.
    Latest,
}

/// A fold as a whole: what it removed, what comes instead, and how the session stands after it.
#[derive(Clone, Copy)]
pub struct NewFold<'a> {
    /// Whose it is.
    pub namespace: &'a str,
    /// What was removed.
    pub originals: &'a [NewOriginal<'a>],
    /// What comes instead.
    pub checkpoint: NewCheckpoint<'a>,
    /// What to do about another one for the same messages.
    pub precedence: Precedence,
    /// How the session stands after it.
    pub session: &'a SessionRow,
}

/// The right to fold the beginning of a conversation. It ends by itself, so that a node that is killed keeps nobody from
/// folding.
#[derive(Clone, Copy, Debug)]
pub struct FoldClaim<'a> {
    /// Whose conversation.
    pub namespace: &'a str,
    /// Which one: the digest of its first message.
    pub root: Key,
    /// Who claims it: different for every node and every try.
    pub holder: [u8; 16],
    /// When it ends, in milliseconds since 1970.
    pub until: i64,
}

/// A checkpoint without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointEntry {
    /// The digest of the messages it stands for.
    pub key: Key,
    /// How many they are.
    pub position: u64,
    /// Facts about it.
    pub record: String,
}

/// What came of keeping a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is on the disk.
    Written,
    /// Another one for the same messages was there before and stays; nothing of this one was kept.
    Known,
}

/// A session as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub namespace: String,
    /// Its last request, in milliseconds since 1970.
    pub last_at: i64,
    /// Facts about it.
    pub record: String,
}

/// How a session stands, given how it stood when another node wrote it.
pub type Revise<'a> = &'a dyn Fn(&SessionRow) -> SessionRow;

/// What was learnt about the window of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowRow {
    /// Whose requests taught it.
    pub namespace: String,
    /// The model, as requests spell it.
    pub model: String,
    /// Facts about it; none when they turned out wrong.
    pub record: Option<String>,
}

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// The session.
    pub session: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Facts about it.
    pub record: String,
}
