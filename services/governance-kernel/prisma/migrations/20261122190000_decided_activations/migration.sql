-- A tenant may ask for a decision on each of its bundles. The column stands last, since rows are put in the order of columns.
ALTER TABLE "policy_ceilings" ADD COLUMN "needs_decision" BOOLEAN NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION put_policy_ceilings(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_ceilings SELECT * FROM jsonb_populate_recordset(NULL::policy_ceilings, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version, rules = excluded.rules, set_by = excluded.set_by,
    updated_at = excluded.updated_at, needs_decision = excluded.needs_decision;
END $$;
