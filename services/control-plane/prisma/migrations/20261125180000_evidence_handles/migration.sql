-- CreateTable
CREATE TABLE "evidence_handles" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "is_public" BOOLEAN NOT NULL,
    "shown" JSONB NOT NULL,
    "receipt_id" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "evidence_handles_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "evidence_handles_object_id_expires_at_idx" ON "evidence_handles"("object_id", "expires_at");

-- CreateIndex
CREATE INDEX "evidence_handles_expires_at_idx" ON "evidence_handles"("expires_at");

-- What Prisma's schema language cannot say: nothing is public that no decision has allowed.
ALTER TABLE "evidence_handles" ADD CONSTRAINT "evidence_handles_kind" CHECK ("kind" IN ('receipt', 'approval'));
ALTER TABLE "evidence_handles" ADD CONSTRAINT "evidence_handles_decided" CHECK ("is_public" = ("receipt_id" IS NOT NULL));
