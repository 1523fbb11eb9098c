-- What requests that were accepted and refused told about the windows of models.
CREATE TABLE windows (
    namespace TEXT    NOT NULL, -- who sent them
    model     TEXT    NOT NULL,
    record    TEXT    NOT NULL, -- JSON, counts only
    learnt_at INTEGER NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (namespace, model)
) STRICT, WITHOUT ROWID;

CREATE INDEX windows_by_time ON windows (learnt_at);
