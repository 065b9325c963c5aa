-- Of a model call that is on its way: what it lets its provider run, so that a fence or a budget of a tool finds it.
ALTER TABLE "dispatches" ADD COLUMN "tools" TEXT[] DEFAULT ARRAY[]::TEXT[];
UPDATE "dispatches" d SET "tools" = ARRAY[l."tool"] FROM "ledger" l WHERE l."ulid" = d."ulid" AND l."tool" IS NOT NULL;

CREATE OR REPLACE FUNCTION put_dispatches(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dispatches (ulid, tenant_id, reservations, deadline_at, tools)
  SELECT p.ulid, p.tenant_id, p.reservations, p.deadline_at, coalesce(p.tools, '{}')
    FROM jsonb_populate_recordset(NULL::dispatches, puts) AS p ORDER BY p.ulid;
END $$;

-- What was used of a budget elsewhere, once for each event of its source.
CREATE TABLE "budget_usage" (
    "tenant_id" TEXT NOT NULL,
    "budget_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "counted" BOOLEAN NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budget_usage_pkey" PRIMARY KEY ("tenant_id", "budget_id", "event_id")
);
CREATE INDEX "budget_usage_recorded_at_idx" ON "budget_usage"("recorded_at");

-- An event that exists is a lost race.
CREATE FUNCTION put_budget_usage(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  told bigint;
BEGIN
  INSERT INTO budget_usage SELECT * FROM jsonb_populate_recordset(NULL::budget_usage, puts) AS p
   ORDER BY p.tenant_id, p.budget_id, p.event_id
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS told = ROW_COUNT;
  IF told <> jsonb_array_length(puts) THEN PERFORM refuse_stale('usage'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'tool_blocks' THEN PERFORM put_tool_blocks(puts -> 'tool_blocks'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;
