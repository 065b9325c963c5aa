-- What a vote of a tenant needs, and the passkeys that people vote with.
CREATE TABLE "approval_terms" (
    "tenant_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "signatures_only" BOOLEAN NOT NULL,
    "passkeys_since" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "approval_terms_pkey" PRIMARY KEY ("tenant_id")
);
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "approval_terms"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE TABLE "passkeys" (
    "ulid" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[],
    "is_backup_eligible" BOOLEAN NOT NULL,
    "is_backed_up" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" TEXT NOT NULL,
    "activated_at" TIMESTAMPTZ(3),
    "vouched_by" TEXT,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("tenant_id","credential_id")
);
CREATE INDEX "passkeys_tenant_id_principal_id_ulid_idx" ON "passkeys"("tenant_id", "principal_id", "ulid");
-- Each use moves the counter, on which the next use rests.
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "passkeys"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE TABLE "passkey_challenges" (
    "tenant_id" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "challenge_id" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "statement" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_challenges_pkey" PRIMARY KEY ("tenant_id","principal_id","purpose","subject")
);
CREATE INDEX "passkey_challenges_expires_at_idx" ON "passkey_challenges"("expires_at");

-- That a tenant has enrolled a passkey is never undone.
CREATE FUNCTION put_approval_terms(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approval_terms AS t SELECT p.* FROM jsonb_populate_recordset(NULL::approval_terms, puts) AS p ORDER BY 1
  ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version, signatures_only = excluded.signatures_only,
    passkeys_since = coalesce(t.passkeys_since, excluded.passkeys_since), updated_at = excluded.updated_at;
END $$;

CREATE FUNCTION put_passkeys(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO passkeys SELECT p.* FROM jsonb_populate_recordset(NULL::passkeys, puts) AS p ORDER BY p.tenant_id, p.credential_id
  ON CONFLICT (tenant_id, credential_id) DO UPDATE SET counter = excluded.counter, is_backed_up = excluded.is_backed_up,
    activated_at = excluded.activated_at, vouched_by = excluded.vouched_by, last_used_at = excluded.last_used_at,
    revoked_at = excluded.revoked_at;
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
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'approval_terms' THEN PERFORM put_approval_terms(puts -> 'approval_terms'); END IF;
  IF puts ? 'passkeys' THEN PERFORM put_passkeys(puts -> 'passkeys'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;
