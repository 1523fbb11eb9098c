-- Everything that a store keeps. Names and texts of callers are bytes: they may hold a zero, which a text here cannot.
-- Times are milliseconds since 1970. `sealed` says by number which key a row is encrypted with; 0 is none.

CREATE TABLE foldline.originals (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace  BYTEA  NOT NULL,
    digest     BYTEA  NOT NULL CHECK (length(digest) = 32),
    label      BYTEA  NOT NULL, -- the tool; where it is encrypted, behind the digest
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL, -- exact to the hour
    size       BIGINT NOT NULL, -- bytes of the text
    footprint  BIGINT NOT NULL, -- bytes it takes here, packed, with its rows
    sealed     BIGINT NOT NULL DEFAULT 0,
    parts      INTEGER,         -- parts that are in the index; NULL while it waits to be put there
    UNIQUE (namespace, digest)
);
CREATE INDEX originals_by_use ON foldline.originals (used_at, id);
CREATE INDEX originals_by_tenant ON foldline.originals (namespace, used_at, id);
CREATE INDEX originals_waiting ON foldline.originals (id) WHERE parts IS NULL;

-- The packed text in order. It is compressed already.
CREATE TABLE foldline.chunks (
    original BIGINT  NOT NULL REFERENCES foldline.originals (id) ON DELETE CASCADE,
    part     INTEGER NOT NULL,
    bytes    BYTEA   NOT NULL,
    PRIMARY KEY (original, part)
);
ALTER TABLE foldline.chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE foldline.tombstones (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace  BYTEA  NOT NULL,
    digest     BYTEA  NOT NULL CHECK (length(digest) = 32),
    label      BYTEA  NOT NULL DEFAULT '',
    expired_at BIGINT NOT NULL,
    why        TEXT   NOT NULL CHECK (why IN ('age', 'size')),
    sealed     BIGINT NOT NULL DEFAULT 0,
    UNIQUE (namespace, digest)
);
CREATE INDEX tombstones_by_time ON foldline.tombstones (expired_at);

CREATE TABLE foldline.checkpoints (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace  BYTEA  NOT NULL,
    key        BYTEA  NOT NULL CHECK (length(key) = 32),
    root       BYTEA  NOT NULL CHECK (length(root) = 32),
    position   BIGINT NOT NULL,
    record     BYTEA  NOT NULL,
    size       BIGINT NOT NULL,
    bytes      BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL,
    sealed     BIGINT NOT NULL DEFAULT 0,
    session    BYTEA  NOT NULL DEFAULT '',
    UNIQUE (namespace, key)
);
ALTER TABLE foldline.checkpoints ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX checkpoints_by_root ON foldline.checkpoints (namespace, root, used_at);
CREATE INDEX checkpoints_by_use ON foldline.checkpoints (used_at, id);
CREATE INDEX checkpoints_by_tenant ON foldline.checkpoints (namespace, used_at, id);
CREATE INDEX checkpoints_by_session ON foldline.checkpoints (session);

