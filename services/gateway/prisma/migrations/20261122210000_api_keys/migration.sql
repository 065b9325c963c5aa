-- A key speaks for the person who made it, in one workspace, never with more than that person's role, and goes with the membership.
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "key_hash" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "api_keys_role_check" CHECK ("role" IN ('partner', 'member')),
    CONSTRAINT "api_keys_member_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "workspace_members"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE NO ACTION
);
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");
CREATE INDEX "api_keys_workspace_id_id_idx" ON "api_keys"("workspace_id", "id");
CREATE INDEX "api_keys_workspace_id_user_id_id_idx" ON "api_keys"("workspace_id", "user_id", "id");
CREATE INDEX "api_keys_expires_at_idx" ON "api_keys"("expires_at");
-- The keys that still open something, which are counted before one more is made.
CREATE INDEX "api_keys_live_of_workspace" ON "api_keys"("workspace_id", "expires_at") WHERE "revoked_at" IS NULL;
