-- CreateTable
CREATE TABLE "trust_lists" (
    "trust_hash" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "document" JSONB NOT NULL,
    "receipt_id" TEXT NOT NULL,
    "accepted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "trust_lists_pkey" PRIMARY KEY ("trust_hash")
);

-- CreateTable
CREATE TABLE "trust_key_ends" (
    "key_id" TEXT NOT NULL,
    "valid_until" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "trust_key_ends_pkey" PRIMARY KEY ("key_id")
);

-- CreateIndex
CREATE INDEX "trust_lists_version_idx" ON "trust_lists"("version");

-- Rejects receipts of a key that does not count (ADR 0071). It runs before anything waits for a lock. The detail is the fault of the key.
CREATE OR REPLACE FUNCTION hold_append(dated timestamptz, skew_max interval, keys text[], issued timestamptz[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  fault text;
BEGIN
  PERFORM hold_clock(dated, skew_max);
  SELECT CASE WHEN known.key_id IS NULL THEN 'unknown'
              WHEN known.revoked_at IS NOT NULL OR ended.revoked_at IS NOT NULL THEN 'revoked'
              WHEN sealed.first < known.valid_from THEN 'early'
              WHEN sealed.last >= least(known.valid_until, ended.valid_until) THEN 'ended' END
    INTO fault
    FROM (SELECT s.key, min(s.at) AS first, max(s.at) AS last FROM unnest(keys, issued) AS s (key, at) GROUP BY s.key) AS sealed
    LEFT JOIN trust_keys known ON known.key_id = sealed.key AND known.purpose = 'receipts'
    LEFT JOIN trust_key_ends ended ON ended.key_id = sealed.key
   ORDER BY 1 LIMIT 1;
  IF fault IS NOT NULL THEN RAISE EXCEPTION 'a key does not count' USING ERRCODE = 'CS003', DETAIL = fault; END IF;
END $$;

-- The keys of a trust list, for the guard of appends. PostgreSQL cannot verify the root's signature, so a list changes no published key
-- here: it adds keys, and it ends them for this guard. Kernels publish the keys of lists that they verified.
CREATE OR REPLACE FUNCTION apply_trust_list() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format(
    'INSERT INTO %I.trust_keys (key_id, public_key, purpose, log_origin, valid_from)
     SELECT k.kid, decode(translate(k.x, ''-_'', ''+/'') || ''='', ''base64''), k.purpose, k.log_origin, k.valid_from
       FROM jsonb_to_recordset($1) AS k (kid text, x text, purpose text, log_origin text, valid_from timestamptz)
      ORDER BY k.valid_from, k.kid
     ON CONFLICT (key_id) DO NOTHING', TG_TABLE_SCHEMA) USING NEW.document #> '{list,keys}';
  EXECUTE format(
    'INSERT INTO %I.trust_key_ends AS e (key_id, valid_until, revoked_at)
     SELECT k.kid, k.valid_until, k.revoked_at
       FROM jsonb_to_recordset($1) AS k (kid text, valid_until timestamptz, revoked_at timestamptz)
      WHERE k.valid_until IS NOT NULL OR k.revoked_at IS NOT NULL
     ON CONFLICT (key_id) DO UPDATE SET valid_until = least(e.valid_until, excluded.valid_until),
                                        revoked_at = least(e.revoked_at, excluded.revoked_at)', TG_TABLE_SCHEMA)
    USING NEW.document #> '{list,keys}';
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER applies_trust_list AFTER INSERT ON trust_lists FOR EACH ROW EXECUTE FUNCTION apply_trust_list();

CREATE OR REPLACE FUNCTION put_trust_lists(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO trust_lists (scope, trust_hash, version, document, receipt_id, accepted_at)
  SELECT p.scope, p.trust_hash, p.version, p.document, p.receipt_id, p.accepted_at
    FROM jsonb_populate_recordset(NULL::trust_lists, puts) AS p ORDER BY p.trust_hash
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('trust_lists'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_unknown('puts', puts, ARRAY[
    'fence_commands', 'fences', 'tenant_orgs', 'policy_bundles', 'policy_heads', 'policy_ceilings', 'shadow_lanes',
    'activation_signatures', 'tool_blocks', 'identities', 'identity_keys', 'access_keys', 'approval_terms', 'passkeys',
    'relation_heads', 'mcp_servers', 'auth_profiles', 'sandbox_grants', 'trust_lists', 'budget_terms', 'budgets', 'budget_usage',
    'approvals', 'dispatches', 'answers'
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

CREATE OR REPLACE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE
  ON trust_lists FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

COMMENT ON TABLE "trust_lists" IS 'append-only: trust lists; one counts if the root key signed it';
COMMENT ON TABLE "trust_key_ends" IS 'written by triggers: ends of keys, for the guard of appends';
