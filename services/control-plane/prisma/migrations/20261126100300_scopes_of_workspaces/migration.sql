-- CreateIndex
CREATE INDEX "stop_scopes_workspace_id_scope_idx" ON "stop_scopes"("workspace_id", "scope");
