-- The housekeeper ends pending and unused approvals of a replaced policy. Few rows are open at a time, so it reads them all.
CREATE INDEX "approvals_open" ON "approvals"("expires_at") WHERE "state" IN ('pending', 'approved');
