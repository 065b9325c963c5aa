-- AlterTable
ALTER TABLE "mcp_tools" ADD COLUMN "drifted_at" TIMESTAMPTZ(3);

UPDATE "mcp_tools" SET "drifted_at" = now() WHERE "pinned_hash" <> "current_hash";

-- What Prisma's schema language cannot say.
ALTER TABLE "mcp_tools" ADD CONSTRAINT "mcp_tools_drifted"
  CHECK ("pinned_hash" IS NULL OR ("pinned_hash" <> "current_hash") = ("drifted_at" IS NOT NULL));
-- Few have drifted, however many there are.
CREATE INDEX "mcp_tools_drifted_idx" ON "mcp_tools"("server_id", "tool_name") WHERE "drifted_at" IS NOT NULL;
