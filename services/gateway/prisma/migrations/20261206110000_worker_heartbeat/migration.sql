-- One row: when a gateway that takes runs reported last. Without the row none ever has.
CREATE TABLE "worker_heartbeats" (
    "id" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "worker_heartbeats_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "worker_heartbeats_one_row" CHECK ("id" = 'runs')
);
