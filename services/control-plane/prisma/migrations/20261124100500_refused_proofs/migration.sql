-- AlterTable
ALTER TABLE "logins" ADD COLUMN     "refused" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "user_id" TEXT;
