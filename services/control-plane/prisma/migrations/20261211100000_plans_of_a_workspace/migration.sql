-- Plans are listed by workspace.
CREATE INDEX "plans_workspace_id_id_idx" ON "plans"("workspace_id", "id");
