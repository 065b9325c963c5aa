-- The page of an agent reads its keys by its name.
CREATE INDEX "access_keys_tenant_id_principal_id_idx" ON "access_keys"("tenant_id", "principal_id");
