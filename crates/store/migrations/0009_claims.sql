-- Who is folding a conversation, and until when: one fold per beginning, also with several processes.
CREATE TABLE claims (
    namespace TEXT    NOT NULL,
    root      BLOB    NOT NULL CHECK (length(root) = 32),
    holder    BLOB    NOT NULL CHECK (length(holder) = 16),
    until     INTEGER NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (namespace, root)
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_by_time ON claims (until);