CREATE TABLE foldline.sessions (
    id        BYTEA  PRIMARY KEY,
    namespace BYTEA  NOT NULL,
    last_at   BIGINT NOT NULL,
    record    BYTEA  NOT NULL,
    sealed    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_time ON foldline.sessions (last_at);
CREATE INDEX sessions_by_namespace ON foldline.sessions (namespace, last_at);

CREATE TABLE foldline.events (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session BYTEA  NOT NULL,
    at      BIGINT NOT NULL,
    record  BYTEA  NOT NULL,
    sealed  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX events_by_session ON foldline.events (session, id);
CREATE INDEX events_by_time ON foldline.events (at);

-- Which session removed an original.
CREATE TABLE foldline.removals (
    session  BYTEA  NOT NULL,
    original BIGINT NOT NULL REFERENCES foldline.originals (id) ON DELETE CASCADE,
    sealed   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (session, original)
);
CREATE INDEX removals_by_original ON foldline.removals (original);

-- Whose an object is that a provider keeps under a key that several clients share.
CREATE TABLE foldline.objects (
    key       BYTEA  PRIMARY KEY CHECK (length(key) = 32),
    namespace BYTEA  NOT NULL,
    made_at   BIGINT NOT NULL
);
CREATE INDEX objects_by_time ON foldline.objects (made_at);

-- What requests told about the windows of models.
CREATE TABLE foldline.windows (
    namespace BYTEA  NOT NULL,
    model     BYTEA  NOT NULL,
    record    BYTEA  NOT NULL,
    learnt_at BIGINT NOT NULL,
    PRIMARY KEY (namespace, model)
);
CREATE INDEX windows_by_time ON foldline.windows (learnt_at);

CREATE TABLE foldline.seals (
    id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key    BYTEA   NOT NULL UNIQUE CHECK (length(key) = 8),
    in_use BOOLEAN NOT NULL DEFAULT false
);

-- Who is folding a conversation, and until when. A node that is killed keeps nobody from folding for longer than that.
CREATE TABLE foldline.claims (
    namespace BYTEA  NOT NULL,
    root      BYTEA  NOT NULL CHECK (length(root) = 32),
    holder    BYTEA  NOT NULL CHECK (length(holder) = 16),
    until     BIGINT NOT NULL,
    PRIMARY KEY (namespace, root)
);
CREATE INDEX claims_by_time ON foldline.claims (until);

-- Which words stand in which part of which original: folded and split by us, each behind the number of its namespace.
CREATE TABLE foldline.namespaces (
    id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name BYTEA  NOT NULL UNIQUE
);
CREATE TABLE foldline.words (
    original BIGINT   NOT NULL REFERENCES foldline.originals (id) ON DELETE CASCADE,
    part     INTEGER  NOT NULL,
    words    TSVECTOR NOT NULL,
    PRIMARY KEY (original, part)
);
CREATE INDEX words_by_word ON foldline.words USING gin (words);
-- Words of a namespace are rare among all others, so the usual sample would know none of them.
ALTER TABLE foldline.words ALTER COLUMN words SET STATISTICS 1000;

-- One row: how often something was forgotten on request, and the time as far as it is believed.
CREATE TABLE foldline.totals (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    forgotten BIGINT  NOT NULL DEFAULT 0,
    seen_at   BIGINT,
    leapt_at  BIGINT
);
INSERT INTO foldline.totals (one) VALUES (1);

-- What each namespace has and takes, kept by triggers in the transaction that changes it. There is no sum over all of
-- them: writers of different namespaces would wait for each other.
CREATE TABLE foldline.tenants (
    namespace   BYTEA  PRIMARY KEY,
    count       BIGINT NOT NULL DEFAULT 0, -- originals
    size        BIGINT NOT NULL DEFAULT 0, -- bytes of their texts
    originals   BIGINT NOT NULL DEFAULT 0, -- bytes they take, packed, with their rows and words
    parts       BIGINT NOT NULL DEFAULT 0, -- parts of them in the index
    checkpoints BIGINT NOT NULL DEFAULT 0, -- bytes
    sessions    BIGINT NOT NULL DEFAULT 0, -- bytes
    tombstones  BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE FUNCTION foldline.note(
    whose BYTEA, count_ BIGINT, size_ BIGINT, originals_ BIGINT, parts_ BIGINT, checkpoints_ BIGINT, sessions_ BIGINT,
    tombstones_ BIGINT
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO foldline.tenants AS t
        (namespace, count, size, originals, parts, checkpoints, sessions, tombstones)
    VALUES (whose, count_, size_, originals_, parts_, checkpoints_, sessions_, tombstones_)
    ON CONFLICT (namespace) DO UPDATE SET
        count = t.count + count_, size = t.size + size_, originals = t.originals + originals_,
        parts = t.parts + parts_, checkpoints = t.checkpoints + checkpoints_, sessions = t.sessions + sessions_,
        tombstones = t.tombstones + tombstones_
$$;

CREATE FUNCTION foldline.originals_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM foldline.note(old.namespace, -1, -old.size, -old.footprint, -coalesce(old.parts, 0), 0, 0, 0);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM foldline.note(new.namespace, 1, new.size, new.footprint, coalesce(new.parts, 0), 0, 0, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER originals_change AFTER INSERT OR DELETE ON foldline.originals
    FOR EACH ROW EXECUTE FUNCTION foldline.originals_change();
CREATE TRIGGER originals_grow AFTER UPDATE OF size, footprint, parts, namespace ON foldline.originals
    FOR EACH ROW EXECUTE FUNCTION foldline.originals_change();

CREATE FUNCTION foldline.checkpoints_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM foldline.note(old.namespace, 0, 0, 0, 0, -length(old.bytes) - 256, 0, 0);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM foldline.note(new.namespace, 0, 0, 0, 0, length(new.bytes) + 256, 0, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER checkpoints_change AFTER INSERT OR DELETE ON foldline.checkpoints
    FOR EACH ROW EXECUTE FUNCTION foldline.checkpoints_change();
CREATE TRIGGER checkpoints_grow AFTER UPDATE OF bytes, namespace ON foldline.checkpoints
    FOR EACH ROW EXECUTE FUNCTION foldline.checkpoints_change();

CREATE FUNCTION foldline.sessions_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A session is rewritten every turn, mostly at the same length.
    IF TG_OP = 'UPDATE' AND length(old.record) = length(new.record) AND old.namespace = new.namespace THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        PERFORM foldline.note(old.namespace, 0, 0, 0, 0, 0, -length(old.record) - 256, 0);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM foldline.note(new.namespace, 0, 0, 0, 0, 0, length(new.record) + 256, 0);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER sessions_change AFTER INSERT OR DELETE ON foldline.sessions
    FOR EACH ROW EXECUTE FUNCTION foldline.sessions_change();
CREATE TRIGGER sessions_grow AFTER UPDATE OF record, namespace ON foldline.sessions
    FOR EACH ROW EXECUTE FUNCTION foldline.sessions_change();

CREATE FUNCTION foldline.tombstones_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM foldline.note(new.namespace, 0, 0, 0, 0, 0, 0, 1);
    ELSE
        PERFORM foldline.note(old.namespace, 0, 0, 0, 0, 0, 0, -1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tombstones_change AFTER INSERT OR DELETE ON foldline.tombstones
    FOR EACH ROW EXECUTE FUNCTION foldline.tombstones_change();
