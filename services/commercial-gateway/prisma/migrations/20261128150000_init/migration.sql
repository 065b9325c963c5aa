-- CreateTable
CREATE TABLE "plan_versions" (
    "plan_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "definition" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "plan_versions_pkey" PRIMARY KEY ("plan_id","version")
);

-- CreateTable
CREATE TABLE "billing_accounts" (
    "org_id" TEXT NOT NULL,
    "last_invoice_number" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "billing_accounts_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "subscriptions" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "plan_id" TEXT NOT NULL,
    "plan_version" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "anchor_at" TIMESTAMPTZ(3) NOT NULL,
    "period_index" INTEGER NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "billable_from" TIMESTAMPTZ(3) NOT NULL,
    "trial_ends_at" TIMESTAMPTZ(3),
    "past_due_since" TIMESTAMPTZ(3),
    "canceled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_events" (
    "org_id" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "meter" TEXT NOT NULL,
    "quantity_micros" BIGINT NOT NULL,
    "workspace_id" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_events_pkey" PRIMARY KEY ("org_id","source","id")
);

-- CreateTable
CREATE TABLE "usage_heads" (
    "org_id" TEXT NOT NULL,
    "last_seq" BIGINT NOT NULL,
    "billed_seq" BIGINT NOT NULL,
    "billed_until" TIMESTAMPTZ(3),

    CONSTRAINT "usage_heads_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "usage_cursors" (
    "org_id" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_cursors_pkey" PRIMARY KEY ("org_id","source")
);

-- CreateTable
CREATE TABLE "invoices" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "subscription_id" TEXT NOT NULL,
    "number" INTEGER,
    "status" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "plan_id" TEXT NOT NULL,
    "plan_version" INTEGER NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "cycle_start" TIMESTAMPTZ(3) NOT NULL,
    "cycle_end" TIMESTAMPTZ(3) NOT NULL,
    "usage_from" TIMESTAMPTZ(3) NOT NULL,
    "usage_seq" BIGINT NOT NULL,
    "billed_seq" BIGINT NOT NULL,
    "billed_until" TIMESTAMPTZ(3),
    "subtotal_minor" BIGINT NOT NULL,
    "tax_minor" BIGINT NOT NULL,
    "total_minor" BIGINT NOT NULL,
    "credited_minor" BIGINT NOT NULL DEFAULT 0,
    "paid_minor" BIGINT NOT NULL DEFAULT 0,
    "refunded_minor" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finalized_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "invoices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invoice_lines" (
    "invoice_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "org_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "meter" TEXT,
    "quantity_micros" BIGINT,
    "tiers" TEXT,
    "amount_minor" BIGINT NOT NULL,

    CONSTRAINT "invoice_lines_pkey" PRIMARY KEY ("invoice_id","position")
);

-- CreateTable
CREATE TABLE "credit_grants" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "remaining_minor" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credit_grants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_transactions" (
    "id" TEXT NOT NULL,
    "org_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "invoice_id" TEXT,
    "reverses_id" TEXT,
    "entry_count" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_transactions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entries" (
    "transaction_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "org_id" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "credit_grant_id" TEXT,

    CONSTRAINT "ledger_entries_pkey" PRIMARY KEY ("transaction_id","position")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "scope" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "id" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "verdict" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "subject" TEXT,
    "details" TEXT NOT NULL,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "prev_hash" TEXT,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("scope","seq")
);

-- CreateTable
CREATE TABLE "audit_heads" (
    "scope" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_heads_pkey" PRIMARY KEY ("scope")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "envelope" TEXT NOT NULL,
    "needs_consumer" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "available_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "sent_at" TIMESTAMPTZ(6),

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer","message_id")
);

-- CreateTable
CREATE TABLE "deliveries" (
    "queue" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "envelope" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("queue","message_id")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "queue" TEXT NOT NULL,
    "message_id" TEXT NOT NULL,
    "envelope" TEXT NOT NULL,
    "deliveries" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "dead_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("queue","message_id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "status" INTEGER,
    "answer" TEXT,
    "headers" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope","key")
);

