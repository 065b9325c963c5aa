-- AlterTable
ALTER TABLE "scim_users" ADD COLUMN "published_epoch" INTEGER NOT NULL DEFAULT 0;
