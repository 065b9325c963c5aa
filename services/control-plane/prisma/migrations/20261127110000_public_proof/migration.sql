-- CreateTable
CREATE TABLE "public_proofs" (
    "workspace_id" TEXT NOT NULL,
    "setting" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "public_proofs_pkey" PRIMARY KEY ("workspace_id")
);

-- What Prisma's schema language cannot say.
ALTER TABLE "public_proofs" ADD CONSTRAINT "public_proofs_setting" CHECK ("setting" IN ('off', 'published'));

-- Each handle stands under the setting of its workspace.
INSERT INTO "public_proofs" SELECT DISTINCT "workspace_id", 'published', now() FROM "evidence_handles";

-- AddForeignKey
ALTER TABLE "evidence_handles" ADD CONSTRAINT "evidence_handles_public_proof_fkey" FOREIGN KEY ("workspace_id") REFERENCES "public_proofs"("workspace_id") ON DELETE NO ACTION ON UPDATE NO ACTION;
