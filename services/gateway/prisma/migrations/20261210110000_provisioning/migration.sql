-- CreateTable
CREATE TABLE "provisioned_people" (
    "org_id" TEXT NOT NULL,
    "scim_user_id" TEXT NOT NULL,
    "user_id" TEXT,
    "address" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "access_epoch" INTEGER NOT NULL,
    "is_active" BOOLEAN NOT NULL,
    "role" TEXT,
    "workspace_ids" TEXT[],
    "granted_by" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "approvals_due" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "provisioned_people_pkey" PRIMARY KEY ("org_id","scim_user_id")
);

-- CreateTable
CREATE TABLE "provisioned_members" (
    "workspace_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "local_role" TEXT,

    CONSTRAINT "provisioned_members_pkey" PRIMARY KEY ("workspace_id","user_id")
);

-- CreateIndex
CREATE INDEX "provisioned_people_user_id_idx" ON "provisioned_people"("user_id");

-- CreateIndex
CREATE INDEX "provisioned_people_due_at_idx" ON "provisioned_people"("due_at");

-- AddForeignKey
ALTER TABLE "provisioned_members" ADD CONSTRAINT "provisioned_members_member_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "workspace_members"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE NO ACTION;
