-- Whose an object is that a provider keeps under a key that several clients share: a response, for one.
CREATE TABLE objects (
    key       BLOB    PRIMARY KEY CHECK (length(key) = 32), -- a digest of its name
    namespace TEXT    NOT NULL,
    made_at   INTEGER NOT NULL -- milliseconds since 1970
) STRICT, WITHOUT ROWID;

CREATE INDEX objects_by_time ON objects (made_at);
