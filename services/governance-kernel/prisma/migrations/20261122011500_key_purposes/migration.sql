-- A key signs receipts, activations of policies, or the checkpoints of one log, and nothing else (ADR 0014).
ALTER TABLE "trust_keys" ADD COLUMN "purpose" TEXT NOT NULL DEFAULT 'receipts', ADD COLUMN "log_origin" TEXT;
ALTER TABLE "trust_keys" ALTER COLUMN "purpose" DROP DEFAULT;
ALTER TABLE "trust_keys" ADD CONSTRAINT "trust_keys_purpose_known" CHECK ("purpose" IN ('receipts', 'policies', 'log'));
ALTER TABLE "trust_keys" ADD CONSTRAINT "trust_keys_origin_of_log" CHECK (("purpose" = 'log') = ("log_origin" IS NOT NULL));

-- What a key signed before it was revoked is proven by the newest checkpoint from before.
CREATE INDEX "checkpoints_created_at_idx" ON "checkpoints"("created_at");
