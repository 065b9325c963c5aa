CREATE INDEX "provider_identities_user_id_linked_at_idx" ON "provider_identities"("user_id", "linked_at");
