/**
 * The delivery tables of one service, for its migration. Names have no schema, because search_path is the service's
 * schema.
 */
export const deliveryTablesSql = `
CREATE TABLE "subscriptions" (
    "id" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "event_types" TEXT[] NOT NULL,
    "secret_version" INTEGER NOT NULL DEFAULT 1,
    "rotated_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "busy_until" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "subscriptions_channel_check" CHECK ("channel" IN ('webhook', 'mail'))
);
CREATE UNIQUE INDEX "subscriptions_owner_channel_target_key" ON "subscriptions"("owner", "channel", "target");

CREATE TABLE "notifications" (
    "id" TEXT NOT NULL,
    "subscription_id" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'due',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    CONSTRAINT "notifications_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "notifications_state_check" CHECK ("state" IN ('due', 'delivered', 'failed')),
    CONSTRAINT "notifications_subscription_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE NO ACTION
);
CREATE INDEX "notifications_subscription_id_id_idx" ON "notifications"("subscription_id", "id");
CREATE INDEX "notifications_due" ON "notifications"("due_at") WHERE "state" = 'due';
CREATE INDEX "notifications_due_of_subscription" ON "notifications"("subscription_id", "due_at") WHERE "state" = 'due';
CREATE INDEX "notifications_ended" ON "notifications"("ended_at") WHERE "ended_at" IS NOT NULL;
`;

/** Columns and an index that a later migration of the service adds. */
export const deliveryTermsSql = `
ALTER TABLE "subscriptions" ADD COLUMN "filter" JSONB;
ALTER TABLE "subscriptions" ADD COLUMN "paused_at" TIMESTAMPTZ(3);
ALTER TABLE "notifications" ADD COLUMN "event_id" TEXT;
CREATE INDEX "notifications_owner_id_idx" ON "notifications"("owner", "id");
`;
