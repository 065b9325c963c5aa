-- CreateTable
CREATE TABLE "orgs" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "admin_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "orgs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "org_workspaces" (
    "workspace_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL,
    "placed_at" TIMESTAMPTZ(3),

    CONSTRAINT "org_workspaces_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "orgs_admin_id_key" ON "orgs"("admin_id");

-- CreateIndex
CREATE INDEX "org_workspaces_org_id_added_at_idx" ON "org_workspaces"("org_id", "added_at");

-- AddForeignKey
ALTER TABLE "org_workspaces" ADD CONSTRAINT "org_workspaces_org_fkey" FOREIGN KEY ("org_id") REFERENCES "orgs"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say: the few that the kernel has not been told of yet.
CREATE INDEX "org_workspaces_unplaced" ON "org_workspaces"("added_at") WHERE "placed_at" IS NULL;
