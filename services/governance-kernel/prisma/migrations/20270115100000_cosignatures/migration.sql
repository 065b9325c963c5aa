-- CreateTable
CREATE TABLE "cosignatures" (
    "witness" TEXT NOT NULL,
    "tree_size" BIGINT NOT NULL,
    "text_hash" TEXT NOT NULL,
    "line" TEXT NOT NULL,
    "signed_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cosignatures_pkey" PRIMARY KEY ("witness","tree_size")
);

-- CreateIndex
CREATE INDEX "cosignatures_tree_size_idx" ON "cosignatures"("tree_size");

COMMENT ON TABLE "cosignatures" IS 'append-only: cosignatures of witnesses on checkpoints';
