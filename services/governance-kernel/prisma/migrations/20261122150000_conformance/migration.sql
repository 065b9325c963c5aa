-- What conformance runs saw. The receipt of each holds its hash, so a row that was changed no longer matches it.
CREATE TABLE "conformance_reports" (
  "report_id" TEXT NOT NULL,
  "position" BIGSERIAL NOT NULL,
  "verdict" TEXT NOT NULL,
  "ended_at" TIMESTAMPTZ(3) NOT NULL,
  "report" TEXT NOT NULL,
  "report_hash" TEXT NOT NULL,
  "signature" TEXT NOT NULL,
  "receipt_id" TEXT NOT NULL,
  CONSTRAINT "conformance_reports_pkey" PRIMARY KEY ("report_id")
);
CREATE UNIQUE INDEX "conformance_reports_position_key" ON "conformance_reports"("position");
CREATE INDEX "conformance_reports_verdict_ended_at_idx" ON "conformance_reports"("verdict", "ended_at");

-- The one run of the installation, whichever replica executes it.
CREATE TABLE "conformance_runs" (
  "slot" INTEGER NOT NULL,
  "report_id" TEXT NOT NULL,
  "started_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "conformance_runs_pkey" PRIMARY KEY ("slot")
);
