-- Searching originals by words, and which session removed what.

-- Parts of the text that are in the index; NULL while it waits to be put there. The index follows the originals at a
-- moment when nobody waits for it: a fold is made while an agent waits.
ALTER TABLE originals ADD COLUMN parts INTEGER;

CREATE INDEX originals_waiting ON originals (id) WHERE parts IS NULL AND sealed = 0;

-- Which words stand in which part of which original. A row is a part: the number of the original times 2^20, plus the
-- number of the part. The words come folded and split by us, each with the number of its namespace before it, so that a
-- search does not even touch the entries of another namespace. Neither the text nor the order of its words is here:
-- what a reader sees comes from the originals.
CREATE VIRTUAL TABLE words USING fts5 (
    word, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

CREATE TRIGGER originals_leave_the_index AFTER DELETE ON originals WHEN old.parts > 0 BEGIN
    DELETE FROM words WHERE rowid BETWEEN old.id * 1048576 AND old.id * 1048576 + 1048575;
END;

CREATE TABLE namespaces (
    id   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL UNIQUE
) STRICT;

-- Which session removed an original. The same text may be removed in several.
CREATE TABLE removals (
    session  TEXT    NOT NULL,
    original INTEGER NOT NULL REFERENCES originals (id) ON DELETE CASCADE,
    PRIMARY KEY (session, original)
) STRICT, WITHOUT ROWID;

CREATE INDEX removals_by_original ON removals (original);
