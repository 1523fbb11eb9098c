-- What the gateway knows about conversations: what replaces their beginnings, how they stand, what happened.

-- What replaces the first messages of a conversation. The key is a chained digest of these messages as the
-- client sends them; the root is the digest after the first of them, so that one read finds all that may fit.
CREATE TABLE checkpoints (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    key        BLOB    NOT NULL CHECK (length(key) = 32),
    root       BLOB    NOT NULL CHECK (length(root) = 32),
    position   INTEGER NOT NULL, -- messages that it stands for
    record     TEXT    NOT NULL, -- facts about it, as JSON
    size       INTEGER NOT NULL, -- bytes of the text
    bytes      BLOB    NOT NULL, -- the text, packed
    created_at INTEGER NOT NULL, -- milliseconds since 1970
    used_at    INTEGER NOT NULL, -- likewise; exact to the hour
    UNIQUE (namespace, key)
) STRICT;

CREATE INDEX checkpoints_by_root ON checkpoints (namespace, root, used_at);
CREATE INDEX checkpoints_by_use ON checkpoints (used_at, id);

-- One row per session, rewritten as it goes on. Counts only.
CREATE TABLE sessions (
    id        TEXT    PRIMARY KEY,
    namespace TEXT    NOT NULL,
    last_at   INTEGER NOT NULL,
    record    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_time ON sessions (last_at);
CREATE INDEX sessions_by_namespace ON sessions (namespace, last_at);

-- What happened, turn by turn. Counts only.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    session TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    record  TEXT    NOT NULL
) STRICT;

CREATE INDEX events_by_session ON events (session, id);
CREATE INDEX events_by_time ON events (at);

-- Bytes of all checkpoints, kept in the transaction that changes them.
ALTER TABLE totals ADD COLUMN checkpoint_bytes INTEGER NOT NULL DEFAULT 0;
