-- Keys of agents and approvers: bound to a tenant and a principal, and never the operator's.
CREATE TABLE "access_keys" (
    "key_id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "doors" TEXT[],
    "tools" JSONB,
    "prefix" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" TEXT NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_keys_pkey" PRIMARY KEY ("key_id")
);
CREATE UNIQUE INDEX "access_keys_secret_hash_key" ON "access_keys"("secret_hash");
CREATE INDEX "access_keys_tenant_id_key_id_idx" ON "access_keys"("tenant_id", "key_id");

-- Using a key changes no decision.
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE OF "tenant_id", "principal_id", "kind", "doors", "tools",
    "expires_at", "revoked_at"
  ON "access_keys" FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE FUNCTION put_access_keys(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO access_keys SELECT * FROM jsonb_populate_recordset(NULL::access_keys, puts)
  ON CONFLICT (key_id) DO UPDATE SET revoked_at = excluded.revoked_at;
END $$;

-- The rows that entries leave behind, in the order of `src/controls.ts`. Of its own, so that a new control replaces this and not `append`.
CREATE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

CREATE OR REPLACE FUNCTION append(
  decided_under bigint,
  chain_tenants text[], chain_sessions text[], chain_expected text[], chain_clocks bigint[], chain_hashes text[],
  reads jsonb, puts jsonb, drops jsonb,
  ulids text[], tenants text[], sessions text[], clocks bigint[], principals text[], kinds text[], verdicts text[], reasons text[],
  actions text[], tools text[], issued timestamptz[], hashes text[], payloads text[], key_ids text[], signatures text[], records text[]
) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  grown_to bigint;
BEGIN
  PERFORM lock_controls(false);
  IF (SELECT epoch FROM controls WHERE id = 1) <> decided_under THEN PERFORM refuse_stale('controls'); END IF;
  PERFORM grow_chains(chain_tenants, chain_sessions, chain_expected, chain_clocks, chain_hashes);
  IF reads ? 'budgets' THEN PERFORM check_budgets(reads -> 'budgets'); END IF;
  IF puts IS NOT NULL THEN PERFORM put_rows(puts); END IF;
  IF drops ? 'dispatches' THEN PERFORM drop_dispatches(drops -> 'dispatches'); END IF;
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
