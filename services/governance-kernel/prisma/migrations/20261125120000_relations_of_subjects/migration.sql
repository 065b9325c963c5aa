-- CreateIndex
CREATE INDEX "relation_tuples_tenant_id_subject_object_relation_idx" ON "relation_tuples"("tenant_id", "subject", "object", "relation");
