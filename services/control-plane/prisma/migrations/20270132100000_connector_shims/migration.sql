-- CreateTable
CREATE TABLE "connector_shims" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "install_id" TEXT NOT NULL,
    "client" TEXT NOT NULL,
    "principal" TEXT NOT NULL,
    "key_id" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_by" TEXT,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "connector_shims_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "connector_shims_revoked_check" CHECK (("revoked_by" IS NULL) = ("revoked_at" IS NULL))
);

-- CreateIndex
CREATE INDEX "connector_shims_workspace_id_install_id_id_idx" ON "connector_shims"("workspace_id", "install_id", "id");
