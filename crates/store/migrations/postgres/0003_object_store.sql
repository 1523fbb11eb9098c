-- Texts of originals that are in an object store beside the database.

-- The object that holds the packed text; none where it is in `chunks`. Every object belongs to one row, ever.
ALTER TABLE foldline.originals ADD COLUMN object BYTEA CHECK (length(object) = 32);
CREATE INDEX originals_by_object ON foldline.originals (object) WHERE object IS NOT NULL;

-- What keeps the objects of this store apart from those of others in the same place.
CREATE TABLE foldline.store_id (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  BYTEA   NOT NULL CHECK (length(id) = 16)
);
INSERT INTO foldline.store_id VALUES (1, uuid_send(gen_random_uuid()));

-- Objects that no row names any more, until they are deleted. Kept by a trigger, in the transaction that lets go of the
-- row, whichever node does: one that is killed before the object is deleted leaves this for the next one.
CREATE TABLE foldline.unlinked (object BYTEA PRIMARY KEY);

CREATE FUNCTION foldline.originals_unlink() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.object IS NOT NULL AND (TG_OP = 'DELETE' OR new.object IS DISTINCT FROM old.object) THEN
        INSERT INTO foldline.unlinked (object) VALUES (old.object) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER originals_unlink AFTER UPDATE OF object OR DELETE
    ON foldline.originals FOR EACH ROW EXECUTE FUNCTION foldline.originals_unlink();
