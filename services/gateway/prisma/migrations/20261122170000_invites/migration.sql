-- An invite is open until it is accepted, and leads to a member once its address is proven. One that can still lead there is live.
CREATE TABLE "invites" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "invited_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "invites_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "invites_role_check" CHECK ("role" IN ('partner', 'member')),
    CONSTRAINT "invites_workspace_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE UNIQUE INDEX "invites_token_hash_key" ON "invites"("token_hash");
CREATE INDEX "invites_live_of_workspace" ON "invites"("workspace_id", "id") WHERE "ended_at" IS NULL;
CREATE INDEX "invites_live_of_address" ON "invites"("email") WHERE "ended_at" IS NULL;
CREATE INDEX "invites_expires_at_idx" ON "invites"("expires_at");
