-- The functions of the ledger that no control changes. `ledger-functions.sql` begins with them; the functions of the controls and
-- `append` are generated behind them.

-- Commits share this lock. A change of controls holds it alone: it waits for commits that were decided without it, and every later
-- commit sees it. It is an advisory lock, since a row lock would write a tuple for each commit.
CREATE OR REPLACE FUNCTION lock_controls(alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF alone THEN
    PERFORM pg_advisory_xact_lock(7310593858020254331);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(7310593858020254331);
  END IF;
END $$;

-- The epoch is a random mark (ADR 0089). Triggers call this before their statement, so the controls are locked before their rows.
CREATE OR REPLACE FUNCTION move_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_controls(true);
  UPDATE controls SET epoch = ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint WHERE id = 1;
  RETURN NULL;
END $$;

-- The history of the server. PostgreSQL begins a new timeline with each promotion of a standby and each recovery to a point in time.
CREATE OR REPLACE FUNCTION timeline() RETURNS text LANGUAGE sql AS $$ SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) $$;

-- A version moved since the batch was decided. The kernel decides the batch again.
CREATE OR REPLACE FUNCTION refuse_stale(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'stale %', what USING ERRCODE = 'CS001';
END $$;

-- Rows of an unknown control would be missing behind a receipt that states them.
CREATE OR REPLACE FUNCTION refuse_unknown(what text, given jsonb, known text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF given - known <> '{}' THEN
    RAISE EXCEPTION 'append knows no % of %', what, (SELECT string_agg(name, ', ') FROM jsonb_object_keys(given - known) AS name);
  END IF;
END $$;

-- Rejects a batch that is dated far from the clock that all kernels share (ADR 0068). The detail is that clock, in milliseconds.
CREATE OR REPLACE FUNCTION hold_clock(dated timestamptz, skew_max interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  shared timestamptz := clock_timestamp();
BEGIN
  IF dated BETWEEN shared - skew_max AND shared + skew_max THEN RETURN; END IF;
  RAISE EXCEPTION 'far from the clock' USING ERRCODE = 'CS002', DETAIL = round(extract(epoch FROM shared) * 1000)::text;
END $$;

-- Rejects receipts of a key that does not count (ADR 0071). It runs before anything waits for a lock. The detail is the fault of the key.
CREATE OR REPLACE FUNCTION hold_append(dated timestamptz, skew_max interval, keys text[], issued timestamptz[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  fault text;
BEGIN
  PERFORM hold_clock(dated, skew_max);
  SELECT CASE WHEN known.key_id IS NULL THEN 'unknown'
              WHEN known.revoked_at IS NOT NULL OR ended.revoked_at IS NOT NULL THEN 'revoked'
              WHEN sealed.first < known.valid_from THEN 'early'
              WHEN sealed.last >= least(known.valid_until, ended.valid_until) THEN 'ended' END
    INTO fault
    FROM (SELECT s.key, min(s.at) AS first, max(s.at) AS last FROM unnest(keys, issued) AS s (key, at) GROUP BY s.key) AS sealed
    LEFT JOIN trust_keys known ON known.key_id = sealed.key AND known.purpose = 'receipts'
    LEFT JOIN trust_key_ends ended ON ended.key_id = sealed.key
   ORDER BY 1 LIMIT 1;
  IF fault IS NOT NULL THEN RAISE EXCEPTION 'a key does not count' USING ERRCODE = 'CS003', DETAIL = fault; END IF;
END $$;

-- Rejects a batch that was decided on another timeline as well: revisions of budgets and fences are counts, which repeat there.
CREATE OR REPLACE FUNCTION hold_append(dated timestamptz, skew_max interval, keys text[], issued timestamptz[], read_on text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM hold_append(dated, skew_max, keys, issued);
  IF timeline() IS DISTINCT FROM read_on THEN PERFORM refuse_stale('timeline'); END IF;
END $$;

-- Locks the heads of chains in the order of their keys. A missing head is inserted first, since only a row can be locked.
CREATE OR REPLACE FUNCTION lock_chains(tenants text[], sessions text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash)
  SELECT c.tenant_id, c.session_id, 0, '' FROM unnest(tenants, sessions) AS c(tenant_id, session_id) ORDER BY 1, 2
  ON CONFLICT DO NOTHING;
  PERFORM 1 FROM session_heads h JOIN unnest(tenants, sessions) AS c(tenant_id, session_id) USING (tenant_id, session_id)
    ORDER BY h.tenant_id, h.session_id FOR UPDATE OF h;
END $$;

-- Moves chains from the heads that the batch was decided on. `expected` is null for a new chain. New chains are inserted before existing
-- ones are locked, as in lock_chains: with another order two kernels could wait for each other.
CREATE OR REPLACE FUNCTION grow_chains(tenants text[], sessions text[], expected text[], clocks bigint[], hashes text[], issued timestamptz[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  begun bigint := 0;
  grown bigint;
BEGIN
  IF array_position(expected, NULL) IS NOT NULL THEN
    INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash, issued_at)
    SELECT c.tenant_id, c.session_id, c.lamport_clock, c.receipt_hash, c.issued_at
      FROM unnest(tenants, sessions, expected, clocks, hashes, issued)
        AS c(tenant_id, session_id, expected, lamport_clock, receipt_hash, issued_at)
     WHERE c.expected IS NULL ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS begun = ROW_COUNT;
  END IF;
  IF cardinality(tenants) > 1 THEN
    PERFORM 1 FROM session_heads h JOIN unnest(tenants, sessions) AS c(tenant_id, session_id) USING (tenant_id, session_id)
      ORDER BY h.tenant_id, h.session_id FOR UPDATE OF h;
  END IF;
  UPDATE session_heads h SET lamport_clock = c.lamport_clock, receipt_hash = c.receipt_hash, issued_at = c.issued_at
    FROM unnest(tenants, sessions, expected, clocks, hashes, issued)
      AS c(tenant_id, session_id, expected, lamport_clock, receipt_hash, issued_at)
   WHERE h.tenant_id = c.tenant_id AND h.session_id = c.session_id AND h.receipt_hash = coalesce(c.expected, '');
  GET DIAGNOSTICS grown = ROW_COUNT;
  IF grown + begun <> cardinality(tenants) THEN PERFORM refuse_stale('chain'); END IF;
END $$;

-- The key id in the last signature of a note, in hexadecimal (C2SP signed-note). NULL when the note has no such signature. It is a hint:
-- the note must still be verified.
CREATE OR REPLACE FUNCTION note_key_hint(note text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN encode(substring(decode(substring(note FROM ' ([A-Za-z0-9+/]{8})[A-Za-z0-9+/]*={0,2}\n$'), 'base64') FOR 4), 'hex');

-- The newest key of a purpose ends the ones before it, 40 s after its publication. A kernel may only insert keys, so the owner of the table
-- ends them.
CREATE OR REPLACE FUNCTION end_predecessors() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Two kernels that publish different keys at once take turns, so that the second one sees the key of the first.
  PERFORM pg_advisory_xact_lock(hashtextextended('the newest key', 0));
  EXECUTE format(
    'UPDATE %I.%I SET valid_until = $1 WHERE purpose = $2 AND log_origin IS NOT DISTINCT FROM $3 AND key_id <> $4
        AND valid_from <= $5 AND (valid_until IS NULL OR valid_until > $1)', TG_TABLE_SCHEMA, TG_TABLE_NAME)
    USING NEW.valid_from + interval '80 seconds', NEW.purpose, NEW.log_origin, NEW.key_id, NEW.valid_from;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER ends_predecessors AFTER INSERT ON trust_keys FOR EACH ROW EXECUTE FUNCTION end_predecessors();

-- The keys of a trust list, for the guard of appends. PostgreSQL cannot verify the root's signature, so a list changes no published key
-- here: it adds keys, and it ends them for this guard. Kernels publish the keys of lists that they verified.
CREATE OR REPLACE FUNCTION apply_trust_list() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format(
    'INSERT INTO %I.trust_keys (key_id, public_key, purpose, log_origin, valid_from)
     SELECT k.kid, decode(translate(k.x, ''-_'', ''+/'') || ''='', ''base64''), k.purpose, k.log_origin, k.valid_from
       FROM jsonb_to_recordset($1) AS k (kid text, x text, purpose text, log_origin text, valid_from timestamptz)
      WHERE k.purpose <> ''evidence''
      ORDER BY k.valid_from, k.kid
     ON CONFLICT (key_id) DO NOTHING', TG_TABLE_SCHEMA) USING NEW.document #> '{list,keys}';
  EXECUTE format(
    'INSERT INTO %I.trust_key_ends AS e (key_id, valid_until, revoked_at)
     SELECT k.kid, k.valid_until, k.revoked_at
       FROM jsonb_to_recordset($1) AS k (kid text, purpose text, valid_until timestamptz, revoked_at timestamptz)
      WHERE k.purpose <> ''evidence'' AND (k.valid_until IS NOT NULL OR k.revoked_at IS NOT NULL)
     ON CONFLICT (key_id) DO UPDATE SET valid_until = least(e.valid_until, excluded.valid_until),
                                        revoked_at = least(e.revoked_at, excluded.revoked_at)', TG_TABLE_SCHEMA)
    USING NEW.document #> '{list,keys}';
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER applies_trust_list AFTER INSERT ON trust_lists FOR EACH ROW EXECUTE FUNCTION apply_trust_list();
