-- AlterTable
ALTER TABLE "logins" ADD COLUMN     "session_id" TEXT,
ALTER COLUMN "email" DROP NOT NULL;

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "address" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "client" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "role" TEXT,
ADD COLUMN     "workspace_id" TEXT;

-- CreateTable
CREATE TABLE "device_logins" (
    "code_hash" TEXT NOT NULL,
    "user_code" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "workspace_id" TEXT,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "interval_seconds" INTEGER NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,
    "user_id" TEXT,
    "session_id" TEXT,

    CONSTRAINT "device_logins_pkey" PRIMARY KEY ("code_hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "device_logins_user_code_key" ON "device_logins"("user_code");

-- CreateIndex
CREATE INDEX "device_logins_expires_at_idx" ON "device_logins"("expires_at");

-- CreateIndex
CREATE INDEX "logins_session_id_idx" ON "logins"("session_id");

-- AddForeignKey
ALTER TABLE "logins" ADD CONSTRAINT "logins_session_fkey" FOREIGN KEY ("session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.

ALTER TABLE "logins" ADD CONSTRAINT "logins_of_somebody" CHECK ("email" IS NOT NULL OR "session_id" IS NOT NULL);
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_of_programs" CHECK (("workspace_id" IS NULL) = ("role" IS NULL));
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_role" CHECK ("role" IN ('member', 'partner', 'owner'));
ALTER TABLE "device_logins" ADD CONSTRAINT "device_logins_state" CHECK ("state" IN ('pending', 'approved', 'denied', 'used'));
ALTER TABLE "device_logins" ADD CONSTRAINT "device_logins_role" CHECK ("role" IN ('member', 'partner', 'owner'));
ALTER TABLE "device_logins" ADD CONSTRAINT "device_logins_answered" CHECK (
  ("state" = 'pending') = ("user_id" IS NULL) AND ("user_id" IS NULL) = ("session_id" IS NULL)
  AND ("state" NOT IN ('approved', 'used') OR "workspace_id" IS NOT NULL)
);
