-- The lane of a workspace that a caller of the basic API requested last. The gateway enforces lanes and keeps its own copy.
CREATE TABLE "runtimes" (
    "workspace_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "confirmed_version" INTEGER NOT NULL DEFAULT 0,
    "failure" TEXT,
    "changed_by" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "runtimes_pkey" PRIMARY KEY ("workspace_id"),
    CONSTRAINT "runtimes_lane_known" CHECK ("lane" IN ('run', 'hold')),
    CONSTRAINT "runtimes_confirmed" CHECK ("confirmed_version" BETWEEN 0 AND "version")
);

-- The requests that the gateway has not confirmed.
CREATE INDEX "runtimes_due_at_idx" ON "runtimes"("due_at") WHERE "confirmed_version" < "version" AND "failure" IS NULL;
