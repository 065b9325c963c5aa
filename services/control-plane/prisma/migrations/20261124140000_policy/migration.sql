-- CreateTable
CREATE TABLE "policy_drafts" (
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "policy_hash" TEXT,
    "report_id" TEXT,
    "updated_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "policy_drafts_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "what_if_jobs" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "bundle" TEXT NOT NULL,
    "from" TEXT,
    "to" TEXT,
    "decisions_max" INTEGER NOT NULL,
    "tree_size" INTEGER,
    "state" TEXT NOT NULL,
    "decisions" INTEGER NOT NULL DEFAULT 0,
    "report" TEXT,
    "failure" TEXT,
    "asked_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "lease" TEXT,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "what_if_jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "policy_activations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "report_id" TEXT NOT NULL,
    "report_hash" TEXT NOT NULL,
    "base_hash" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "decision_id" TEXT,
    "decision_receipt_id" TEXT,
    "asked_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),

    CONSTRAINT "policy_activations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "what_if_jobs_workspace_id_id_idx" ON "what_if_jobs"("workspace_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "policy_activations_change_key" ON "policy_activations"("workspace_id", "epoch", "policy_hash", "report_id");

-- What Prisma's schema language cannot say.
ALTER TABLE "policy_drafts" ADD CONSTRAINT "policy_drafts_state" CHECK ("state" IN ('editing', 'compiled', 'reported', 'activated'));
ALTER TABLE "policy_drafts" ADD CONSTRAINT "policy_drafts_compiled" CHECK (("state" = 'editing') = ("policy_hash" IS NULL));
ALTER TABLE "what_if_jobs" ADD CONSTRAINT "what_if_jobs_state" CHECK ("state" IN ('queued', 'running', 'done', 'failed'));
ALTER TABLE "what_if_jobs" ADD CONSTRAINT "what_if_jobs_report" CHECK (("state" = 'done') = ("report" IS NOT NULL));
ALTER TABLE "policy_activations" ADD CONSTRAINT "policy_activations_state" CHECK ("state" IN ('deciding', 'decided', 'active', 'replaced'));
ALTER TABLE "policy_activations" ADD CONSTRAINT "policy_activations_decided" CHECK ("state" = 'deciding' OR "decision_id" IS NOT NULL);

CREATE INDEX "what_if_jobs_open_idx" ON "what_if_jobs"("id") WHERE "state" IN ('queued', 'running');
CREATE INDEX "policy_activations_active_idx" ON "policy_activations"("confirmed_at") WHERE "state" = 'active';
