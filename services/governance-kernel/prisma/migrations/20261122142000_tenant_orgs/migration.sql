-- Which organisation a tenant belongs to. A fence around the organisation stands around the tenant, so all decisions rest on it.
CREATE TABLE "tenant_orgs" (
    "tenant_id" TEXT NOT NULL,
    "org_id" TEXT,
    "version" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenant_orgs_pkey" PRIMARY KEY ("tenant_id")
);
CREATE INDEX "tenant_orgs_org_id_idx" ON "tenant_orgs"("org_id");
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "tenant_orgs"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE FUNCTION put_tenant_orgs(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tenant_orgs SELECT * FROM jsonb_populate_recordset(NULL::tenant_orgs, puts) AS p ORDER BY p.tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET org_id = excluded.org_id, version = excluded.version, updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'tenant_orgs' THEN PERFORM put_tenant_orgs(puts -> 'tenant_orgs'); END IF;
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'policy_ceilings' THEN PERFORM put_policy_ceilings(puts -> 'policy_ceilings'); END IF;
  IF puts ? 'tool_blocks' THEN PERFORM put_tool_blocks(puts -> 'tool_blocks'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;
