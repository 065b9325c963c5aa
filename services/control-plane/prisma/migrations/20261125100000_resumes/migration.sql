-- AlterTable
ALTER TABLE "stop_commands" ADD COLUMN "decision_id" TEXT,
ADD COLUMN "receipt_id" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "stop_commands_decision_key" ON "stop_commands"("decision_id");

-- What Prisma's schema language cannot say. A stop is nobody's to allow; to lift one is what a decision allowed, once.
ALTER TABLE "stop_commands" DROP CONSTRAINT "stop_commands_kind";
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_kind" CHECK ("kind" IN ('freeze', 'throttle', 'quarantine', 'open'));
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_allowed"
  CHECK (("kind" = 'open') = ("decision_id" IS NOT NULL) AND ("kind" = 'open') = ("receipt_id" IS NOT NULL));
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_open" CHECK ("kind" <> 'open' OR "expires_at" IS NULL);
