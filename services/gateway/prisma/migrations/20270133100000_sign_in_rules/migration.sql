-- CreateTable
CREATE TABLE "sign_in_rules" (
    "org_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "sso_required" BOOLEAN NOT NULL,
    "connection_id" TEXT,
    "break_glass_user_id" TEXT NOT NULL,
    "domains" TEXT[],

    CONSTRAINT "sign_in_rules_pkey" PRIMARY KEY ("org_id"),
    CONSTRAINT "sign_in_rules_connection" CHECK (NOT "sso_required" OR "connection_id" IS NOT NULL)
);

-- CreateIndex
CREATE INDEX "sign_in_rules_domains_idx" ON "sign_in_rules" USING GIN ("domains");

-- Finds the people of a domain whose sessions end.
CREATE INDEX "users_domain_idx" ON "users" (split_part("email", '@', 2), "id");
