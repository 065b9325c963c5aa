-- A fence is what the latest command made of its scope. Its epoch only rises, so a lifted fence keeps its row. Nothing set one before.
DELETE FROM "fences";
ALTER TABLE "fences" RENAME COLUMN "created_at" TO "effective_at";
ALTER TABLE "fences"
  ADD COLUMN "epoch" INTEGER NOT NULL,
  ADD COLUMN "call_limit" INTEGER,
  ADD COLUMN "window_seconds" INTEGER,
  ADD COLUMN "expires_at" TIMESTAMPTZ(3),
  ADD COLUMN "set_by" TEXT NOT NULL,
  ADD COLUMN "calls_taken" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "window_ends_at" TIMESTAMPTZ(3),
  ADD COLUMN "revision" BIGINT NOT NULL DEFAULT 0;

-- What a throttle has let through moves with each call and has a revision of its own; the epoch is for the command.
DROP TRIGGER moves_the_epoch ON "fences";
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE OF "scope", "kind", "reason", "effective_at", "epoch",
    "call_limit", "window_seconds", "expires_at", "set_by"
  ON "fences" FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE FUNCTION put_fence_commands(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO fences (scope, kind, reason, effective_at, epoch, call_limit, window_seconds, expires_at, set_by)
  SELECT p.scope, p.kind, p.reason, p.effective_at, p.epoch, p.call_limit, p.window_seconds, p.expires_at, p.set_by
    FROM jsonb_populate_recordset(NULL::fences, puts) AS p ORDER BY 1
  ON CONFLICT (scope) DO UPDATE SET kind = excluded.kind, reason = excluded.reason, effective_at = excluded.effective_at,
    epoch = excluded.epoch, call_limit = excluded.call_limit, window_seconds = excluded.window_seconds,
    expires_at = excluded.expires_at, set_by = excluded.set_by;
END $$;

-- What calls take of throttles, and the fresh count of a new command.
CREATE FUNCTION put_fences(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  PERFORM 1 FROM fences f JOIN jsonb_populate_recordset(NULL::fences, puts) AS p USING (scope) ORDER BY f.scope FOR UPDATE OF f;
  UPDATE fences f SET calls_taken = p.calls_taken, window_ends_at = p.window_ends_at, revision = f.revision + 1
    FROM jsonb_populate_recordset(NULL::fences, puts) AS p WHERE f.scope = p.scope AND f.revision = p.revision;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('fence'); END IF;
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
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

-- Calls of a fenced tenant that are still out, oldest first.
CREATE INDEX "dispatches_tenant_id_ulid_idx" ON "dispatches"("tenant_id", "ulid");
