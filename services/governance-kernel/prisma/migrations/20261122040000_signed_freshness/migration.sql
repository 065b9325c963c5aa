-- A policy is as fresh as the time that a policy key signed (ADR 0019): the head holds the newest statement, whole. One of before
-- says nothing of a time, so it is no statement until its source confirms the bundle.
ALTER TABLE "policy_heads"
  ADD COLUMN "key_id" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "signature" TEXT NOT NULL DEFAULT '';
ALTER TABLE "policy_heads" ALTER COLUMN "key_id" DROP DEFAULT, ALTER COLUMN "signature" DROP DEFAULT;

-- `activated_at` is the signed time of the first statement about the epoch.
CREATE OR REPLACE FUNCTION put_policy_heads(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at)
  SELECT p.tenant_id, p.epoch, p.policy_hash, p.bundle, p.key_id, p.signature, p.confirmed_at
    FROM jsonb_to_recordset(puts) AS p(tenant_id text, epoch int, policy_hash text, bundle text, key_id text, signature text, confirmed_at timestamptz)
   WHERE p.bundle IS NOT NULL;
  INSERT INTO policy_heads SELECT * FROM jsonb_populate_recordset(NULL::policy_heads, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET epoch = excluded.epoch, policy_hash = excluded.policy_hash,
    confirmed_at = excluded.confirmed_at, key_id = excluded.key_id, signature = excluded.signature;
END $$;
