-- CreateTable
CREATE TABLE "replays" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "question" TEXT NOT NULL,
    "bundle" TEXT,
    "tree_size" INTEGER,
    "state" TEXT NOT NULL,
    "decisions" INTEGER NOT NULL DEFAULT 0,
    "findings" TEXT,
    "details" TEXT,
    "failure" TEXT,
    "asked_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "lease" TEXT,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "replays_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "replays_workspace_id_created_at_idx" ON "replays"("workspace_id", "created_at");

-- What Prisma's schema language cannot say: whoever looks for work finds what is open, and a handle may name a replay.
ALTER TABLE "replays" ADD CONSTRAINT "replays_state" CHECK ("state" IN ('queued', 'running', 'done', 'failed'));
ALTER TABLE "replays" ADD CONSTRAINT "replays_findings" CHECK (("state" = 'done') = ("findings" IS NOT NULL) AND ("state" = 'done') = ("details" IS NOT NULL));
CREATE INDEX "replays_open_idx" ON "replays"("created_at") WHERE "state" IN ('queued', 'running');

ALTER TABLE "evidence_handles" DROP CONSTRAINT "evidence_handles_kind";
ALTER TABLE "evidence_handles" ADD CONSTRAINT "evidence_handles_kind" CHECK ("kind" IN ('receipt', 'approval', 'replay'));
