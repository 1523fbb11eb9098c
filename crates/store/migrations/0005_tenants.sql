-- What each namespace takes, so that one of them cannot crowd out the others. Kept by triggers, in the transaction that
-- changes it, whoever writes.
CREATE TABLE tenants (
    namespace   TEXT    PRIMARY KEY,
    originals   INTEGER NOT NULL DEFAULT 0, -- bytes, packed, with their rows and words
    checkpoints INTEGER NOT NULL DEFAULT 0, -- likewise
    sessions    INTEGER NOT NULL DEFAULT 0  -- likewise
) STRICT, WITHOUT ROWID;

INSERT INTO tenants (namespace, originals, checkpoints, sessions)
SELECT namespace, sum(a), sum(b), sum(c) FROM (
    SELECT namespace, footprint AS a, 0 AS b, 0 AS c FROM originals
    UNION ALL SELECT namespace, 0, length(bytes) + 256, 0 FROM checkpoints
    UNION ALL SELECT namespace, 0, 0, length(record) + 256 FROM sessions
) GROUP BY namespace;

CREATE INDEX originals_by_tenant ON originals (namespace, used_at, id);
CREATE INDEX checkpoints_by_tenant ON checkpoints (namespace, used_at, id);

CREATE TRIGGER originals_come AFTER INSERT ON originals BEGIN
    INSERT INTO tenants (namespace, originals) VALUES (new.namespace, new.footprint)
    ON CONFLICT (namespace) DO UPDATE SET originals = originals + excluded.originals;
END;
CREATE TRIGGER originals_grow AFTER UPDATE OF footprint ON originals BEGIN
    UPDATE tenants SET originals = originals + new.footprint - old.footprint WHERE namespace = new.namespace;
END;
CREATE TRIGGER originals_go AFTER DELETE ON originals BEGIN
    UPDATE tenants SET originals = originals - old.footprint WHERE namespace = old.namespace;
END;

CREATE TRIGGER checkpoints_come AFTER INSERT ON checkpoints BEGIN
    INSERT INTO tenants (namespace, checkpoints) VALUES (new.namespace, length(new.bytes) + 256)
    ON CONFLICT (namespace) DO UPDATE SET checkpoints = checkpoints + excluded.checkpoints;
END;
CREATE TRIGGER checkpoints_grow AFTER UPDATE OF bytes ON checkpoints BEGIN
    UPDATE tenants SET checkpoints = checkpoints + length(new.bytes) - length(old.bytes) WHERE namespace = new.namespace;
END;
CREATE TRIGGER checkpoints_go AFTER DELETE ON checkpoints BEGIN
    UPDATE tenants SET checkpoints = checkpoints - length(old.bytes) - 256 WHERE namespace = old.namespace;
END;

CREATE TRIGGER sessions_come AFTER INSERT ON sessions BEGIN
    INSERT INTO tenants (namespace, sessions) VALUES (new.namespace, length(new.record) + 256)
    ON CONFLICT (namespace) DO UPDATE SET sessions = sessions + excluded.sessions;
END;
CREATE TRIGGER sessions_grow AFTER UPDATE OF record ON sessions BEGIN
    UPDATE tenants SET sessions = sessions + length(new.record) - length(old.record) WHERE namespace = new.namespace;
END;
CREATE TRIGGER sessions_go AFTER DELETE ON sessions BEGIN
    UPDATE tenants SET sessions = sessions - length(old.record) - 256 WHERE namespace = old.namespace;
END;
