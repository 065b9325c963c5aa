-- CreateTable
CREATE TABLE "licences" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "activated_by" TEXT NOT NULL,
    "activated_at" TIMESTAMPTZ(3) NOT NULL,
    "replaced_at" TIMESTAMPTZ(3),

    CONSTRAINT "licences_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trials" (
    "org_id" TEXT NOT NULL,
    "plan_id" TEXT NOT NULL,
    "plan_version" INTEGER NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "started_by" TEXT NOT NULL,

    CONSTRAINT "trials_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "trial_domains" (
    "domain" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,

    CONSTRAINT "trial_domains_pkey" PRIMARY KEY ("domain")
);

-- CreateTable
CREATE TABLE "claimed_domains" (
    "org_id" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL,
    "verified_at" TIMESTAMPTZ(3),

    CONSTRAINT "claimed_domains_pkey" PRIMARY KEY ("org_id","domain")
);

-- CreateIndex
CREATE INDEX "licences_org_id_id_idx" ON "licences"("org_id", "id");

-- CreateIndex
CREATE INDEX "trial_domains_org_id_idx" ON "trial_domains"("org_id");

-- CreateIndex
CREATE INDEX "trials_plan_idx" ON "trials"("plan_id", "plan_version");

-- AddForeignKey
ALTER TABLE "trials" ADD CONSTRAINT "trials_plan_fkey" FOREIGN KEY ("plan_id", "plan_version") REFERENCES "plan_versions"("plan_id", "version") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "trial_domains" ADD CONSTRAINT "trial_domains_trial_fkey" FOREIGN KEY ("org_id") REFERENCES "trials"("org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Constraints that the schema language of Prisma cannot express.

CREATE UNIQUE INDEX "licences_one_current" ON "licences"("org_id") WHERE "replaced_at" IS NULL;
COMMENT ON TABLE "licences" IS 'never deleted: a licence is activated once';

ALTER TABLE "trials" ADD CONSTRAINT "trials_end" CHECK ("ends_at" > "starts_at");
COMMENT ON TABLE "trials" IS 'append-only: an organisation has one trial';
COMMENT ON TABLE "trial_domains" IS 'append-only: a domain has one trial';

-- An organisation cannot verify a domain that another one has verified.
CREATE UNIQUE INDEX "claimed_domains_one_owner" ON "claimed_domains"("domain") WHERE "verified_at" IS NOT NULL;
