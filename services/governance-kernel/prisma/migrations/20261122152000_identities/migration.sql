-- The agents and operators of a tenant. A revoked one stays, so that nobody comes back under its name.
CREATE TABLE "identities" (
    "tenant_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "ulid" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "live_keys" INTEGER NOT NULL,
    "revision" INTEGER NOT NULL,
    "enrolled_at" TIMESTAMPTZ(3) NOT NULL,
    "enrolled_by" TEXT NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,

    CONSTRAINT "identities_pkey" PRIMARY KEY ("tenant_id", "kind", "principal_id")
);
CREATE INDEX "identities_tenant_id_kind_ulid_idx" ON "identities"("tenant_id", "kind", "ulid");

-- Keys of agents whose owners have proven to hold them. A revoked one stays, so that it is not enrolled again.
CREATE TABLE "identity_keys" (
    "tenant_id" TEXT NOT NULL,
    "kid" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" TEXT NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,

    CONSTRAINT "identity_keys_pkey" PRIMARY KEY ("tenant_id", "kid")
);
-- Of an identity, those that are live: as many as it may hold, however many it has had.
CREATE INDEX "identity_keys_tenant_id_principal_id_revoked_at_idx" ON "identity_keys"("tenant_id", "principal_id", "revoked_at");

CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "identities" FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "identity_keys" FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE FUNCTION put_identities(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO identities SELECT * FROM jsonb_populate_recordset(NULL::identities, puts) ORDER BY tenant_id, kind, principal_id
  ON CONFLICT (tenant_id, kind, principal_id) DO UPDATE SET display_name = excluded.display_name, live_keys = excluded.live_keys,
    revision = excluded.revision, revoked_at = excluded.revoked_at, revoked_by = excluded.revoked_by;
END $$;

CREATE FUNCTION put_identity_keys(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO identity_keys SELECT * FROM jsonb_populate_recordset(NULL::identity_keys, puts) ORDER BY tenant_id, kid
  ON CONFLICT (tenant_id, kid) DO UPDATE SET revoked_at = excluded.revoked_at, revoked_by = excluded.revoked_by;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'tenant_orgs' THEN PERFORM put_tenant_orgs(puts -> 'tenant_orgs'); END IF;
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
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

-- Whoever holds a key already is enrolled.
INSERT INTO identities (tenant_id, kind, principal_id, ulid, display_name, live_keys, revision, enrolled_at, enrolled_by)
SELECT DISTINCT ON (tenant_id, kind, principal_id)
       tenant_id, CASE kind WHEN 'agent' THEN 'agent' ELSE 'operator' END, principal_id, substr(key_id, 5), principal_id, 0, 1, created_at, created_by
  FROM access_keys ORDER BY tenant_id, kind, principal_id, key_id;
