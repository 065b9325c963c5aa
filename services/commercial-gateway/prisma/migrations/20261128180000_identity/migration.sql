-- CreateTable
CREATE TABLE "identity_settings" (
    "org_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "sso_required" BOOLEAN NOT NULL,
    "oidc_connection_id" TEXT,
    "role_mappings" TEXT NOT NULL,
    "updated_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identity_settings_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "scim_tokens" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "scim_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "scim_tokens_org_id_id_idx" ON "scim_tokens"("org_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "scim_tokens_secret_hash_key" ON "scim_tokens"("secret_hash");

-- Constraints that the schema language of Prisma cannot express.

ALTER TABLE "identity_settings" ADD CONSTRAINT "identity_settings_version" CHECK ("version" >= 0);
ALTER TABLE "identity_settings" ADD CONSTRAINT "identity_settings_connection" CHECK (NOT "sso_required" OR "oidc_connection_id" IS NOT NULL);
COMMENT ON TABLE "identity_settings" IS 'never deleted: versions do not repeat';

ALTER TABLE "scim_tokens" ADD CONSTRAINT "scim_tokens_expiry" CHECK ("expires_at" > "created_at");
COMMENT ON TABLE "scim_tokens" IS 'never deleted: audit entries refer to them';
