-- Encryption at rest, and forgetting. A row says by number which key it was sealed with; 0 is none. In sealed rows digests
-- and keys are keyed digests, and texts are encrypted and written as base64.

CREATE TABLE seals (
    id     INTEGER PRIMARY KEY,
    key    BLOB    NOT NULL UNIQUE CHECK (length(key) = 8), -- a digest that names the key
    in_use INTEGER NOT NULL DEFAULT 0 -- whether something may be sealed with it
) STRICT;

-- The digest and the tool of a sealed original; empty for others.
ALTER TABLE tombstones ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE tombstones ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE removals ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;

-- Sealed originals are in the index, too, by keyed digests of their words.
DROP INDEX originals_waiting;
CREATE INDEX originals_waiting ON originals (id) WHERE parts IS NULL;

-- The session that a checkpoint was made for, so that both are forgotten together. Earlier ones are known by the roots in
-- the records of sessions.
ALTER TABLE checkpoints ADD COLUMN session TEXT NOT NULL DEFAULT '';
CREATE TABLE roots AS
    SELECT namespace, sessions.id AS id, upper(lane.value ->> 'root') AS root
      FROM sessions, json_each(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.lanes') AS lane;
CREATE INDEX roots_by_name ON roots (root, namespace);
UPDATE checkpoints SET session = coalesce((
    SELECT id FROM roots WHERE root = hex(checkpoints.root) AND namespace = checkpoints.namespace LIMIT 1), '');
DROP TABLE roots;
CREATE INDEX checkpoints_by_session ON checkpoints (session);

-- How often something was forgotten on request: who holds copies in memory looks again when it changes.
ALTER TABLE totals ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
