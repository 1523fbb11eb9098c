-- Texts of originals that are in an object store beside the file.

-- The object that holds the packed text; none where it is in `chunks`. Every object belongs to one row, ever.
ALTER TABLE originals ADD COLUMN object BLOB CHECK (object IS NULL OR length(object) = 32);
CREATE INDEX originals_by_object ON originals (object) WHERE object IS NOT NULL;

-- What keeps the objects of this store apart from those of others in the same place.
CREATE TABLE store_id (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id   BLOB    NOT NULL CHECK (length(id) = 16)
) STRICT;
INSERT INTO store_id VALUES (1, randomblob(16));

-- Objects that no row names any more, until they are deleted. Kept by triggers, in the transaction that lets go of the
-- row, whoever does: who is killed before the object is deleted leaves this for the next one.
CREATE TABLE unlinked (object BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TRIGGER originals_leave_their_object AFTER DELETE ON originals WHEN old.object IS NOT NULL BEGIN
    INSERT OR IGNORE INTO unlinked (object) VALUES (old.object);
END;
CREATE TRIGGER originals_change_their_object AFTER UPDATE OF object ON originals
    WHEN old.object IS NOT NULL AND old.object IS NOT new.object BEGIN
    INSERT OR IGNORE INTO unlinked (object) VALUES (old.object);
END;
