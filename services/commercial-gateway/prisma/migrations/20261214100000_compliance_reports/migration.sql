-- CreateTable
CREATE TABLE "compliance_reports" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "question" TEXT NOT NULL,
    "framework" TEXT NOT NULL,
    "period_from" TIMESTAMPTZ(3) NOT NULL,
    "period_to" TIMESTAMPTZ(3) NOT NULL,
    "workspaces" TEXT[],
    "state" TEXT NOT NULL,
    "lease" TEXT,
    "available_at" TIMESTAMPTZ(3) NOT NULL,
    "receipts_read" BIGINT NOT NULL DEFAULT 0,
    "progress" TEXT,
    "report" TEXT,
    "report_hash" TEXT,
    "failure" TEXT,
    "requested_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "compliance_reports_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "compliance_reports_org_id_id_idx" ON "compliance_reports"("org_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "compliance_reports_org_id_question_key" ON "compliance_reports"("org_id", "question");

-- Constraints that the schema language of Prisma cannot express.

ALTER TABLE "compliance_reports" ADD CONSTRAINT "compliance_reports_period" CHECK ("period_from" < "period_to" AND "period_to" <= "created_at");
ALTER TABLE "compliance_reports" ADD CONSTRAINT "compliance_reports_done" CHECK (("state" = 'done') = ("report" IS NOT NULL AND "report_hash" IS NOT NULL));
ALTER TABLE "compliance_reports" ADD CONSTRAINT "compliance_reports_failed" CHECK (("state" = 'failed') = ("failure" IS NOT NULL));
ALTER TABLE "compliance_reports" ADD CONSTRAINT "compliance_reports_state" CHECK ("state" IN ('queued', 'running', 'done', 'failed'));
CREATE INDEX "compliance_reports_open_idx" ON "compliance_reports"("available_at", "id") WHERE "state" IN ('queued', 'running');
