-- The list of members is told under a version that rises with each change, and again from time to time; a list that was never told is due.
ALTER TABLE "workspaces" ADD COLUMN "members_version" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "workspaces" ADD COLUMN "members_told_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamptz;
CREATE INDEX "workspaces_members_told_at_idx" ON "workspaces"("members_told_at");
