-- Receipts that failed verification when they arrived. Nothing was executed under them. Their content is attacker-controlled, so no id of it is a key.
CREATE TABLE "refused_receipts" (
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "decision_id" TEXT NOT NULL,
    "task_id" TEXT,
    "run_id" TEXT,
    "step_id" TEXT,
    "fault" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "refused_receipts_pkey" PRIMARY KEY ("workspace_id","id")
);
CREATE INDEX "refused_receipts_workspace_id_decision_id_id_idx" ON "refused_receipts"("workspace_id", "decision_id", "id");
COMMENT ON TABLE "refused_receipts" IS 'append-only: receipts that failed verification on arrival';

-- Receipts that verified on arrival and failed later, because their key was revoked.
CREATE TABLE "receipt_faults" (
    "workspace_id" TEXT NOT NULL,
    "decision_id" TEXT NOT NULL,
    "fault" TEXT NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "receipt_faults_pkey" PRIMARY KEY ("workspace_id","decision_id")
);
COMMENT ON TABLE "receipt_faults" IS 'append-only: receipts that failed verification after a revocation';

-- Receipts of one key, by their arrival.
CREATE INDEX "receipts_of_key" ON "receipts"(("document" #>> '{signature,key_id}'), "received_at");
