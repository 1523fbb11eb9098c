-- Keys of clients of the gateway, by their digests, and what each used per day. The keys themselves are nowhere. Names
-- have no zero in them, so these are texts.
CREATE TABLE foldline.client_keys (
    digest          BYTEA  PRIMARY KEY CHECK (length(digest) = 32),
    name            TEXT   NOT NULL,
    scopes          TEXT   NOT NULL, -- names, with spaces between them
    upstream        TEXT   NOT NULL, -- `provider=VARIABLE`, with spaces between them
    expires_at      BIGINT,
    tokens_per_day  BIGINT,
    dollars_per_day DOUBLE PRECISION,
    created_at      BIGINT NOT NULL,
    revoked_at      BIGINT,
    used_at         BIGINT
);
CREATE UNIQUE INDEX client_keys_by_name ON foldline.client_keys (name) WHERE revoked_at IS NULL;

-- Days are counted from 1970, in UTC.
CREATE TABLE foldline.key_usage (
    digest     BYTEA  NOT NULL,
    day        BIGINT NOT NULL,
    requests   BIGINT NOT NULL,
    tokens_in  BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    dollars    DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (digest, day)
) WITH (fillfactor = 50);
CREATE INDEX key_usage_by_day ON foldline.key_usage (day);

CREATE TABLE foldline.key_events (
    id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at   BIGINT NOT NULL,
    name TEXT   NOT NULL,
    kind TEXT   NOT NULL
);
