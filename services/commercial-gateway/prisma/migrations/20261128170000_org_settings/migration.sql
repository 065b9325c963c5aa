-- CreateTable
CREATE TABLE "org_suspensions" (
    "org_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "suspended_by" TEXT NOT NULL,
    "suspended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "org_suspensions_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "entitlement_overrides" (
    "org_id" TEXT NOT NULL,
    "terms" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "entitlement_overrides_pkey" PRIMARY KEY ("org_id")
);

-- Constraints that the schema language of Prisma cannot express.

ALTER TABLE "org_suspensions" ADD CONSTRAINT "org_suspensions_reason" CHECK ("reason" <> '');
ALTER TABLE "entitlement_overrides" ADD CONSTRAINT "entitlement_overrides_expiry" CHECK ("expires_at" > "created_at");
