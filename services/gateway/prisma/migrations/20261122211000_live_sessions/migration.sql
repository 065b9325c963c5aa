-- The sign-ins that a person may still end, and those that nobody can use any more.
CREATE INDEX "sessions_live_of_user" ON "sessions"("user_id", "family_id") WHERE "revoked_at" IS NULL AND "rotated_at" IS NULL;
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");
