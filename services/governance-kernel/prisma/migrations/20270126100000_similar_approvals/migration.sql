-- Approvers see how earlier requests of the same agent for the same tool were decided.
CREATE INDEX "approvals_tenant_id_requested_by_tool_approval_id_idx" ON "approvals"("tenant_id", "requested_by", "tool", "approval_id");
