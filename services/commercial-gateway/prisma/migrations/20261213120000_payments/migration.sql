-- CreateTable
CREATE TABLE "payment_customers" (
    "org_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "customer_id" TEXT NOT NULL,
    "method_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "payment_customers_pkey" PRIMARY KEY ("org_id","provider")
);

-- CreateTable
CREATE TABLE "checkouts" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "plan_id" TEXT,
    "plan_version" INTEGER,
    "invoice_id" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "checkouts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "collections" (
    "invoice_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "provider" TEXT,
    "reference" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure_code" TEXT,
    "next_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "collections_pkey" PRIMARY KEY ("invoice_id")
);

-- CreateTable
CREATE TABLE "refunds" (
    "org_id" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "invoice_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "payment_reference" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "failure_code" TEXT,
    "next_at" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "refunds_pkey" PRIMARY KEY ("org_id","reference")
);

-- AlterTable
ALTER TABLE "billing_budgets" ADD COLUMN "checked_seq" BIGINT, ADD COLUMN "checked_until" TIMESTAMPTZ(3);

-- CreateIndex
CREATE UNIQUE INDEX "payment_customers_provider_customer_id_key" ON "payment_customers"("provider", "customer_id");

-- CreateIndex
CREATE INDEX "checkouts_org_id_id_idx" ON "checkouts"("org_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "collections_provider_reference_key" ON "collections"("provider", "reference");

-- CreateIndex
CREATE INDEX "refunds_org_id_invoice_id_idx" ON "refunds"("org_id", "invoice_id");

-- AddForeignKey
ALTER TABLE "checkouts" ADD CONSTRAINT "checkouts_invoice_fkey" FOREIGN KEY ("invoice_id", "org_id") REFERENCES "invoices"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "collections" ADD CONSTRAINT "collections_invoice_fkey" FOREIGN KEY ("invoice_id", "org_id") REFERENCES "invoices"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_invoice_fkey" FOREIGN KEY ("invoice_id", "org_id") REFERENCES "invoices"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Constraints that the schema language of Prisma cannot express.

COMMENT ON TABLE "payment_customers" IS 'never deleted: payments of the provider refer to its customers';
ALTER TABLE "checkouts" ADD CONSTRAINT "checkouts_purpose" CHECK (("plan_id" IS NULL) = ("plan_version" IS NULL) AND ("plan_id" IS NULL) <> ("invoice_id" IS NULL));
ALTER TABLE "collections" ADD CONSTRAINT "collections_attempts" CHECK ("attempts" >= 0);
CREATE INDEX "collections_due" ON "collections"("next_at") WHERE "next_at" IS NOT NULL;
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_status" CHECK ("status" IN ('pending', 'succeeded', 'failed'));
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_amount" CHECK ("amount_minor" > 0);
COMMENT ON TABLE "refunds" IS 'never deleted: a reference is refunded once';
CREATE INDEX "refunds_due" ON "refunds"("next_at") WHERE "next_at" IS NOT NULL;

-- Invoices that are open already are collected too.
INSERT INTO "collections" ("invoice_id", "org_id", "next_at", "updated_at")
  SELECT "id", "org_id", now(), now() FROM "invoices" WHERE "status" = 'open';
