-- How long an approved call waits after the last vote.
ALTER TABLE "approvals" ADD COLUMN "timelock_seconds" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "approvals" ALTER COLUMN "timelock_seconds" DROP DEFAULT;

-- Under the lock of their session's head, which is their version.
CREATE OR REPLACE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals SELECT * FROM jsonb_populate_recordset(NULL::approvals, puts) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET state = excluded.state, approved_by = excluded.approved_by,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at,
    rejection_reason = excluded.rejection_reason, args_encrypted = excluded.args_encrypted, timelock_until = excluded.timelock_until;
END $$;
