-- The one activation that was signed for a decision: the mark that the decision is used, and what it was used for.
CREATE TABLE "activation_signatures" (
    "tenant_id" TEXT NOT NULL,
    "decision_id" TEXT NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "report_hash" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,

    CONSTRAINT "activation_signatures_pkey" PRIMARY KEY ("tenant_id","decision_id")
);
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "activation_signatures"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

-- A decision signs once: a second mark is refused by the key.
CREATE FUNCTION put_activation_signatures(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO activation_signatures SELECT * FROM jsonb_populate_recordset(NULL::activation_signatures, puts) AS p;
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
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;
