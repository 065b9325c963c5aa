-- The key id that the last signature of a note names, in hexadecimal (C2SP signed-note); NULL where the note has no such signature. It is
-- a hint: whoever finds a note by it verifies the note.
CREATE FUNCTION note_key_hint(note text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN encode(substring(decode(substring(note FROM ' ([A-Za-z0-9+/]{8})[A-Za-z0-9+/]*={0,2}\n$'), 'base64') FOR 4), 'hex');

-- Of each log key that counts, the newest head from before an instant is found at once, however many a revoked key has signed since.
CREATE INDEX "checkpoints_of_key" ON "checkpoints"(note_key_hint("note"), "created_at", "tree_size");

-- Heads are looked for by time within a key alone. A kernel of the version before still finds them without this index, only not at once.
DROP INDEX "checkpoints_created_at_idx";
