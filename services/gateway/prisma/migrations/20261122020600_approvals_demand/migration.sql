-- Approvals show what is judged. Of one of before nobody wrote down the effect, so the gravest is assumed, and no demand is known.
ALTER TABLE "approvals"
  ADD COLUMN "effect_level" TEXT NOT NULL DEFAULT 'E4',
  ADD COLUMN "demand" JSONB NOT NULL DEFAULT '{"tool_calls": 0, "spend_micros": null, "egress_bytes": 0, "writes": 0}';
ALTER TABLE "approvals" ALTER COLUMN "effect_level" DROP DEFAULT, ALTER COLUMN "demand" DROP DEFAULT;
