-- An approval binds what was judged (ADR 0015). One of before binds less than that: it has the hash of no call, so it fits none.
ALTER TABLE "approvals"
  ADD COLUMN "demand" JSONB NOT NULL DEFAULT '{"tool_calls": 0, "spend_micros": null, "egress_bytes": 0, "writes": 0}',
  ADD COLUMN "facts" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "args_encrypted" TEXT,
  ADD COLUMN "judged_hash" TEXT NOT NULL DEFAULT 'sha256:0000000000000000000000000000000000000000000000000000000000000000';
ALTER TABLE "approvals"
  ALTER COLUMN "demand" DROP DEFAULT, ALTER COLUMN "facts" DROP DEFAULT, ALTER COLUMN "judged_hash" DROP DEFAULT;

-- The arguments are there for whoever is to decide, and for nobody afterwards.
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_args_while_pending" CHECK ("state" = 'pending' OR "args_encrypted" IS NULL);

-- Under the lock of their session's head, which is their version.
CREATE OR REPLACE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals SELECT * FROM jsonb_populate_recordset(NULL::approvals, puts) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET state = excluded.state, approved_by = excluded.approved_by,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at,
    rejection_reason = excluded.rejection_reason, args_encrypted = excluded.args_encrypted;
END $$;
