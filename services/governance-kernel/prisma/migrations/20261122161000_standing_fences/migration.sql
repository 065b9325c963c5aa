-- What stands around a tenant is found by how its scopes begin: in the order of bytes, which ranges of prefixes need.
CREATE INDEX "fences_standing_idx" ON "fences"("scope" COLLATE "C") WHERE "kind" <> 'open';
