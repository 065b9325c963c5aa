-- A bundle is a row of its own in what a batch changes: it stays, whatever later statements of the batch make of its head. Before, a
-- confirmation in one batch with its activation took the bundle away, and left a head that names none.
DELETE FROM "policy_heads" h
 WHERE NOT EXISTS (SELECT FROM "policy_bundles" b WHERE b.tenant_id = h.tenant_id AND b.epoch = h.epoch);
-- contract: no version decides anything under a head without a bundle, so none needs to write one.
ALTER TABLE "policy_heads" ADD CONSTRAINT "policy_heads_tenant_id_epoch_fkey"
  FOREIGN KEY ("tenant_id", "epoch") REFERENCES "policy_bundles"("tenant_id", "epoch") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- An epoch that exists is a lost race.
CREATE FUNCTION put_policy_bundles(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  activated bigint;
BEGIN
  INSERT INTO policy_bundles SELECT * FROM jsonb_populate_recordset(NULL::policy_bundles, puts) AS p ORDER BY p.tenant_id, p.epoch
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS activated = ROW_COUNT;
  IF activated <> jsonb_array_length(puts) THEN PERFORM refuse_stale('epoch'); END IF;
END $$;

-- A kernel of the version before brings a bundle within its head.
CREATE OR REPLACE FUNCTION put_policy_heads(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at)
  SELECT p.tenant_id, p.epoch, p.policy_hash, p.bundle, p.key_id, p.signature, p.confirmed_at
    FROM jsonb_to_recordset(puts) AS p(tenant_id text, epoch int, policy_hash text, bundle text, key_id text, signature text, confirmed_at timestamptz)
   WHERE p.bundle IS NOT NULL;
  INSERT INTO policy_heads SELECT * FROM jsonb_populate_recordset(NULL::policy_heads, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET epoch = excluded.epoch, policy_hash = excluded.policy_hash,
    confirmed_at = excluded.confirmed_at, key_id = excluded.key_id, signature = excluded.signature;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
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
