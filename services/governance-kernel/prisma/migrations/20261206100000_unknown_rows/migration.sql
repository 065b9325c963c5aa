-- Rows of a control that these functions do not know were left out without a word, under a receipt that says that they are there.
CREATE FUNCTION refuse_unknown(what text, given jsonb, known text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF given - known <> '{}' THEN
    RAISE EXCEPTION 'append knows no % of %', what, (SELECT string_agg(name, ', ') FROM jsonb_object_keys(given - known) AS name);
  END IF;
END $$;

-- `answers` are written by `append`, behind what it drops.
CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_unknown('puts', puts, ARRAY[
    'fence_commands', 'fences', 'tenant_orgs', 'policy_bundles', 'policy_heads', 'policy_ceilings', 'shadow_lanes',
    'activation_signatures', 'tool_blocks', 'identities', 'identity_keys', 'access_keys', 'approval_terms', 'passkeys',
    'relation_heads', 'budget_terms', 'budgets', 'budget_usage', 'approvals', 'dispatches', 'answers'
  ]);
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
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

CREATE OR REPLACE FUNCTION append(
  decided_under bigint,
  chain_tenants text[], chain_sessions text[], chain_expected text[], chain_clocks bigint[], chain_hashes text[], chain_issued timestamptz[],
  reads jsonb, puts jsonb, drops jsonb,
  ulids text[], tenants text[], sessions text[], clocks bigint[], principals text[], kinds text[], verdicts text[], reasons text[],
  actions text[], tools text[], issued timestamptz[], hashes text[], payloads text[], key_ids text[], signatures text[], records text[]
) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  grown_to bigint;
BEGIN
  PERFORM lock_controls(false);
  IF (SELECT epoch FROM controls WHERE id = 1) <> decided_under THEN PERFORM refuse_stale('controls'); END IF;
  PERFORM grow_chains(chain_tenants, chain_sessions, chain_expected, chain_clocks, chain_hashes, chain_issued);
  -- Kernels from before send `dispatches` and `fences` as well, which nobody compares.
  PERFORM refuse_unknown('reads', reads, ARRAY['budgets', 'dispatches', 'fences']);
  IF reads ? 'budgets' THEN PERFORM check_budgets(reads -> 'budgets'); END IF;
  IF puts IS NOT NULL THEN PERFORM put_rows(puts); END IF;
  PERFORM refuse_unknown('drops', drops, ARRAY['dispatches']);
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
