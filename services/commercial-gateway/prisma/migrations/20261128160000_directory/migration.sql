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

    CONSTRAINT "org_workspaces_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateIndex
CREATE INDEX "orgs_admin_id_idx" ON "orgs"("admin_id");

-- CreateIndex
CREATE INDEX "org_workspaces_org_id_workspace_id_idx" ON "org_workspaces"("org_id", "workspace_id");

COMMENT ON TABLE "orgs" IS 'append-only: a copy, and the control plane never changes an organisation';
COMMENT ON TABLE "org_workspaces" IS 'append-only: a workspace never moves to another organisation';
