-- The epoch of the controls is a random mark and no longer a count. After a failover to a standby that lags, or a restore, a count comes
-- again for other controls, and a kernel that remembers the lost ones would decide on them. 48 bits are exact in JavaScript.
CREATE OR REPLACE FUNCTION move_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_controls(true);
  UPDATE controls SET epoch = ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint WHERE id = 1;
  RETURN NULL;
END $$;
-- The count that this database has reached may exist elsewhere too.
UPDATE "controls" SET "epoch" = ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint WHERE "id" = 1;

-- The history of the server. PostgreSQL begins a new timeline with each promotion of a standby and each recovery to a point in time.
CREATE FUNCTION timeline() RETURNS text LANGUAGE sql AS $$ SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) $$;

-- Refuses a batch that was decided on rows of another timeline: revisions of budgets and fences are counts, which come again there.
CREATE FUNCTION hold_append(dated timestamptz, skew_max interval, keys text[], issued timestamptz[], read_on text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM hold_append(dated, skew_max, keys, issued);
  IF timeline() IS DISTINCT FROM read_on THEN PERFORM refuse_stale('timeline'); END IF;
END $$;
