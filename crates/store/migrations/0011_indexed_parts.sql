-- How many parts of a namespace's originals are in the index, as PostgreSQL keeps it: a search weighs words by it, and
-- counting them takes longer the more there are.
ALTER TABLE tenants ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;

UPDATE tenants SET parts = (
    SELECT coalesce(sum(originals.parts), 0) FROM originals WHERE originals.namespace = tenants.namespace
);

CREATE TRIGGER originals_are_indexed AFTER UPDATE OF parts ON originals BEGIN
    UPDATE tenants SET parts = parts + coalesce(new.parts, 0) - coalesce(old.parts, 0) WHERE namespace = new.namespace;
END;
CREATE TRIGGER originals_take_their_parts AFTER DELETE ON originals WHEN old.parts > 0 BEGIN
    UPDATE tenants SET parts = parts - old.parts WHERE namespace = old.namespace;
END;
