-- AlterTable
ALTER TABLE "stop_commands" ADD COLUMN "plan_id" TEXT;

-- CreateTable
CREATE TABLE "plans" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "incident_id" TEXT,
    "state" TEXT NOT NULL,
    "steps" TEXT NOT NULL,
    "dry_run" TEXT NOT NULL,
    "plan_hash" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "approval_id" TEXT,
    "decision_id" TEXT,
    "decision_receipt_id" TEXT,
    "asked_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "committed_by" TEXT,
    "committed_at" TIMESTAMPTZ(3),

    CONSTRAINT "plans_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "stop_commands_plan_id_id_idx" ON "stop_commands"("plan_id", "id");

-- What Prisma's schema language cannot say.
ALTER TABLE "plans" ADD CONSTRAINT "plans_state"
  CHECK ("state" IN ('draft', 'pending', 'approved', 'rejected', 'expired', 'committed'));
ALTER TABLE "plans" ADD CONSTRAINT "plans_pending" CHECK ("state" <> 'pending' OR "approval_id" IS NOT NULL);
ALTER TABLE "plans" ADD CONSTRAINT "plans_committed"
  CHECK (("state" = 'committed') = ("committed_at" IS NOT NULL) AND ("state" = 'committed') = ("decision_id" IS NOT NULL));
-- Those that are forgotten when they have ended.
CREATE INDEX "plans_uncommitted_idx" ON "plans"("expires_at") WHERE "state" <> 'committed';
