-- CreateTable
CREATE TABLE "auth_profiles" (
    "tenant_id" TEXT NOT NULL,
    "profile_id" TEXT NOT NULL,
    "terms" JSONB NOT NULL,
    "set_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "auth_profiles_pkey" PRIMARY KEY ("tenant_id","profile_id")
);

CREATE OR REPLACE FUNCTION put_mcp_servers(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mcp_servers AS t (server_id, name, tenant_id, transport, config, config_hash, state, reason, registered_by, approved_by, approved_at, approval_receipt_id, expires_at, revoked_by, revoked_at, created_at, updated_at, sealed_config, first_listed_at)
  SELECT p.server_id, p.name, p.tenant_id, p.transport, p.config, p.config_hash, p.state, p.reason, p.registered_by, p.approved_by, p.approved_at, p.approval_receipt_id, p.expires_at, p.revoked_by, p.revoked_at, p.created_at, p.updated_at, p.sealed_config, p.created_at
    FROM jsonb_populate_recordset(NULL::mcp_servers, puts) AS p ORDER BY p.server_id
  ON CONFLICT (server_id) DO UPDATE SET transport = excluded.transport, config = excluded.config, config_hash = excluded.config_hash, state = excluded.state, reason = excluded.reason, registered_by = excluded.registered_by, approved_by = excluded.approved_by, approved_at = excluded.approved_at, approval_receipt_id = excluded.approval_receipt_id, expires_at = excluded.expires_at, revoked_by = excluded.revoked_by, revoked_at = excluded.revoked_at, updated_at = excluded.updated_at,
    sealed_config = coalesce(excluded.sealed_config, t.sealed_config),
    first_listed_at = coalesce(t.first_listed_at, excluded.updated_at);
  DELETE FROM mcp_tools t USING jsonb_to_recordset(puts) AS s(server_id text, pins jsonb)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL
     AND NOT EXISTS (SELECT FROM jsonb_to_recordset(s.pins) AS p(tool_name text) WHERE p.tool_name = t.tool_name);
  INSERT INTO mcp_tools AS t (server_id, tool_name, pinned_hash, current_hash, definition, effect_level, pinned_at)
  SELECT s.server_id, p.tool_name, p.hash, p.hash, p.definition, p.effect_level, s.updated_at
    FROM jsonb_to_recordset(puts) AS s(server_id text, pins jsonb, updated_at timestamptz),
         jsonb_to_recordset(coalesce(s.pins, '[]')) AS p(tool_name text, hash text, definition jsonb, effect_level text)
   ORDER BY 1, 2
  ON CONFLICT (server_id, tool_name) DO UPDATE SET pinned_hash = excluded.pinned_hash, definition = excluded.definition,
    effect_level = excluded.effect_level, pinned_at = excluded.pinned_at, gone_at = NULL,
    observed_definition = CASE WHEN t.current_hash = excluded.pinned_hash THEN NULL ELSE coalesce(t.observed_definition, t.definition) END,
    drifted_at = CASE WHEN t.current_hash = excluded.pinned_hash THEN NULL ELSE excluded.pinned_at END;
END $$;

CREATE OR REPLACE FUNCTION put_auth_profiles(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO auth_profiles AS t (tenant_id, profile_id, terms, set_by, updated_at)
  SELECT p.tenant_id, p.profile_id, p.terms, p.set_by, p.updated_at
    FROM jsonb_populate_recordset(NULL::auth_profiles, puts) AS p ORDER BY p.tenant_id, p.profile_id
  ON CONFLICT (tenant_id, profile_id) DO UPDATE SET
    terms = excluded.terms, set_by = excluded.set_by, updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_unknown('puts', puts, ARRAY[
    'fence_commands', 'fences', 'tenant_orgs', 'policy_bundles', 'policy_heads', 'policy_ceilings', 'shadow_lanes',
    'activation_signatures', 'tool_blocks', 'identities', 'identity_keys', 'access_keys', 'approval_terms', 'passkeys',
    'relation_heads', 'mcp_servers', 'auth_profiles', 'budget_terms', 'budgets', 'budget_usage', 'approvals', 'dispatches',
    'answers'
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
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

CREATE OR REPLACE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON auth_profiles FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
