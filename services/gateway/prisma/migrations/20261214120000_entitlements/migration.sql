-- CreateTable
CREATE TABLE "org_workspaces" (
    "workspace_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "org_workspaces_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "entitlements" (
    "org_id" TEXT NOT NULL,
    "limits" JSONB NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "entitlements_pkey" PRIMARY KEY ("org_id")
);

-- CreateIndex
CREATE INDEX "org_workspaces_org_id_workspace_id_idx" ON "org_workspaces"("org_id", "workspace_id");
