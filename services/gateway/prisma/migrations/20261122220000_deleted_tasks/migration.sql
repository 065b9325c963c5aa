-- A deleted task is shown nowhere, so the lists read through indexes that do not hold it.
ALTER TABLE "tasks" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);

DROP INDEX "tasks_workspace_id_id_idx";
DROP INDEX "tasks_workspace_id_status_id_idx";
CREATE INDEX "tasks_of_workspace" ON "tasks"("workspace_id", "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "tasks_of_workspace_by_status" ON "tasks"("workspace_id", "status", "id") WHERE "deleted_at" IS NULL;
