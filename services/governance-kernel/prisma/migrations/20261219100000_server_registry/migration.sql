-- AlterTable
ALTER TABLE "mcp_servers" ADD COLUMN "tenant_id" TEXT,
ADD COLUMN "sealed_config" TEXT,
ADD COLUMN "config_hash" TEXT,
ADD COLUMN "registered_by" TEXT,
ADD COLUMN "approved_by" TEXT,
ADD COLUMN "approved_at" TIMESTAMPTZ(3),
ADD COLUMN "approval_receipt_id" TEXT,
ADD COLUMN "expires_at" TIMESTAMPTZ(3),
ADD COLUMN "revoked_by" TEXT,
ADD COLUMN "revoked_at" TIMESTAMPTZ(3),
ADD COLUMN "reason" TEXT,
ADD COLUMN "hidden" JSONB;

-- AlterTable
ALTER TABLE "mcp_tools" ADD COLUMN "gone_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "mcp_servers_tenant_id_idx" ON "mcp_servers"("tenant_id");

-- What Prisma's schema language cannot say.
-- Decisions read all servers of an owner at once.
CREATE INDEX "mcp_servers_owner_idx" ON "mcp_servers"((coalesce("tenant_id", '')), "server_id");
