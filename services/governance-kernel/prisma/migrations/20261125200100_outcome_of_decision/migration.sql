-- Which outcome settled a decision. The payload is canonical JSON, in which a quotation mark within a text is escaped, so nothing that a
-- caller names reads like this member.
CREATE INDEX "ledger_outcome_of" ON "ledger" (substring("payload" from '"decision_receipt_id":"([^"]+)"')) WHERE "kind" = 'outcome';
