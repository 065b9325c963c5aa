-- The first receipt of each session: sessions in the order in which they began. It never changes.
CREATE INDEX "ledger_session_starts" ON "ledger" ("tenant_id", "log_index" NULLS FIRST) WHERE "lamport_clock" = 1;

-- A hash index has four bytes for each receipt. Values are random, so a tree would touch another page with each commit.
CREATE INDEX "ledger_receipt_hash" ON "ledger" USING hash ("receipt_hash");
