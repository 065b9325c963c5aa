-- CreateTable
CREATE TABLE "connector_installs" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "connector_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "server_json_hash" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "attempt" TEXT NOT NULL,
    "installed_by" TEXT NOT NULL,
    "installed_at" TIMESTAMPTZ(3) NOT NULL,
    "disabled_by" TEXT,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "connector_installs_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "connector_installs_disabled_check" CHECK (("disabled_by" IS NULL) = ("disabled_at" IS NULL))
);

-- CreateIndex
CREATE UNIQUE INDEX "connector_installs_workspace_id_connector_id_key" ON "connector_installs"("workspace_id", "connector_id");
