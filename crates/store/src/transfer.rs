//! What is kept as records that any store takes in: one line of JSON each. What is encrypted stays encrypted, under the
//! same key, so neither side of a transfer needs one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// One thing that is kept, as it stands in the database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A text that was removed.
    Original {
        /// Whose it is.
        namespace: String,
        /// What it is found by.
        digest: Bytes,
        /// The tool; where it is encrypted, behind the digest.
        label: String,
        /// When it was stored.
        created_at: i64,
        /// When it was last used.
        used_at: i64,
        /// Bytes of the text.
        size: i64,
        /// The key it is encrypted with, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Bytes>,
        /// The packed text.
        pieces: Vec<Bytes>,
        /// Sessions that removed it.
        sessions: Vec<Removal>,
    },
    /// The memory of a text that is gone.
    Tombstone {
        /// Whose it was.
        namespace: String,
        /// What it was found by.
        digest: Bytes,
        /// The tool; where it is encrypted, behind the digest.
        label: String,
        /// When it went.
        expired_at: i64,
        /// Why.
        why: String,
        /// The key it is encrypted with, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Bytes>,
    },
    /// What replaces the beginning of a conversation.
    Checkpoint {
        /// Whose it is.
        namespace: String,
        /// What it is found by.
        id: Bytes,
        /// What all of a conversation are found by.
        root: Bytes,
        /// Messages that it stands for.
        position: i64,
        /// Facts about it.
        record: String,
        /// Bytes of the text.
        size: i64,
        /// The packed text.
        bytes: Bytes,
        /// When it was made.
        created_at: i64,
        /// When it was last used.
        used_at: i64,
        /// The session that it was made for.
        session: String,
        /// The key it is encrypted with, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Bytes>,
    },
    /// A session as it stands.
    Session {
        /// Its name.
        id: String,
        /// Whose it is.
        namespace: String,
        /// Its last request.
        last_at: i64,
        /// Facts about it.
        record: String,
        /// The key it is encrypted with, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Bytes>,
    },
    /// Something that happened in a session.
    Event {
        /// The session.
        session: String,
        /// When.
        at: i64,
        /// Facts about it.
        record: String,
        /// The key it is encrypted with, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Bytes>,
    },
    /// What was learnt about the window of a model.
    Window {
        /// Whose requests taught it.
        namespace: String,
        /// The model.
        model: String,
        /// Facts about it.
        record: String,
        /// When.
        learnt_at: i64,
    },
    /// Whose an object is that a provider keeps.
    Object {
        /// The digest of its name.
        id: Bytes,
        /// Whose it is.
        namespace: String,
        /// When it was made.
        made_at: i64,
    },
    /// A key of a client.
    ClientKey {
        /// The digest of the key.
        digest: Bytes,
        /// What people call it.
        name: String,
        /// What it may be used for.
        scopes: String,
        /// Providers, and the variables that hold their keys.
        upstream: String,
        /// When it ends.
        expires_at: Option<i64>,
        /// Tokens per day.
        tokens_per_day: Option<i64>,
        /// Dollars per day.
        dollars_per_day: Option<f64>,
        /// When it was added.
        created_at: i64,
        /// When it was revoked.
        revoked_at: Option<i64>,
        /// When it was last used.
        used_at: Option<i64>,
    },
    /// What a key used on a day.
    KeyUsage {
        /// The digest of the key.
        digest: Bytes,
        /// The day.
        day: i64,
        /// Requests.
        requests: i64,
        /// Tokens of prompts.
        tokens_in: i64,
        /// Tokens of replies.
        tokens_out: i64,
        /// Dollars.
        dollars: f64,
    },
    /// Something that happened to a key.
    KeyEvent {
        /// When.
        at: i64,
        /// The name of the key.
        name: String,
        /// What.
        event: String,
    },
}

/// A session that removed an original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// Its name.
    pub session: String,
    /// The key that the name is encrypted with, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Bytes>,
}

/// Bytes, in base64 where they are written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> String {
        STANDARD.encode(bytes.0)
    }
}

impl TryFrom<String> for Bytes {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Bytes, base64::DecodeError> {
        STANDARD.decode(text).map(Bytes)
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// What a record is of, in the order in which they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Texts that were removed.
    #[default]
    Originals,
    /// Memories of those that are gone.
    Tombstones,
    /// What replaces beginnings.
    Checkpoints,
    /// Sessions.
    Sessions,
    /// What happened in them.
    Events,
    /// What was learnt about models.
    Windows,
    /// Whose objects are.
    Objects,
    /// Keys of clients.
    ClientKeys,
    /// What they used.
    KeyUsage,
    /// What happened to them.
    KeyEvents,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Originals,
        Kind::Tombstones,
        Kind::Checkpoints,
        Kind::Sessions,
        Kind::Events,
        Kind::Windows,
        Kind::Objects,
        Kind::ClientKeys,
        Kind::KeyUsage,
        Kind::KeyEvents,
    ];
}

/// How far a reader of records has come.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    pub(crate) kind: Kind,
    /// The last row, where rows have numbers.
    pub(crate) row: i64,
    /// The last name, where they have none.
    pub(crate) name: Vec<u8>,
    /// Originals that were left out.
    pub(crate) lost: u64,
}

impl Cursor {
    /// Originals that were left out because the object with their text is missing.
    pub fn left_out(&self) -> u64 {
        self.lost
    }

    /// On to the next kind; false when there is none.
    pub(crate) fn next_kind(&mut self) -> bool {
        let next = Kind::ALL.into_iter().find(|kind| *kind > self.kind);
        *self = Cursor { kind: next.unwrap_or(self.kind), lost: self.lost, ..Cursor::default() };
        if next.is_none() {
            self.row = i64::MAX;
        }
        next.is_some()
    }
}

/// A line that is no record.
#[derive(Debug, thiserror::Error)]
#[error("is no record of a store: {0}")]
pub struct ReadError(#[from] serde_json::Error);

impl Record {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Record, ReadError> {
        Ok(serde_json::from_str(line)?)
    }

    /// Bytes it takes in memory, about.
    pub fn weight(&self) -> usize {
        let held = match self {
            Record::Original { pieces, .. } => pieces.iter().map(|piece| piece.0.len()).sum(),
            Record::Checkpoint { bytes, .. } => bytes.0.len(),
            Record::Session { record, .. } | Record::Event { record, .. } => record.len(),
            Record::Tombstone { .. }
            | Record::Window { .. }
            | Record::Object { .. }
            | Record::ClientKey { .. }
            | Record::KeyUsage { .. }
            | Record::KeyEvent { .. } => 0,
        };
        held + 256
    }
}

impl std::fmt::Display for Record {
    /// As one line of JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}
