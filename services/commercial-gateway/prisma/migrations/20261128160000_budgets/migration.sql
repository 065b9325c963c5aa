-- CreateTable
CREATE TABLE "billing_budgets" (
    "org_id" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "updated_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_budgets_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "billing_alerts" (
    "org_id" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "threshold_percent" INTEGER NOT NULL,
    "budget_minor" BIGINT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_alerts_pkey" PRIMARY KEY ("org_id","period_start","threshold_percent")
);

-- Constraints that the schema language of Prisma cannot express.

ALTER TABLE "billing_budgets" ADD CONSTRAINT "billing_budgets_amount" CHECK ("amount_minor" > 0);
ALTER TABLE "billing_budgets" ADD CONSTRAINT "billing_budgets_currency" CHECK ("currency" ~ '^[A-Z]{3}$');
ALTER TABLE "billing_alerts" ADD CONSTRAINT "billing_alerts_threshold" CHECK ("threshold_percent" IN (75, 90, 100));
COMMENT ON TABLE "billing_alerts" IS 'append-only: an alert is sent once per threshold and period';
