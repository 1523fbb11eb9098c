-- Texts that were removed from transcripts, and the memory of those that are gone.

-- One row per text and namespace. Texts are not shared between namespaces: neither the presence of a
-- text nor the time it takes to store it tells one client anything about another.
CREATE TABLE originals (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL DEFAULT '',
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    -- For people who look at the file. Lookups use ranges of `digest`, which serve any number of digits.
    handle     TEXT    GENERATED ALWAYS AS ('fl-' || lower(hex(substr(digest, 1, 6)))) VIRTUAL,
    tool       TEXT    NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL, -- milliseconds since 1970
    used_at    INTEGER NOT NULL, -- likewise; exact to the hour
    size       INTEGER NOT NULL, -- bytes of the text
    footprint  INTEGER NOT NULL, -- bytes it takes here, packed, with its rows
    sealed     INTEGER NOT NULL DEFAULT 0, -- 0: packed only; anything else: packed, then encrypted
    UNIQUE (namespace, digest)
) STRICT;

CREATE INDEX originals_by_use ON originals (used_at, id);

-- The packed text in order. Pieces keep memory bounded and lift the limit on the size of a value.
CREATE TABLE chunks (
    original INTEGER NOT NULL REFERENCES originals (id) ON DELETE CASCADE,
    part     INTEGER NOT NULL,
    bytes    BLOB    NOT NULL,
    PRIMARY KEY (original, part)
) STRICT;

-- What was here once: lets recall tell "expired" from "never seen".
CREATE TABLE tombstones (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT    NOT NULL,
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    expired_at INTEGER NOT NULL,
    why        TEXT    NOT NULL CHECK (why IN ('age', 'size')),
    UNIQUE (namespace, digest)
) STRICT;

CREATE INDEX tombstones_by_time ON tombstones (expired_at);

-- Running sums, one row: limits are checked without a scan.
CREATE TABLE totals (
    only       INTEGER PRIMARY KEY CHECK (only = 1),
    originals  INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    footprint  INTEGER NOT NULL,
    tombstones INTEGER NOT NULL
) STRICT;

INSERT INTO totals VALUES (1, 0, 0, 0, 0);
