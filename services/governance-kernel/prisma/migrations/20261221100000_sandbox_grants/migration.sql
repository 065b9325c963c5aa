-- CreateTable
CREATE TABLE "sandbox_grants" (
    "tenant_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "terms" JSONB NOT NULL,
    "grant_hash" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "receipt_id" TEXT NOT NULL,

    CONSTRAINT "sandbox_grants_pkey" PRIMARY KEY ("tenant_id","subject")
);

-- CreateIndex
CREATE UNIQUE INDEX "sandbox_grants_grant_id_key" ON "sandbox_grants"("grant_id");

CREATE OR REPLACE FUNCTION put_sandbox_grants(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sandbox_grants AS t (tenant_id, subject, grant_id, terms, grant_hash, created_by, created_at, expires_at, receipt_id)
  SELECT p.tenant_id, p.subject, p.grant_id, p.terms, p.grant_hash, p.created_by, p.created_at, p.expires_at, p.receipt_id
    FROM jsonb_populate_recordset(NULL::sandbox_grants, puts) AS p ORDER BY p.tenant_id, p.subject
  ON CONFLICT (tenant_id, subject) DO UPDATE SET
    grant_id = excluded.grant_id, terms = excluded.terms, grant_hash = excluded.grant_hash, created_by = excluded.created_by,
    created_at = excluded.created_at, expires_at = excluded.expires_at, receipt_id = excluded.receipt_id;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_unknown('puts', puts, ARRAY[
    'fence_commands', 'fences', 'tenant_orgs', 'policy_bundles', 'policy_heads', 'policy_ceilings', 'shadow_lanes',
    'activation_signatures', 'tool_blocks', 'identities', 'identity_keys', 'access_keys', 'approval_terms', 'passkeys',
    'relation_heads', 'mcp_servers', 'auth_profiles', 'sandbox_grants', 'budget_terms', 'budgets', 'budget_usage', 'approvals',
    'dispatches', 'answers'
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
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

CREATE OR REPLACE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON sandbox_grants FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
