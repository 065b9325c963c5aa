-- CreateIndex
CREATE INDEX "ledger_transactions_org_id_id_idx" ON "ledger_transactions"("org_id", "id");
