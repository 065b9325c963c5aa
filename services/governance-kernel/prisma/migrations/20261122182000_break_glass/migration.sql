-- Who approved alone what a quorum or a time lock would have held, why and when; and whether the tenant wants that at all.
ALTER TABLE "approvals"
  ADD COLUMN "broken_by" TEXT, ADD COLUMN "broken_reason" TEXT, ADD COLUMN "broken_at" TIMESTAMPTZ(3),
  ADD CONSTRAINT "approvals_broken_with_reason"
    CHECK (num_nulls("broken_by", "broken_reason", "broken_at") IN (0, 3) AND ("broken_by" IS NULL OR "uses_remaining" <= 1));
ALTER TABLE "approval_terms" ADD COLUMN "break_glass" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "approval_terms" ALTER COLUMN "break_glass" DROP DEFAULT;

-- Under the lock of their session's head, which is their version. That somebody broke the glass is never undone.
CREATE OR REPLACE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals AS a SELECT * FROM jsonb_populate_recordset(NULL::approvals, puts) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET state = excluded.state, approved_by = excluded.approved_by, scope = excluded.scope,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at,
    rejection_reason = excluded.rejection_reason, args_encrypted = excluded.args_encrypted, timelock_until = excluded.timelock_until,
    expires_at = excluded.expires_at, broken_by = coalesce(a.broken_by, excluded.broken_by),
    broken_reason = coalesce(a.broken_reason, excluded.broken_reason), broken_at = coalesce(a.broken_at, excluded.broken_at);
END $$;

-- That a tenant has enrolled a passkey is never undone.
CREATE OR REPLACE FUNCTION put_approval_terms(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approval_terms AS t SELECT p.* FROM jsonb_populate_recordset(NULL::approval_terms, puts) AS p ORDER BY 1
  ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version, signatures_only = excluded.signatures_only,
    break_glass = excluded.break_glass, passkeys_since = coalesce(t.passkeys_since, excluded.passkeys_since),
    updated_at = excluded.updated_at;
END $$;
