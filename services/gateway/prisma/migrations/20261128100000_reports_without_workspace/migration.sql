-- A request may name no workspace, and an agent that the kernel alone knows is no user. An older gateway reads within a workspace.
ALTER TABLE "call_reports" ALTER COLUMN "workspace_id" DROP NOT NULL;
ALTER TABLE "call_reports" ALTER COLUMN "user_id" DROP NOT NULL;
CREATE INDEX "call_reports_user_id_id_idx" ON "call_reports"("user_id", "id");
