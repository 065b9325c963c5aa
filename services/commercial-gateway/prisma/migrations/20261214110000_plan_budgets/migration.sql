-- CreateTable
CREATE TABLE "entitlement_states" (
    "org_id" TEXT NOT NULL,
    "published" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "entitlement_states_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "plan_budgets" (
    "workspace_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "tool_calls" BIGINT,
    "version" INTEGER NOT NULL,
    "is_confirmed" BOOLEAN NOT NULL,

    CONSTRAINT "plan_budgets_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateIndex
CREATE INDEX "entitlement_states_due_at_idx" ON "entitlement_states"("due_at");

-- CreateIndex
CREATE INDEX "plan_budgets_org_id_workspace_id_idx" ON "plan_budgets"("org_id", "workspace_id");

-- Constraints that the schema language of Prisma cannot express.

ALTER TABLE "plan_budgets" ADD CONSTRAINT "plan_budgets_version" CHECK ("version" >= 0 AND ("version" > 0 OR ("tool_calls" IS NULL AND "is_confirmed")));
