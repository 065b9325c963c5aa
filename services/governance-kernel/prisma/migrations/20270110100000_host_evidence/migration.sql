-- CreateTable
CREATE TABLE "host_chains" (
    "tenant_id" TEXT NOT NULL,
    "import_hash" TEXT NOT NULL,
    "host_chain_id" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "report" JSONB NOT NULL,

    CONSTRAINT "host_chains_pkey" PRIMARY KEY ("tenant_id","import_hash")
);

-- CreateTable
CREATE TABLE "host_receipts" (
    "tenant_id" TEXT NOT NULL,
    "receipt_hash" TEXT NOT NULL,
    "host_chain_id" TEXT NOT NULL,

    CONSTRAINT "host_receipts_pkey" PRIMARY KEY ("tenant_id","receipt_hash")
);

-- CreateTable
CREATE TABLE "host_volumes" (
    "tenant_id" TEXT NOT NULL,
    "decision_receipt_id" TEXT NOT NULL,
    "bytes_sent" BIGINT NOT NULL,

    CONSTRAINT "host_volumes_pkey" PRIMARY KEY ("tenant_id","decision_receipt_id")
);

-- CreateTable
CREATE TABLE "host_drift" (
    "tenant_id" TEXT NOT NULL,
    "drift_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "host_chain_id" TEXT NOT NULL,
    "drift" JSONB NOT NULL,

    CONSTRAINT "host_drift_pkey" PRIMARY KEY ("tenant_id","drift_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "host_chains_tenant_id_host_chain_id_key" ON "host_chains"("tenant_id", "host_chain_id");

-- CreateIndex
CREATE INDEX "host_drift_tenant_id_kind_drift_id_idx" ON "host_drift"("tenant_id", "kind", "drift_id");

-- CreateIndex
CREATE INDEX "host_drift_tenant_id_host_chain_id_drift_id_idx" ON "host_drift"("tenant_id", "host_chain_id", "drift_id");

CREATE OR REPLACE FUNCTION put_host_chains(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO host_chains (tenant_id, import_hash, host_chain_id, document, report)
  SELECT p.tenant_id, p.import_hash, p.host_chain_id, p.document, p.report
    FROM jsonb_populate_recordset(NULL::host_chains, puts) AS p ORDER BY p.tenant_id, p.import_hash
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('host_chains'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_host_receipts(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO host_receipts (tenant_id, receipt_hash, host_chain_id)
  SELECT p.tenant_id, p.receipt_hash, p.host_chain_id
    FROM jsonb_populate_recordset(NULL::host_receipts, puts) AS p ORDER BY p.tenant_id, p.receipt_hash
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('host_receipts'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_host_volumes(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO host_volumes AS t (tenant_id, decision_receipt_id, bytes_sent)
  SELECT p.tenant_id, p.decision_receipt_id, p.bytes_sent
    FROM jsonb_populate_recordset(NULL::host_volumes, puts) AS p ORDER BY p.tenant_id, p.decision_receipt_id
  ON CONFLICT (tenant_id, decision_receipt_id) DO UPDATE SET
    bytes_sent = excluded.bytes_sent;
END $$;

CREATE OR REPLACE FUNCTION put_host_drift(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO host_drift (tenant_id, drift_id, kind, host_chain_id, drift)
  SELECT p.tenant_id, p.drift_id, p.kind, p.host_chain_id, p.drift
    FROM jsonb_populate_recordset(NULL::host_drift, puts) AS p ORDER BY p.tenant_id, p.drift_id
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('host_drift'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_unknown('puts', puts, ARRAY[
    'fence_commands', 'fences', 'tenant_orgs', 'policy_bundles', 'policy_heads', 'policy_ceilings', 'shadow_lanes',
    'activation_signatures', 'tool_blocks', 'identities', 'identity_keys', 'access_keys', 'approval_terms', 'passkeys',
    'relation_heads', 'mcp_servers', 'auth_profiles', 'sandbox_grants', 'trust_lists', 'budget_terms', 'budgets', 'budget_usage',
    'approvals', 'dispatches', 'answers', 'evidence_envelopes', 'host_chains', 'host_receipts', 'host_volumes', 'host_drift'
  ]::text[]);
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'tenant_orgs' THEN PERFORM put_tenant_orgs(puts -> 'tenant_orgs'); END IF;
  IF puts ? 'policy_bundles' THEN PERFORM put_policy_bundles(puts -> 'policy_bundles'); END IF;
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'policy_ceilings' THEN PERFORM put_policy_ceilings(puts -> 'policy_ceilings'); END IF;
  IF puts ? 'shadow_lanes' THEN PERFORM put_shadow_lanes(puts -> 'shadow_lanes'); END IF;
  IF puts ? 'activation_signatures' THEN PERFORM put_activation_signatures(puts -> 'activation_signatures'); END IF;
  IF puts ? 'tool_blocks' THEN PERFORM put_tool_blocks(puts -> 'tool_blocks'); END IF;
  IF puts ? 'identities' THEN PERFORM put_identities(puts -> 'identities'); END IF;
  IF puts ? 'identity_keys' THEN PERFORM put_identity_keys(puts -> 'identity_keys'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'approval_terms' THEN PERFORM put_approval_terms(puts -> 'approval_terms'); END IF;
  IF puts ? 'passkeys' THEN PERFORM put_passkeys(puts -> 'passkeys'); END IF;
  IF puts ? 'relation_heads' THEN PERFORM put_relation_heads(puts -> 'relation_heads'); END IF;
  IF puts ? 'mcp_servers' THEN PERFORM put_mcp_servers(puts -> 'mcp_servers'); END IF;
  IF puts ? 'auth_profiles' THEN PERFORM put_auth_profiles(puts -> 'auth_profiles'); END IF;
  IF puts ? 'sandbox_grants' THEN PERFORM put_sandbox_grants(puts -> 'sandbox_grants'); END IF;
  IF puts ? 'trust_lists' THEN PERFORM put_trust_lists(puts -> 'trust_lists'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

CREATE OR REPLACE FUNCTION append(
  decided_under bigint, chain_tenants text[], chain_sessions text[], chain_expected text[], chain_clocks bigint[],
  chain_hashes text[], chain_issued timestamptz[], reads jsonb, puts jsonb, drops jsonb, ulids text[], tenants text[],
  sessions text[], clocks bigint[], principals text[], kinds text[], verdicts text[], reasons text[], actions text[],
  tools text[], issued timestamptz[], hashes text[], payloads text[], key_ids text[], signatures text[], records text[]
) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  grown_to bigint;
BEGIN
  PERFORM lock_controls(false);
  IF (SELECT epoch FROM controls WHERE id = 1) <> decided_under THEN PERFORM refuse_stale('controls'); END IF;
  PERFORM grow_chains(chain_tenants, chain_sessions, chain_expected, chain_clocks, chain_hashes, chain_issued);
  -- Older kernels send rows of every control that is guarded by row, compared or not.
  PERFORM refuse_unknown('reads', reads, ARRAY['fences', 'budgets', 'dispatches']::text[]);
  IF reads ? 'budgets' THEN PERFORM check_budgets(reads -> 'budgets'); END IF;
  IF puts IS NOT NULL THEN PERFORM put_rows(puts); END IF;
  PERFORM refuse_unknown('drops', drops, ARRAY['dispatches']::text[]);
  IF drops ? 'dispatches' THEN PERFORM drop_dispatches(drops -> 'dispatches'); END IF;
  IF puts ? 'answers' THEN PERFORM put_answers(puts -> 'answers'); END IF;
  IF puts ? 'evidence_envelopes' THEN PERFORM put_evidence_envelopes(puts -> 'evidence_envelopes'); END IF;
  IF puts ? 'host_chains' THEN PERFORM put_host_chains(puts -> 'host_chains'); END IF;
  IF puts ? 'host_receipts' THEN PERFORM put_host_receipts(puts -> 'host_receipts'); END IF;
  IF puts ? 'host_volumes' THEN PERFORM put_host_volumes(puts -> 'host_volumes'); END IF;
  IF puts ? 'host_drift' THEN PERFORM put_host_drift(puts -> 'host_drift'); END IF;
  UPDATE log_head SET size = size + cardinality(ulids) WHERE id = 1 RETURNING size INTO grown_to;
  INSERT INTO ledger (log_index, ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action,
                      tool, issued_at, receipt_hash, payload, key_id, signature, record)
  SELECT grown_to - cardinality(ulids) + e.nth - 1, e.ulid, e.tenant_id, e.session_id, e.lamport_clock, e.principal_id, e.kind,
         e.verdict, e.reason_code, e.action, e.tool, e.issued_at, e.receipt_hash, e.payload, e.key_id, e.signature, e.record
    FROM unnest(ulids, tenants, sessions, clocks, principals, kinds, verdicts, reasons, actions, tools, issued, hashes, payloads,
                key_ids, signatures, records) WITH ORDINALITY
      AS e(ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool, issued_at,
           receipt_hash, payload, key_id, signature, record, nth);
  RETURN grown_to - cardinality(ulids);
END $$;

COMMENT ON TABLE "host_chains" IS 'append-only: chains of recorders, as they were imported';
COMMENT ON TABLE "host_receipts" IS 'append-only: receipts of recorders that were judged';
COMMENT ON TABLE "host_drift" IS 'append-only: drift that recorders showed';
