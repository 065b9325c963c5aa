-- Filters and pauses of subscriptions, and the event of a caller that a notification is about.
ALTER TABLE "subscriptions" ADD COLUMN "filter" JSONB;
ALTER TABLE "subscriptions" ADD COLUMN "paused_at" TIMESTAMPTZ(3);
ALTER TABLE "notifications" ADD COLUMN "event_id" TEXT;
CREATE INDEX "notifications_owner_id_idx" ON "notifications"("owner", "id");

-- Events that callers emitted. A key of a workspace counts once while its row is kept.
CREATE TABLE "emitted_events" (
    "workspace_id" TEXT NOT NULL,
    "dedupe_key" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "deliveries" INTEGER NOT NULL,
    "emitted_by" TEXT NOT NULL,
    "emitted_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "emitted_events_pkey" PRIMARY KEY ("workspace_id", "dedupe_key")
);
CREATE INDEX "emitted_events_workspace_id_emitted_at_idx" ON "emitted_events"("workspace_id", "emitted_at");
CREATE INDEX "emitted_events_emitted_at_idx" ON "emitted_events"("emitted_at");
