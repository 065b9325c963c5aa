-- The drafts that are judged beside the active policy of a tenant. Which lanes there are, every kernel sees at its next commit.
CREATE TABLE "shadow_lanes" (
    "tenant_id" TEXT NOT NULL,
    "lanes" JSONB NOT NULL,
    "drafts" JSONB NOT NULL,

    CONSTRAINT "shadow_lanes_pkey" PRIMARY KEY ("tenant_id")
);
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "shadow_lanes"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

-- A put brings the drafts that change; null ends one.
CREATE FUNCTION put_shadow_lanes(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shadow_lanes AS s (tenant_id, lanes, drafts)
  SELECT p.tenant_id, p.lanes, p.drafts FROM jsonb_populate_recordset(NULL::shadow_lanes, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET lanes = excluded.lanes, drafts = jsonb_strip_nulls(s.drafts || excluded.drafts);
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'tenant_orgs' THEN PERFORM put_tenant_orgs(puts -> 'tenant_orgs'); END IF;
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'policy_ceilings' THEN PERFORM put_policy_ceilings(puts -> 'policy_ceilings'); END IF;
  IF puts ? 'shadow_lanes' THEN PERFORM put_shadow_lanes(puts -> 'shadow_lanes'); END IF;
  IF puts ? 'tool_blocks' THEN PERFORM put_tool_blocks(puts -> 'tool_blocks'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;
