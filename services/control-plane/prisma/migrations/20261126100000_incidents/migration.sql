-- AlterTable
ALTER TABLE "stop_commands" ADD COLUMN "incident_id" TEXT;

-- CreateTable
CREATE TABLE "incidents" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "severity" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "dedup_key" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "recurrence" INTEGER NOT NULL DEFAULT 1,
    "owner" TEXT,
    "receipts" TEXT[],
    "opened_by" TEXT,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "incidents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "incident_entries" (
    "id" TEXT NOT NULL,
    "incident_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "by" TEXT,
    "note" TEXT NOT NULL,
    "from" TEXT,
    "to" TEXT,
    "standing" TEXT[],
    "recurrence" INTEGER,
    "command_id" TEXT,
    "plan_id" TEXT,

    CONSTRAINT "incident_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "stop_commands_incident_id_id_idx" ON "stop_commands"("incident_id", "id");

-- CreateIndex
CREATE INDEX "plans_incident_id_id_idx" ON "plans"("incident_id", "id");

-- CreateIndex
CREATE INDEX "incidents_workspace_id_id_idx" ON "incidents"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "incidents_workspace_id_state_id_idx" ON "incidents"("workspace_id", "state", "id");

-- CreateIndex
CREATE INDEX "incident_entries_incident_id_id_idx" ON "incident_entries"("incident_id", "id");

-- AddForeignKey
ALTER TABLE "incident_entries" ADD CONSTRAINT "incident_entries_incident_fkey" FOREIGN KEY ("incident_id") REFERENCES "incidents"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.
ALTER TABLE "incidents" ADD CONSTRAINT "incidents_state" CHECK ("state" IN ('open', 'acked', 'mitigating', 'resolved', 'closed'));
ALTER TABLE "incidents" ADD CONSTRAINT "incidents_owner" CHECK (("state" = 'open') = ("owner" IS NULL));
ALTER TABLE "incidents" ADD CONSTRAINT "incidents_recurrence" CHECK ("recurrence" >= 1);
-- Of one thing there is one incident until somebody has closed it, however many see it at once.
CREATE UNIQUE INDEX "incidents_dedup_key" ON "incidents"("workspace_id", "dedup_key") WHERE "state" <> 'closed';