-- CreateIndex
CREATE INDEX "subscriptions_org_id_id_idx" ON "subscriptions"("org_id", "id");

-- CreateIndex
CREATE INDEX "subscriptions_plan_idx" ON "subscriptions"("plan_id", "plan_version");

-- CreateIndex
CREATE UNIQUE INDEX "subscriptions_id_org_id_key" ON "subscriptions"("id", "org_id");

-- CreateIndex
CREATE INDEX "usage_events_org_id_occurred_at_idx" ON "usage_events"("org_id", "occurred_at");

-- CreateIndex
CREATE INDEX "usage_events_org_id_meter_seq_idx" ON "usage_events"("org_id", "meter", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "usage_events_org_id_seq_key" ON "usage_events"("org_id", "seq");

-- CreateIndex
CREATE INDEX "invoices_org_id_id_idx" ON "invoices"("org_id", "id");

-- CreateIndex
CREATE INDEX "invoices_subscription_id_status_idx" ON "invoices"("subscription_id", "status");

-- CreateIndex
CREATE INDEX "invoices_plan_idx" ON "invoices"("plan_id", "plan_version");

-- CreateIndex
CREATE UNIQUE INDEX "invoices_id_org_id_key" ON "invoices"("id", "org_id");

-- CreateIndex
CREATE UNIQUE INDEX "invoices_org_id_number_key" ON "invoices"("org_id", "number");

-- CreateIndex
CREATE INDEX "credit_grants_org_id_remaining_minor_idx" ON "credit_grants"("org_id", "remaining_minor");

-- CreateIndex
CREATE UNIQUE INDEX "credit_grants_id_org_id_key" ON "credit_grants"("id", "org_id");

-- CreateIndex
CREATE INDEX "ledger_transactions_org_id_invoice_id_idx" ON "ledger_transactions"("org_id", "invoice_id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transactions_id_org_id_key" ON "ledger_transactions"("id", "org_id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transactions_org_id_kind_reference_key" ON "ledger_transactions"("org_id", "kind", "reference");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transactions_reverses_id_key" ON "ledger_transactions"("reverses_id");

-- CreateIndex
CREATE INDEX "ledger_entries_org_id_account_currency_idx" ON "ledger_entries"("org_id", "account", "currency");

-- CreateIndex
CREATE INDEX "ledger_entries_credit_grant_id_idx" ON "ledger_entries"("credit_grant_id");

-- CreateIndex
CREATE INDEX "audit_entries_scope_action_seq_idx" ON "audit_entries"("scope", "action", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_scope_actor_seq_idx" ON "audit_entries"("scope", "actor", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_scope_verdict_seq_idx" ON "audit_entries"("scope", "verdict", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_scope_created_at_seq_idx" ON "audit_entries"("scope", "created_at", "seq");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- CreateIndex
CREATE INDEX "deliveries_queue_position_idx" ON "deliveries"("queue", "position");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- AddForeignKey
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_plan_fkey" FOREIGN KEY ("plan_id", "plan_version") REFERENCES "plan_versions"("plan_id", "version") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_subscription_fkey" FOREIGN KEY ("subscription_id", "org_id") REFERENCES "subscriptions"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_plan_fkey" FOREIGN KEY ("plan_id", "plan_version") REFERENCES "plan_versions"("plan_id", "version") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "invoice_lines" ADD CONSTRAINT "invoice_lines_invoice_fkey" FOREIGN KEY ("invoice_id", "org_id") REFERENCES "invoices"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ledger_transactions" ADD CONSTRAINT "ledger_transactions_invoice_fkey" FOREIGN KEY ("invoice_id", "org_id") REFERENCES "invoices"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ledger_transactions" ADD CONSTRAINT "ledger_transactions_reverses_fkey" FOREIGN KEY ("reverses_id", "org_id") REFERENCES "ledger_transactions"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_transaction_fkey" FOREIGN KEY ("transaction_id", "org_id") REFERENCES "ledger_transactions"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_credit_grant_fkey" FOREIGN KEY ("credit_grant_id", "org_id") REFERENCES "credit_grants"("id", "org_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Constraints that the schema language of Prisma cannot express.

CREATE INDEX "outbox_unsent" ON "outbox"("position") WHERE "sent_at" IS NULL;
CREATE INDEX "outbox_sent" ON "outbox"("sent_at") WHERE "sent_at" IS NOT NULL;

ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_state" CHECK ("state" IN ('running', 'done'));
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_answer" CHECK (("state" = 'done') = ("answer" IS NOT NULL) AND ("state" = 'done') = ("status" IS NOT NULL));

ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_verdict" CHECK ("verdict" IN ('allow', 'deny', 'escalate', 'fail'));
-- An entry without a predecessor is the first of its chain.
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_chained" CHECK (("seq" = 1) = ("prev_hash" IS NULL));
COMMENT ON TABLE "audit_entries" IS 'append-only: the hash chain of each organisation';

ALTER TABLE "plan_versions" ADD CONSTRAINT "plan_versions_version" CHECK ("version" >= 1);
COMMENT ON TABLE "plan_versions" IS 'append-only: a price change is a new version';

ALTER TABLE "billing_accounts" ADD CONSTRAINT "billing_accounts_number" CHECK ("last_invoice_number" >= 0);
COMMENT ON TABLE "billing_accounts" IS 'never deleted: invoice numbers have no gaps';

ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_status" CHECK ("status" IN ('incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'canceled'));
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_trial" CHECK ("status" <> 'trialing' OR "trial_ends_at" IS NOT NULL);
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_past_due" CHECK (("status" IN ('past_due', 'unpaid')) = ("past_due_since" IS NOT NULL));
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_canceled" CHECK (("status" = 'canceled') = ("canceled_at" IS NOT NULL));
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_period" CHECK ("period_index" >= 0 AND "period_start" >= "anchor_at");
-- An organisation has one subscription at a time.
CREATE UNIQUE INDEX "subscriptions_one_current" ON "subscriptions"("org_id") WHERE "status" <> 'canceled';
COMMENT ON TABLE "subscriptions" IS 'never deleted: invoices refer to them';

ALTER TABLE "usage_events" ADD CONSTRAINT "usage_events_meter" CHECK ("meter" IN ('decisions', 'tool_calls', 'model_tokens', 'run_minutes', 'storage_gb_days', 'seats'));
ALTER TABLE "usage_events" ADD CONSTRAINT "usage_events_quantity" CHECK ("quantity_micros" > 0);
ALTER TABLE "usage_events" ADD CONSTRAINT "usage_events_seq" CHECK ("seq" >= 1);
COMMENT ON TABLE "usage_events" IS 'append-only: invoice lines are sums of these events';

ALTER TABLE "usage_heads" ADD CONSTRAINT "usage_heads_billed" CHECK ("billed_seq" BETWEEN 0 AND "last_seq" AND ("billed_seq" = 0 OR "billed_until" IS NOT NULL));
COMMENT ON TABLE "usage_heads" IS 'never deleted: without its head, usage would be billed again';
ALTER TABLE "usage_cursors" ADD CONSTRAINT "usage_cursors_position" CHECK ("position" >= 0);

ALTER TABLE "invoices" ADD CONSTRAINT "invoices_status" CHECK ("status" IN ('draft', 'open', 'paid', 'void', 'uncollectible'));
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_finalized" CHECK (("status" = 'draft') = ("finalized_at" IS NULL) AND ("status" = 'draft') = ("number" IS NULL));
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_closed" CHECK (("status" IN ('draft', 'open')) = ("closed_at" IS NULL));
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_period" CHECK ("cycle_start" <= "period_start" AND "period_start" < "period_end" AND "period_end" <= "cycle_end");
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_total" CHECK ("subtotal_minor" >= 0 AND "tax_minor" >= 0 AND "total_minor" = "subtotal_minor" + "tax_minor");
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_settled" CHECK ("credited_minor" >= 0 AND "paid_minor" >= 0 AND "credited_minor" + "paid_minor" <= "total_minor");
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_paid" CHECK ("status" <> 'paid' OR "credited_minor" + "paid_minor" = "total_minor");
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_refunded" CHECK ("refunded_minor" BETWEEN 0 AND "paid_minor");
-- A period is billed once. A void invoice can be replaced.
CREATE UNIQUE INDEX "invoices_one_per_period" ON "invoices"("subscription_id", "period_start") WHERE "status" <> 'void';
COMMENT ON TABLE "invoices" IS 'never deleted: a void invoice keeps its number';

ALTER TABLE "invoice_lines" ADD CONSTRAINT "invoice_lines_kind" CHECK ("kind" IN ('base', 'usage'));
ALTER TABLE "invoice_lines" ADD CONSTRAINT "invoice_lines_usage" CHECK (("kind" = 'usage') = ("meter" IS NOT NULL) AND ("kind" = 'usage') = ("quantity_micros" IS NOT NULL) AND ("kind" = 'usage') = ("tiers" IS NOT NULL));
ALTER TABLE "invoice_lines" ADD CONSTRAINT "invoice_lines_amount" CHECK ("amount_minor" >= 0);
COMMENT ON TABLE "invoice_lines" IS 'append-only: the lines of an invoice never change';

ALTER TABLE "credit_grants" ADD CONSTRAINT "credit_grants_kind" CHECK ("kind" IN ('promotional', 'purchased'));
ALTER TABLE "credit_grants" ADD CONSTRAINT "credit_grants_remaining" CHECK ("amount_minor" > 0 AND "remaining_minor" BETWEEN 0 AND "amount_minor");
COMMENT ON TABLE "credit_grants" IS 'never deleted: ledger entries refer to them';

ALTER TABLE "ledger_transactions" ADD CONSTRAINT "ledger_transactions_kind" CHECK ("kind" IN ('charge', 'payment', 'refund', 'credit_grant', 'credit_application', 'credit_expiry', 'write_off', 'reversal'));
ALTER TABLE "ledger_transactions" ADD CONSTRAINT "ledger_transactions_reversal" CHECK (("kind" = 'reversal') = ("reverses_id" IS NOT NULL));
ALTER TABLE "ledger_transactions" ADD CONSTRAINT "ledger_transactions_entries" CHECK ("entry_count" >= 2);
COMMENT ON TABLE "ledger_transactions" IS 'append-only: a correction is a reversal';

ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account" CHECK ("account" IN ('receivable', 'revenue', 'credits', 'cash', 'tax'));
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_currency" CHECK ("currency" ~ '^[A-Z]{3}$');
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_amount" CHECK ("amount_minor" <> 0);
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_grant" CHECK (("account" = 'credits') = ("credit_grant_id" IS NOT NULL));
COMMENT ON TABLE "ledger_entries" IS 'append-only: a correction is a reversal';

-- Runs at commit, when all entries of the transaction exist. The entry count rejects entries that are added to a committed transaction.
CREATE FUNCTION assert_ledger_balanced() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  checked_id TEXT := CASE TG_TABLE_NAME WHEN 'ledger_transactions' THEN to_jsonb(NEW) ->> 'id' ELSE to_jsonb(NEW) ->> 'transaction_id' END;
BEGIN
  IF (SELECT count(*) FROM ledger_entries WHERE transaction_id = checked_id)
     <> (SELECT entry_count FROM ledger_transactions WHERE id = checked_id) THEN
    RAISE EXCEPTION 'ledger transaction % does not have the number of entries that it states', checked_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_transactions_complete';
  END IF;
  IF EXISTS (SELECT FROM ledger_entries WHERE transaction_id = checked_id GROUP BY currency HAVING sum(amount_minor) <> 0) THEN
    RAISE EXCEPTION 'ledger transaction % does not sum to zero in each currency', checked_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_transactions_balanced';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER ledger_transactions_balanced AFTER INSERT ON "ledger_transactions"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_ledger_balanced();
CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT ON "ledger_entries"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_ledger_balanced();

-- The role of the service has no UPDATE or DELETE right. This trigger refuses the owner of the tables, too.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: the ledger is append-only', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER ledger_transactions_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_transactions"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_entries_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entries"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
