CREATE INDEX "evidence_handles_workspace_id_created_at_id_idx" ON "evidence_handles"("workspace_id", "created_at", "id");
