-- DropIndex
DROP INDEX "outbox_sent_at_position_idx";

-- AlterTable
ALTER TABLE "dispatches" DROP CONSTRAINT "dispatches_pkey",
ALTER COLUMN "ulid" SET DATA TYPE TEXT,
ADD CONSTRAINT "dispatches_pkey" PRIMARY KEY ("ulid");

-- AlterTable
ALTER TABLE "ledger" ALTER COLUMN "ulid" SET DATA TYPE TEXT;

-- CreateIndex
CREATE INDEX "approvals_tenant_id_approval_id_idx" ON "approvals"("tenant_id", "approval_id");

-- CreateIndex
CREATE INDEX "approvals_tenant_id_session_id_approval_id_idx" ON "approvals"("tenant_id", "session_id", "approval_id");

-- CreateIndex
CREATE INDEX "policy_heads_confirmed_at_idx" ON "policy_heads"("confirmed_at");

-- What Prisma's schema language cannot say: NULLS FIRST, although there are none. Lists ask for this order and the primary key has the
-- other one, so that no plan walks the log of all tenants and throws away what was not asked for, whatever the statistics say.
DROP INDEX "ledger_tenant_id_log_index_idx";
CREATE INDEX "ledger_tenant_id_log_index_idx" ON "ledger"("tenant_id", "log_index" NULLS FIRST);
CREATE INDEX "ledger_tenant_id_session_id_log_index_idx" ON "ledger"("tenant_id", "session_id", "log_index" NULLS FIRST);
CREATE INDEX "ledger_tenant_id_principal_id_log_index_idx" ON "ledger"("tenant_id", "principal_id", "log_index" NULLS FIRST);
CREATE INDEX "ledger_tenant_id_verdict_log_index_idx" ON "ledger"("tenant_id", "verdict", "log_index" NULLS FIRST);
CREATE INDEX "ledger_tenant_id_action_log_index_idx" ON "ledger"("tenant_id", "action", "log_index" NULLS FIRST);
CREATE INDEX "ledger_tenant_id_issued_at_log_index_idx" ON "ledger"("tenant_id", "issued_at" NULLS FIRST, "log_index" NULLS FIRST);

-- A value that most rows share has no place in the index of its filter: there a page is full before the rare others cost anything.
CREATE INDEX "ledger_tool" ON "ledger"("tenant_id", "tool", "log_index" NULLS FIRST) WHERE "tool" IS NOT NULL;
CREATE INDEX "ledger_refused" ON "ledger"("tenant_id", "reason_code", "log_index" NULLS FIRST) WHERE "reason_code" <> 'ALLOWED';
CREATE INDEX "ledger_undecided" ON "ledger"("tenant_id", "kind", "log_index" NULLS FIRST) WHERE "kind" <> 'decision';
CREATE INDEX "approvals_pending" ON "approvals"("expires_at") WHERE "state" = 'pending';

-- The outbox is read in two ways: what is to be sent next, and what was sent long ago.
CREATE INDEX "outbox_unsent" ON "outbox"("position") WHERE "sent_at" IS NULL;
CREATE INDEX "outbox_sent" ON "outbox"("sent_at") WHERE "sent_at" IS NOT NULL;

-- Lists by the reason ALLOWED are read through the index of the verdicts, so the two may never part.
ALTER TABLE "ledger" ADD CONSTRAINT "ledger_allowed_is_allow" CHECK (("reason_code" = 'ALLOWED') = ("verdict" = 'ALLOW'));
