-- CreateTable
CREATE TABLE "watched_workspaces" (
    "workspace_id" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "watched_workspaces_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "heartbeats" (
    "service" TEXT NOT NULL,
    "asked_at" TIMESTAMPTZ(3) NOT NULL,
    "heard_at" TIMESTAMPTZ(3),
    "missed_since" TIMESTAMPTZ(3),

    CONSTRAINT "heartbeats_pkey" PRIMARY KEY ("service")
);

-- CreateTable
CREATE TABLE "incident_sightings" (
    "workspace_id" TEXT NOT NULL,
    "dedup_key" TEXT NOT NULL,
    "sighting" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "incident_sightings_pkey" PRIMARY KEY ("workspace_id","dedup_key","sighting")
);

-- CreateIndex
CREATE INDEX "watched_workspaces_checked_at_idx" ON "watched_workspaces"("checked_at");

-- CreateIndex
CREATE INDEX "incident_sightings_seen_at_idx" ON "incident_sightings"("seen_at");

-- What Prisma's schema language cannot say.
CREATE INDEX "stop_commands_unconfirmed_given_idx" ON "stop_commands"("given_at") WHERE "state" = 'unconfirmed';
-- Those that were there before anything was watched.
INSERT INTO "watched_workspaces" ("workspace_id", "place", "checked_at")
  SELECT "scope", 0, now() FROM "hint_heads" WHERE "scope" <> '*'
  UNION SELECT "workspace_id", 0, now() FROM "org_workspaces";
