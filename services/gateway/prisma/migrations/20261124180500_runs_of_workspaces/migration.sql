-- CreateIndex
CREATE INDEX "runs_workspace_id_id_idx" ON "runs"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "runs_workspace_id_status_id_idx" ON "runs"("workspace_id", "status", "id");
