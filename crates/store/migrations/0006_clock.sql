-- The time as far as it is believed: a clock that is far ahead for a while must not make everything old.
ALTER TABLE totals ADD COLUMN seen_at INTEGER;  -- milliseconds since 1970; none before the first write
ALTER TABLE totals ADD COLUMN leapt_at INTEGER; -- likewise; when the clock first was too far ahead of that

UPDATE totals SET seen_at = (SELECT max(at) FROM (
    SELECT max(used_at) AS at FROM originals UNION ALL SELECT max(used_at) FROM checkpoints
));
