-- Keys of clients of the gateway, by their digests, and what each used per day. The keys themselves are nowhere.
CREATE TABLE client_keys (
    digest          BLOB    PRIMARY KEY CHECK (length(digest) = 32),
    name            TEXT    NOT NULL,
    scopes          TEXT    NOT NULL, -- names, with spaces between them
    upstream        TEXT    NOT NULL, -- `provider=VARIABLE`, with spaces between them
    expires_at      INTEGER,
    tokens_per_day  INTEGER,
    dollars_per_day REAL,
    created_at      INTEGER NOT NULL,
    revoked_at      INTEGER,
    used_at         INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX client_keys_by_name ON client_keys (name) WHERE revoked_at IS NULL;

-- Days are counted from 1970, in UTC.
CREATE TABLE key_usage (
    digest     BLOB    NOT NULL,
    day        INTEGER NOT NULL,
    requests   INTEGER NOT NULL,
    tokens_in  INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    dollars    REAL    NOT NULL,
    PRIMARY KEY (digest, day)
) WITHOUT ROWID;
CREATE INDEX key_usage_by_day ON key_usage (day);

CREATE TABLE key_events (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    at   INTEGER NOT NULL,
    name TEXT    NOT NULL,
    kind TEXT    NOT NULL
);
