-- AlterTable: rows that exist hold answers, and a gateway of the version before writes neither column.
ALTER TABLE "idempotency_keys" ADD COLUMN     "headers" JSONB,
ADD COLUMN     "state" TEXT NOT NULL DEFAULT 'done',
ADD COLUMN     "status" INTEGER DEFAULT 200;
