-- CreateTable
CREATE TABLE "idempotency_keys" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "status" INTEGER,
    "answer" TEXT,
    "headers" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope","key")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- Prisma's schema language has no CHECK: a key is done exactly when it has an answer.
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_state" CHECK ("state" IN ('running', 'done'));
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_answer" CHECK (("state" = 'done') = ("answer" IS NOT NULL) AND ("state" = 'done') = ("status" IS NOT NULL));
