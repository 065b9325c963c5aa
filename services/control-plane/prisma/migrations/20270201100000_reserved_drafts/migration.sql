-- AlterTable
ALTER TABLE "policy_drafts" ADD COLUMN     "reserved_by" TEXT,
ADD COLUMN     "reserved_until" TIMESTAMPTZ(3);
