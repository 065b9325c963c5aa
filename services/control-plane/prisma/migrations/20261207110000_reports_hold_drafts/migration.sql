-- AlterTable
ALTER TABLE "what_if_jobs" ADD COLUMN     "holds_draft" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "what_if_jobs_holding_idx" ON "what_if_jobs"("workspace_id", "finished_at") WHERE "holds_draft";
