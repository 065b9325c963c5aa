/**
 * The messaging tables of one service, for its migration. `prisma-models.prisma` of this package describes the same
 * columns. Names have no schema, because search_path is the service's schema.
 */
export const messagingTablesSql = `
CREATE TABLE "outbox" (
    "id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "envelope" TEXT NOT NULL,
    "needs_consumer" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "available_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "sent_at" TIMESTAMPTZ(6),
    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "outbox_unsent" ON "outbox"("position") WHERE "sent_at" IS NULL;
CREATE INDEX "outbox_sent" ON "outbox"("sent_at") WHERE "sent_at" IS NOT NULL;

CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer", "message_id")
);
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

CREATE TABLE "deliveries" (
    "queue" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "envelope" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("queue", "message_id")
);
CREATE INDEX "deliveries_queue_position_idx" ON "deliveries"("queue", "position");

CREATE TABLE "dead_letters" (
    "queue" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "envelope" TEXT NOT NULL,
    "deliveries" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "dead_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("queue", "message_id")
);
`;
