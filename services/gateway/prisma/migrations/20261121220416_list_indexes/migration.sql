-- DropIndex
DROP INDEX "outbox_sent_at_position_idx";

-- CreateIndex
CREATE INDEX "approvals_workspace_id_status_id_idx" ON "approvals"("workspace_id", "status", "id");

-- CreateIndex
CREATE INDEX "audit_entries_workspace_id_action_seq_idx" ON "audit_entries"("workspace_id", "action", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_workspace_id_actor_seq_idx" ON "audit_entries"("workspace_id", "actor", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_workspace_id_verdict_seq_idx" ON "audit_entries"("workspace_id", "verdict", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_workspace_id_created_at_seq_idx" ON "audit_entries"("workspace_id", "created_at", "seq");

-- CreateIndex
CREATE INDEX "tasks_workspace_id_status_id_idx" ON "tasks"("workspace_id", "status", "id");

-- What Prisma's schema language cannot say: the few rows that a sweep looks for, among all that are over.
CREATE INDEX "runs_queued" ON "runs"((coalesce("orphaned_at", "created_at"))) WHERE "status" = 'queued';
CREATE INDEX "run_steps_dispatched" ON "run_steps"("run_id") WHERE "state" = 'dispatched';

-- The outbox is read in two ways: what is to be sent next, and what was sent long ago.
CREATE INDEX "outbox_unsent" ON "outbox"("position") WHERE "sent_at" IS NULL;
CREATE INDEX "outbox_sent" ON "outbox"("sent_at") WHERE "sent_at" IS NOT NULL;
