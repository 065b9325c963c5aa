-- Groups of workspaces, and environments that keys of a workspace may name.
CREATE TABLE "projects" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "projects_org_id_name_key" ON "projects"("org_id", "name");
CREATE INDEX "projects_org_id_id_idx" ON "projects"("org_id", "id");

CREATE TABLE "project_workspaces" (
    "project_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,

    CONSTRAINT "project_workspaces_pkey" PRIMARY KEY ("project_id", "workspace_id"),
    CONSTRAINT "project_workspaces_project_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE RESTRICT ON UPDATE NO ACTION
);
CREATE INDEX "project_workspaces_org_id_workspace_id_idx" ON "project_workspaces"("org_id", "workspace_id");

CREATE TABLE "environments" (
    "workspace_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "environments_pkey" PRIMARY KEY ("workspace_id", "environment"),
    CONSTRAINT "environments_environment_check" CHECK ("environment" IN ('dev', 'staging', 'prod'))
);
