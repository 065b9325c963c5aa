-- Of a browser that stays for years, those that were spent long ago go.
CREATE INDEX "refresh_tokens_spent_at_idx" ON "refresh_tokens"("spent_at");
