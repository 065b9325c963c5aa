-- AlterTable
ALTER TABLE "what_if_jobs" ADD COLUMN     "holds_draft" BOOLEAN NOT NULL DEFAULT false;
