-- Failed calls of members. What is in `report` was never in a request, but for well-formed ids.
CREATE TABLE "call_reports" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "task_id" TEXT,
    "run_id" TEXT,
    "report" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "call_reports_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "call_reports_workspace_id_id_idx" ON "call_reports"("workspace_id", "id");
CREATE INDEX "call_reports_created_at_idx" ON "call_reports"("created_at");
