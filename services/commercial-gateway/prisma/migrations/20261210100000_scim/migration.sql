-- CreateTable
CREATE TABLE "scim_users" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "user_name_key" TEXT NOT NULL,
    "display_name_key" TEXT,
    "external_id" TEXT,
    "email_keys" TEXT[],
    "address" TEXT,
    "active" BOOLEAN NOT NULL,
    "attributes" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "access_epoch" INTEGER NOT NULL DEFAULT 0,
    "sequence" INTEGER NOT NULL DEFAULT 0,
    "effect_due" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "scim_users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "scim_groups" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "display_name_key" TEXT NOT NULL,
    "external_id" TEXT,
    "version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "scim_groups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "scim_group_members" (
    "org_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,

    CONSTRAINT "scim_group_members_pkey" PRIMARY KEY ("org_id","group_id","user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "scim_users_org_id_id_key" ON "scim_users"("org_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "scim_groups_org_id_id_key" ON "scim_groups"("org_id", "id");

-- CreateIndex
CREATE INDEX "scim_group_members_user_idx" ON "scim_group_members"("org_id", "user_id");

-- AddForeignKey
ALTER TABLE "scim_group_members" ADD CONSTRAINT "scim_group_members_group_fkey" FOREIGN KEY ("org_id", "group_id") REFERENCES "scim_groups"("org_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "scim_group_members" ADD CONSTRAINT "scim_group_members_user_fkey" FOREIGN KEY ("org_id", "user_id") REFERENCES "scim_users"("org_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Constraints that the schema language of Prisma cannot express.

CREATE UNIQUE INDEX "scim_users_user_name" ON "scim_users"("org_id", "user_name_key") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "scim_users_external_id" ON "scim_users"("org_id", "external_id") WHERE "deleted_at" IS NULL;
-- Over all organisations: an address is one person, whom one organisation manages.
CREATE UNIQUE INDEX "scim_users_address" ON "scim_users"("address") WHERE "deleted_at" IS NULL;
CREATE INDEX "scim_users_email_keys" ON "scim_users" USING gin ("email_keys");
CREATE INDEX "scim_users_effect_due" ON "scim_users"("id") WHERE "effect_due";
CREATE INDEX "scim_groups_display_name" ON "scim_groups"("org_id", "display_name_key") WHERE "deleted_at" IS NULL;
CREATE INDEX "scim_groups_external_id" ON "scim_groups"("org_id", "external_id") WHERE "deleted_at" IS NULL;

ALTER TABLE "scim_users" ADD CONSTRAINT "scim_users_deleted" CHECK ("deleted_at" IS NULL OR NOT "active");
COMMENT ON TABLE "scim_users" IS 'never deleted: audit entries refer to them';
COMMENT ON TABLE "scim_groups" IS 'never deleted: audit entries refer to them';
