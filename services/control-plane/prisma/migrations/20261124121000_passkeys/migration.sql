-- AlterTable
ALTER TABLE "logins" ADD COLUMN     "statement" JSONB;

-- CreateTable
CREATE TABLE "passkeys" (
    "credential_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "enrolled_at" TIMESTAMPTZ(3) NOT NULL,
    "signed_in_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("credential_id")
);

-- CreateIndex
CREATE INDEX "passkeys_user_id_enrolled_at_idx" ON "passkeys"("user_id", "enrolled_at");

-- Of a login by passkey nobody knows who it is before it is answered.
ALTER TABLE "logins" DROP CONSTRAINT "logins_of_somebody";
ALTER TABLE "logins" ADD CONSTRAINT "logins_of_somebody" CHECK ("email" IS NOT NULL OR "session_id" IS NOT NULL OR "statement" IS NOT NULL);
