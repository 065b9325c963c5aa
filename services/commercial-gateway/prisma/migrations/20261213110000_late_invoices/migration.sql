-- AlterTable
ALTER TABLE "invoices" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'period';

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN "settled_at" TIMESTAMPTZ(3);

-- Constraints that the schema language of Prisma cannot express.

-- contract: the version before writes the default alone, which the constraint permits.
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_kind" CHECK ("kind" IN ('period', 'late_usage'));
-- contract: the index is replaced by two, and no rows of the version before differ between them.
DROP INDEX "invoices_one_per_period";
-- A period is billed once. A void invoice can be replaced.
CREATE UNIQUE INDEX "invoices_one_per_period" ON "invoices"("subscription_id", "period_start") WHERE "status" <> 'void' AND "kind" = 'period';
-- Usage that arrives after a cancellation is billed once.
CREATE UNIQUE INDEX "invoices_one_late" ON "invoices"("subscription_id") WHERE "kind" = 'late_usage';

-- What the billing worker looks for. The first expression is the end of the monthly period in progress.
CREATE INDEX "subscriptions_period_end" ON "subscriptions"
  ((("anchor_at" AT TIME ZONE 'UTC') + make_interval(months => "period_index" + 1))) WHERE "status" IN ('active', 'past_due', 'unpaid');
CREATE INDEX "subscriptions_grace" ON "subscriptions"("past_due_since") WHERE "status" = 'past_due';
CREATE INDEX "subscriptions_unsettled" ON "subscriptions"("canceled_at") WHERE "status" = 'canceled' AND "settled_at" IS NULL;
CREATE INDEX "invoices_draft" ON "invoices"("id") WHERE "status" = 'draft';
CREATE INDEX "credit_grants_expiring" ON "credit_grants"("expires_at") WHERE "remaining_minor" > 0 AND "expires_at" IS NOT NULL;
