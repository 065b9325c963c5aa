-- A run asks, or the call of an API key. Of a run the session is the run itself.
ALTER TABLE "approvals"
  ALTER COLUMN "task_id" DROP NOT NULL, ALTER COLUMN "run_id" DROP NOT NULL, ALTER COLUMN "step_id" DROP NOT NULL,
  ADD COLUMN "api_key_id" TEXT, ADD COLUMN "api_key_name" TEXT, ADD COLUMN "session_id" TEXT,
  ADD COLUMN "action" TEXT, ADD COLUMN "resource" TEXT, ADD COLUMN "facts" TEXT NOT NULL DEFAULT '{}',
  ADD COLUMN "timelock_until" TIMESTAMPTZ(3), ADD COLUMN "held" BOOLEAN NOT NULL DEFAULT false;
UPDATE "approvals" SET "session_id" = "run_id", "action" = CASE WHEN "tool" IS NULL THEN 'model.call' ELSE 'tool.call' END;
ALTER TABLE "approvals"
  ALTER COLUMN "session_id" SET NOT NULL, ALTER COLUMN "action" SET NOT NULL, ALTER COLUMN "facts" DROP DEFAULT,
  ADD CONSTRAINT "approvals_of_a_run_or_a_key"
    CHECK (num_nonnulls("run_id", "api_key_id") = 1 AND num_nulls("run_id", "task_id", "step_id") IN (0, 3)
       AND num_nulls("api_key_id", "api_key_name") IN (0, 2));

-- Those whose run waits until their time lock has passed.
CREATE INDEX "approvals_held" ON "approvals"("timelock_until") WHERE "held";
