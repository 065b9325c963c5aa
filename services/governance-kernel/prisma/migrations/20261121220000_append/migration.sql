-- The ledger is written by one function in one round trip (ADR 0010).

-- One epoch for everything that all decisions rest on. Whoever changes such a table moves it, whatever the client.
CREATE TABLE "controls" (
    "id" INTEGER NOT NULL,
    "epoch" BIGINT NOT NULL,

    CONSTRAINT "controls_pkey" PRIMARY KEY ("id")
);
INSERT INTO "controls" ("id", "epoch") VALUES (1, 1);

-- Shared by commits, exclusive for changes of controls: a change waits for commits that were decided without it, and every commit
-- behind it sees it. An advisory lock, since a row lock would write a tuple for each commit.
CREATE FUNCTION lock_controls(alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF alone THEN
    PERFORM pg_advisory_xact_lock(7310593858020254331);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(7310593858020254331);
  END IF;
END $$;

CREATE FUNCTION move_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_controls(true);
  UPDATE controls SET epoch = epoch + 1 WHERE id = 1;
  RETURN NULL;
END $$;

-- Before the statement, so that the controls are locked before any row of theirs: that is the order of everybody.
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "fences"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "policy_heads"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "mcp_servers"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "mcp_tools"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

-- What is used and reserved moves with each decision and has a revision of its own; the epoch is for the terms.
ALTER TABLE "budgets" ADD COLUMN "revision" BIGINT NOT NULL DEFAULT 0;
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE OF "tenant_id", "budget_id", "subject", "window",
    "tool_call_limit", "spend_limit_minor", "currency", "egress_limit_bytes", "write_limit", "approval_required_above_minor", "version"
  ON "budgets" FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
CREATE INDEX "budgets_tenant_id_subject_idx" ON "budgets"("tenant_id", "subject");
-- A subject that nobody looks for would limit nothing.
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_subject_known" CHECK ("subject" = 'tenant' OR "subject" ~ '^(principal|agent|tool):.');

-- A session's approvals are found by the session, whose head is their version.
DROP INDEX "approvals_intent_hash_idx";
CREATE INDEX "approvals_tenant_id_session_id_intent_hash_idx" ON "approvals"("tenant_id", "session_id", "intent_hash");

-- A settled call leaves: its outcome is in the ledger.
DELETE FROM "dispatches" WHERE "state" <> 'open';
DROP INDEX "dispatches_state_deadline_at_idx";
ALTER TABLE "dispatches" ALTER COLUMN "ulid" TYPE TEXT, DROP COLUMN "state", DROP COLUMN "settled_at";
CREATE INDEX "dispatches_deadline_at_idx" ON "dispatches"("deadline_at");

-- The entry that an answer tells of; its place in the log completes the answer.
ALTER TABLE "idempotency_keys" ADD COLUMN "ulid" TEXT;

-- The Merkle tree is grown behind the commits: it has a head of its own.
CREATE TABLE "log_tree" (
    "id" INTEGER NOT NULL,
    "size" BIGINT NOT NULL,
    "frontier" BYTEA[],

    CONSTRAINT "log_tree_pkey" PRIMARY KEY ("id")
);
INSERT INTO "log_tree" ("id", "size", "frontier") SELECT "id", "size", "frontier" FROM "log_head";
ALTER TABLE "log_head" DROP COLUMN "frontier";

-- Receipts and records are hashes and signatures for the most part: compressing rows of 2 to 8 KB costs and wins nothing.
ALTER TABLE "ledger" SET (toast_tuple_target = 8160);

CREATE FUNCTION refuse_stale(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'stale %', what USING ERRCODE = 'CS001';
END $$;

-- Locks the heads of chains, in the order of everybody. One that does not exist yet gets a row, or there would be nothing to lock.
CREATE FUNCTION lock_chains(tenants text[], sessions text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash)
  SELECT c.tenant_id, c.session_id, 0, '' FROM unnest(tenants, sessions) AS c(tenant_id, session_id) ORDER BY 1, 2
  ON CONFLICT DO NOTHING;
  PERFORM 1 FROM session_heads h JOIN unnest(tenants, sessions) AS c(tenant_id, session_id) USING (tenant_id, session_id)
    ORDER BY h.tenant_id, h.session_id FOR UPDATE OF h;
END $$;

-- Moves chains from the heads they were decided on; `expected` is null for a chain that had none. New chains are written before known
-- ones are locked, as in lock_chains: in another order two kernels could wait for each other.
CREATE FUNCTION grow_chains(tenants text[], sessions text[], expected text[], clocks bigint[], hashes text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  begun bigint := 0;
  grown bigint;
BEGIN
  IF array_position(expected, NULL) IS NOT NULL THEN
    INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash)
    SELECT c.tenant_id, c.session_id, c.lamport_clock, c.receipt_hash
      FROM unnest(tenants, sessions, expected, clocks, hashes) AS c(tenant_id, session_id, expected, lamport_clock, receipt_hash)
     WHERE c.expected IS NULL ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS begun = ROW_COUNT;
  END IF;
  IF cardinality(tenants) > 1 THEN
    PERFORM 1 FROM session_heads h JOIN unnest(tenants, sessions) AS c(tenant_id, session_id) USING (tenant_id, session_id)
      ORDER BY h.tenant_id, h.session_id FOR UPDATE OF h;
  END IF;
  UPDATE session_heads h SET lamport_clock = c.lamport_clock, receipt_hash = c.receipt_hash
    FROM unnest(tenants, sessions, expected, clocks, hashes) AS c(tenant_id, session_id, expected, lamport_clock, receipt_hash)
   WHERE h.tenant_id = c.tenant_id AND h.session_id = c.session_id AND h.receipt_hash = coalesce(c.expected, '');
  GET DIAGNOSTICS grown = ROW_COUNT;
  IF grown + begun <> cardinality(tenants) THEN PERFORM refuse_stale('chain'); END IF;
END $$;

CREATE FUNCTION put_policy_heads(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at)
  SELECT p.tenant_id, p.epoch, p.policy_hash, p.bundle, p.key_id, p.signature, p.confirmed_at
    FROM jsonb_to_recordset(puts) AS p(tenant_id text, epoch int, policy_hash text, bundle text, key_id text, signature text, confirmed_at timestamptz)
   WHERE p.bundle IS NOT NULL;
  INSERT INTO policy_heads SELECT * FROM jsonb_populate_recordset(NULL::policy_heads, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET epoch = excluded.epoch, policy_hash = excluded.policy_hash, confirmed_at = excluded.confirmed_at;
END $$;

-- Budgets that were looked at and left as they are: a refusal rests on what they said, and must not rest on what they said once.
CREATE FUNCTION check_budgets(reads jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  unmoved bigint;
BEGIN
  SELECT count(*) INTO unmoved FROM jsonb_populate_recordset(NULL::budgets, reads) AS r
    JOIN budgets b USING (tenant_id, budget_id) WHERE b.revision = r.revision;
  IF unmoved <> jsonb_array_length(reads) THEN PERFORM refuse_stale('budget'); END IF;
END $$;

CREATE FUNCTION put_budgets(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  PERFORM 1 FROM budgets b JOIN jsonb_populate_recordset(NULL::budgets, puts) AS p USING (tenant_id, budget_id)
    ORDER BY b.tenant_id, b.budget_id FOR UPDATE OF b;
  UPDATE budgets b SET
    used_tool_calls = p.used_tool_calls, used_spend_minor = p.used_spend_minor,
    used_egress_bytes = p.used_egress_bytes, used_writes = p.used_writes,
    reserved_tool_calls = p.reserved_tool_calls, reserved_spend_minor = p.reserved_spend_minor,
    reserved_egress_bytes = p.reserved_egress_bytes, reserved_writes = p.reserved_writes,
    resets_at = p.resets_at, revision = b.revision + 1
    FROM jsonb_populate_recordset(NULL::budgets, puts) AS p
   WHERE b.tenant_id = p.tenant_id AND b.budget_id = p.budget_id AND b.revision = p.revision;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('budget'); END IF;
END $$;

-- Under the lock of their session's head, which is their version.
CREATE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals SELECT * FROM jsonb_populate_recordset(NULL::approvals, puts) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET state = excluded.state, approved_by = excluded.approved_by,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at;
END $$;

CREATE FUNCTION put_dispatches(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dispatches SELECT * FROM jsonb_populate_recordset(NULL::dispatches, puts) AS p ORDER BY p.ulid;
END $$;

CREATE FUNCTION drop_dispatches(drops jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
  settled text[] := ARRAY(SELECT d ->> 'ulid' FROM jsonb_array_elements(drops) AS d);
BEGIN
  PERFORM 1 FROM dispatches WHERE ulid = ANY (settled) ORDER BY ulid FOR UPDATE;
  DELETE FROM dispatches WHERE ulid = ANY (settled);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(settled) THEN PERFORM refuse_stale('dispatch'); END IF;
END $$;

-- A key that exists is a lost race, but for one that has outlived its day.
CREATE FUNCTION put_answers(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  kept bigint;
BEGIN
  INSERT INTO idempotency_keys AS k (tenant_id, principal_id, route, key, fingerprint, state, status, answer, ulid, created_at)
  SELECT p.tenant_id, p.principal_id, p.route, p.key, p.fingerprint, 'done', 200, p.answer, p.ulid, p.created_at
    FROM jsonb_populate_recordset(NULL::idempotency_keys, puts) AS p ORDER BY 1, 2, 3, 4
  ON CONFLICT (tenant_id, principal_id, route, key) DO UPDATE SET
    fingerprint = excluded.fingerprint, answer = excluded.answer, ulid = excluded.ulid, created_at = excluded.created_at
   WHERE k.created_at <= excluded.created_at - interval '24 hours';
  GET DIAGNOSTICS kept = ROW_COUNT;
  IF kept <> jsonb_array_length(puts) THEN PERFORM refuse_stale('key'); END IF;
END $$;

-- Writes what one kernel decided on facts that it remembers, all of it or nothing, as ordered statements, each with a fresh view
-- of what is committed: controls, chains, rows, and the log last, since nothing else holds up another kernel's commits.
-- Returns the place of the first entry in the log. Raises CS001 when a version moved.
CREATE FUNCTION append(
  decided_under bigint,
  chain_tenants text[], chain_sessions text[], chain_expected text[], chain_clocks bigint[], chain_hashes text[],
  reads jsonb, puts jsonb, drops jsonb,
  ulids text[], tenants text[], sessions text[], clocks bigint[], principals text[], kinds text[], verdicts text[], reasons text[],
  actions text[], tools text[], issued timestamptz[], hashes text[], payloads text[], key_ids text[], signatures text[], records text[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  grown_to bigint;
BEGIN
  PERFORM lock_controls(false);
  IF (SELECT epoch FROM controls WHERE id = 1) <> decided_under THEN PERFORM refuse_stale('controls'); END IF;
  PERFORM grow_chains(chain_tenants, chain_sessions, chain_expected, chain_clocks, chain_hashes);
  IF reads ? 'budgets' THEN PERFORM check_budgets(reads -> 'budgets'); END IF;
  IF puts IS NOT NULL THEN
    IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
    IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
    IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
    IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
  END IF;
  IF drops IS NOT NULL THEN
    IF drops ? 'dispatches' THEN PERFORM drop_dispatches(drops -> 'dispatches'); END IF;
  END IF;
  IF puts ? 'answers' THEN PERFORM put_answers(puts -> 'answers'); END IF;
  UPDATE log_head SET size = size + cardinality(ulids) WHERE id = 1 RETURNING size INTO grown_to;
  INSERT INTO ledger (log_index, ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool,
                      issued_at, receipt_hash, payload, key_id, signature, record)
  SELECT grown_to - cardinality(ulids) + e.nth - 1, e.ulid, e.tenant_id, e.session_id, e.lamport_clock, e.principal_id, e.kind, e.verdict,
         e.reason_code, e.action, e.tool, e.issued_at, e.receipt_hash, e.payload, e.key_id, e.signature, e.record
    FROM unnest(ulids, tenants, sessions, clocks, principals, kinds, verdicts, reasons, actions, tools, issued, hashes, payloads,
                key_ids, signatures, records) WITH ORDINALITY
      AS e(ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool, issued_at, receipt_hash,
           payload, key_id, signature, record, nth);
  RETURN grown_to - cardinality(ulids);
END $$;

-- Everything here is found by key, however many rows there are and whatever was known of them when a plan was made.
ALTER FUNCTION append SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;
ALTER FUNCTION lock_chains SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;
