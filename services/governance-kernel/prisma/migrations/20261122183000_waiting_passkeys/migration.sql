-- Few wait, and none for long.
CREATE INDEX "passkeys_waiting" ON "passkeys"("tenant_id", "ulid") WHERE "activated_at" IS NULL AND "revoked_at" IS NULL;
