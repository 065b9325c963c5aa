-- CreateTable
CREATE TABLE "shadow_lanes" (
    "workspace_id" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "bundle" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "set_by" TEXT NOT NULL,
    "set_at" TIMESTAMPTZ(3) NOT NULL,
    "deliver_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "shadow_lanes_pkey" PRIMARY KEY ("workspace_id","lane")
);

-- CreateTable
CREATE TABLE "shadow_readings" (
    "workspace_id" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "read_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "shadow_readings_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "shadow_hours" (
    "workspace_id" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "decisions" INTEGER NOT NULL,
    "diverged" INTEGER NOT NULL,
    "widened" INTEGER NOT NULL,
    "faults" INTEGER NOT NULL,

    CONSTRAINT "shadow_hours_pkey" PRIMARY KEY ("workspace_id","lane","policy_hash","hour")
);

-- CreateIndex
CREATE INDEX "shadow_lanes_deliver_at_idx" ON "shadow_lanes"("deliver_at");

-- CreateIndex
CREATE INDEX "shadow_readings_read_at_idx" ON "shadow_readings"("read_at");

-- CreateIndex
CREATE INDEX "shadow_hours_hour_idx" ON "shadow_hours"("hour");

-- What Prisma's schema language cannot say.
ALTER TABLE "shadow_lanes" ADD CONSTRAINT "shadow_lanes_state" CHECK ("state" IN ('unconfirmed', 'standing', 'ending'));
