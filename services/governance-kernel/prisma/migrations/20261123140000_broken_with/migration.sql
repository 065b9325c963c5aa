-- What the glass was broken with, so that it carries no call where it would not be broken with that any more. Of that of
-- before nobody knows it: it counts as a claim.
ALTER TABLE "approvals" ADD COLUMN "broken_with" TEXT;

-- Under the lock of their session's head, which is their version. That somebody broke the glass is never undone.
CREATE OR REPLACE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals AS a SELECT * FROM jsonb_populate_recordset(NULL::approvals, puts) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET state = excluded.state, approved_by = excluded.approved_by,
    approved_with = excluded.approved_with, scope = excluded.scope,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at,
    rejection_reason = excluded.rejection_reason, args_encrypted = excluded.args_encrypted, timelock_until = excluded.timelock_until,
    expires_at = excluded.expires_at, broken_by = coalesce(a.broken_by, excluded.broken_by),
    broken_reason = coalesce(a.broken_reason, excluded.broken_reason), broken_at = coalesce(a.broken_at, excluded.broken_at),
    broken_with = coalesce(a.broken_with, excluded.broken_with);
END $$;
