-- Who voted in which role and by which credential, and the person behind the agent that asks. An approval of the version before has none
-- of them: each of its votes still needs a voter who may vote, and its sponsor is unknown.
ALTER TABLE "approvals" ADD COLUMN "approved_as" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "approvals" ADD COLUMN "approved_credentials" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "approvals" ADD COLUMN "sponsor" TEXT;

-- Under the lock of their session's head, which is their version. A kernel of the version before writes rows without the new members.
CREATE OR REPLACE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals AS a SELECT * FROM jsonb_populate_recordset(NULL::approvals, (
    SELECT jsonb_agg('{"approved_as": [], "approved_credentials": []}'::jsonb || one) FROM jsonb_array_elements(puts) AS one
  )) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET state = excluded.state, approved_by = excluded.approved_by,
    approved_with = excluded.approved_with, approved_as = excluded.approved_as, approved_credentials = excluded.approved_credentials,
    scope = excluded.scope,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at,
    rejection_reason = excluded.rejection_reason, args_encrypted = excluded.args_encrypted, timelock_until = excluded.timelock_until,
    expires_at = excluded.expires_at, broken_by = coalesce(a.broken_by, excluded.broken_by),
    broken_reason = coalesce(a.broken_reason, excluded.broken_reason), broken_at = coalesce(a.broken_at, excluded.broken_at),
    broken_with = coalesce(a.broken_with, excluded.broken_with);
END $$;
