-- Money is exact: what is used and reserved counts in millionths of a minor unit (ADR 0013). Limits stay in minor units.
ALTER TABLE "budgets"
  ADD COLUMN "used_spend_micros" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "reserved_spend_micros" BIGINT NOT NULL DEFAULT 0;
UPDATE "budgets" SET
  "used_spend_micros" = least("used_spend_minor"::numeric * 1000000, 9000000000000000000)::bigint,
  "reserved_spend_micros" = least("reserved_spend_minor"::numeric * 1000000, 9000000000000000000)::bigint;
ALTER TABLE "budgets" DROP COLUMN "used_spend_minor", DROP COLUMN "reserved_spend_minor";
UPDATE "dispatches" SET "reservations" = (
  SELECT coalesce(jsonb_agg(jsonb_set(r, '{demand}', (r -> 'demand') - 'spend_minor' || jsonb_build_object('spend_micros',
           (((r -> 'demand' ->> 'spend_minor')::numeric * 1000000)::bigint)::text))), '[]')
    FROM jsonb_array_elements("reservations") AS r);

-- The tools that a workspace blocks: one row for each tenant, whole.
CREATE TABLE "tool_blocks" (
    "tenant_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "tools" TEXT[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_blocks_pkey" PRIMARY KEY ("tenant_id")
);
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "tool_blocks"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE FUNCTION put_tool_blocks(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tool_blocks SELECT * FROM jsonb_populate_recordset(NULL::tool_blocks, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version, tools = excluded.tools, updated_at = excluded.updated_at;
END $$;

-- What people set of budgets. What decisions take of the same budgets is written after it.
CREATE FUNCTION put_budget_terms(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO budgets (tenant_id, budget_id, subject, "window", tool_call_limit, spend_limit_minor, currency, egress_limit_bytes,
                       write_limit, approval_required_above_minor, resets_at, version, updated_at)
  SELECT p.tenant_id, p.budget_id, p.subject, p."window", p.tool_call_limit, p.spend_limit_minor, p.currency, p.egress_limit_bytes,
         p.write_limit, p.approval_required_above_minor, p.resets_at, p.version, p.updated_at
    FROM jsonb_populate_recordset(NULL::budgets, puts) AS p ORDER BY 1, 2
  ON CONFLICT (tenant_id, budget_id) DO UPDATE SET subject = excluded.subject, "window" = excluded."window",
    tool_call_limit = excluded.tool_call_limit, spend_limit_minor = excluded.spend_limit_minor, currency = excluded.currency,
    egress_limit_bytes = excluded.egress_limit_bytes, write_limit = excluded.write_limit,
    approval_required_above_minor = excluded.approval_required_above_minor, resets_at = excluded.resets_at,
    version = excluded.version, updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_budgets(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  PERFORM 1 FROM budgets b JOIN jsonb_populate_recordset(NULL::budgets, puts) AS p USING (tenant_id, budget_id)
    ORDER BY b.tenant_id, b.budget_id FOR UPDATE OF b;
  UPDATE budgets b SET
    used_tool_calls = p.used_tool_calls, used_spend_micros = p.used_spend_micros,
    used_egress_bytes = p.used_egress_bytes, used_writes = p.used_writes,
    reserved_tool_calls = p.reserved_tool_calls, reserved_spend_micros = p.reserved_spend_micros,
    reserved_egress_bytes = p.reserved_egress_bytes, reserved_writes = p.reserved_writes,
    resets_at = p.resets_at, revision = b.revision + 1
    FROM jsonb_populate_recordset(NULL::budgets, puts) AS p
   WHERE b.tenant_id = p.tenant_id AND b.budget_id = p.budget_id AND b.revision = p.revision;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('budget'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'tool_blocks' THEN PERFORM put_tool_blocks(puts -> 'tool_blocks'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;
