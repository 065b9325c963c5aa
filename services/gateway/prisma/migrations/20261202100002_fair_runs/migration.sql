-- True for a queued run without a job: its workspace has as many running runs as it may have. A run of it that ends brings the job back.
-- An older gateway takes the run that a job names, whatever this column says; a newer one corrects it with its next sweep.
ALTER TABLE "runs" ADD COLUMN "over_limit" BOOLEAN NOT NULL DEFAULT false;
-- The oldest waiting run of each workspace.
CREATE INDEX "runs_waiting" ON "runs"("workspace_id", "created_at", "id") WHERE "status" = 'queued' AND NOT "over_limit";
CREATE INDEX "runs_over_limit" ON "runs"("workspace_id", "created_at", "id") WHERE "status" = 'queued' AND "over_limit";
-- When a workspace was served last.
CREATE INDEX "runs_workspace_id_started_at_idx" ON "runs"("workspace_id", "started_at");
