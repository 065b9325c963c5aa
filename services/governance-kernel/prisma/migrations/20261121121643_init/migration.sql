-- CreateTable
CREATE TABLE "ledger" (
    "log_index" BIGINT NOT NULL,
    "ulid" CHAR(26) NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "lamport_clock" BIGINT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "verdict" TEXT NOT NULL,
    "reason_code" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "tool" TEXT,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "receipt_hash" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "record" TEXT,

    CONSTRAINT "ledger_pkey" PRIMARY KEY ("log_index")
);

-- CreateTable
CREATE TABLE "session_heads" (
    "tenant_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "lamport_clock" BIGINT NOT NULL,
    "receipt_hash" TEXT NOT NULL,

    CONSTRAINT "session_heads_pkey" PRIMARY KEY ("tenant_id","session_id")
);

-- CreateTable
CREATE TABLE "log_head" (
    "id" INTEGER NOT NULL,
    "size" BIGINT NOT NULL,
    "frontier" BYTEA[],

    CONSTRAINT "log_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "log_nodes" (
    "level" INTEGER NOT NULL,
    "index" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "log_nodes_pkey" PRIMARY KEY ("level","index")
);

-- CreateTable
CREATE TABLE "checkpoints" (
    "checkpoint_id" TEXT NOT NULL,
    "tree_size" BIGINT NOT NULL,
    "root_hash" TEXT NOT NULL,
    "record_count" BIGINT NOT NULL,
    "note" TEXT NOT NULL,
    "previous_checkpoint_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkpoints_pkey" PRIMARY KEY ("checkpoint_id")
);

-- CreateTable
CREATE TABLE "trust_keys" (
    "key_id" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_until" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "trust_keys_pkey" PRIMARY KEY ("key_id")
);

-- CreateTable
CREATE TABLE "policy_bundles" (
    "tenant_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "bundle" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "activated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "policy_bundles_pkey" PRIMARY KEY ("tenant_id","epoch")
);

-- CreateTable
CREATE TABLE "policy_heads" (
    "tenant_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "policy_hash" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "policy_heads_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateTable
CREATE TABLE "fences" (
    "scope" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "fences_pkey" PRIMARY KEY ("scope")
);

-- CreateTable
CREATE TABLE "approvals" (
    "approval_id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "requested_by" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "tool" TEXT,
    "resource" TEXT,
    "effect_level" TEXT NOT NULL,
    "args_hash" TEXT NOT NULL,
    "intent_hash" TEXT NOT NULL,
    "policy_hash" TEXT,
    "policy_epoch" INTEGER NOT NULL,
    "receipt_id" TEXT,
    "reason" TEXT NOT NULL,
    "quorum" INTEGER NOT NULL,
    "approvers" TEXT[],
    "approved_by" TEXT[],
    "scope" TEXT NOT NULL,
    "uses_remaining" INTEGER NOT NULL,
    "timelock_until" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ceremony_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("approval_id")
);

-- CreateTable
CREATE TABLE "budgets" (
    "tenant_id" TEXT NOT NULL,
    "budget_id" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "window" TEXT NOT NULL,
    "tool_call_limit" BIGINT,
    "spend_limit_minor" BIGINT,
    "currency" TEXT,
    "egress_limit_bytes" BIGINT,
    "write_limit" BIGINT,
    "approval_required_above_minor" BIGINT,
    "used_tool_calls" BIGINT NOT NULL DEFAULT 0,
    "used_spend_minor" BIGINT NOT NULL DEFAULT 0,
    "used_egress_bytes" BIGINT NOT NULL DEFAULT 0,
    "used_writes" BIGINT NOT NULL DEFAULT 0,
    "reserved_tool_calls" BIGINT NOT NULL DEFAULT 0,
    "reserved_spend_minor" BIGINT NOT NULL DEFAULT 0,
    "reserved_egress_bytes" BIGINT NOT NULL DEFAULT 0,
    "reserved_writes" BIGINT NOT NULL DEFAULT 0,
    "resets_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budgets_pkey" PRIMARY KEY ("tenant_id","budget_id")
);

-- CreateTable
CREATE TABLE "dispatches" (
    "ulid" CHAR(26) NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reservations" JSONB NOT NULL,
    "deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "dispatches_pkey" PRIMARY KEY ("ulid")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "tenant_id" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "status" INTEGER,
    "answer" TEXT,
    "headers" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("tenant_id","principal_id","route","key")
);

-- CreateTable
CREATE TABLE "mcp_servers" (
    "server_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "transport" TEXT NOT NULL,
    "config" JSONB NOT NULL,
    "state" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mcp_servers_pkey" PRIMARY KEY ("server_id")
);

-- CreateTable
CREATE TABLE "mcp_tools" (
    "server_id" TEXT NOT NULL,
    "tool_name" TEXT NOT NULL,
    "pinned_hash" TEXT,
    "current_hash" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "effect_level" TEXT NOT NULL,
    "pinned_at" TIMESTAMPTZ(3),

    CONSTRAINT "mcp_tools_pkey" PRIMARY KEY ("server_id","tool_name")
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

-- CreateIndex
CREATE UNIQUE INDEX "ledger_ulid_key" ON "ledger"("ulid");

-- CreateIndex
CREATE INDEX "ledger_tenant_id_log_index_idx" ON "ledger"("tenant_id", "log_index");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_tenant_id_session_id_lamport_clock_key" ON "ledger"("tenant_id", "session_id", "lamport_clock");

-- CreateIndex
CREATE UNIQUE INDEX "checkpoints_tree_size_key" ON "checkpoints"("tree_size");

-- CreateIndex
CREATE INDEX "approvals_intent_hash_idx" ON "approvals"("intent_hash");

-- CreateIndex
CREATE INDEX "approvals_tenant_id_state_approval_id_idx" ON "approvals"("tenant_id", "state", "approval_id");

-- CreateIndex
CREATE INDEX "dispatches_state_deadline_at_idx" ON "dispatches"("state", "deadline_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "outbox_sent_at_position_idx" ON "outbox"("sent_at", "position");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- CreateIndex
CREATE INDEX "deliveries_queue_position_idx" ON "deliveries"("queue", "position");

-- The log begins empty; its one row is the lock that orders all sealing.
INSERT INTO "log_head" ("id", "size", "frontier") VALUES (1, 0, '{}');

-- What was sealed stays: the service may add rows to these tables and read them, nothing else.
COMMENT ON TABLE "ledger" IS 'append-only: receipts and boundary records';
COMMENT ON TABLE "log_nodes" IS 'append-only: subtree roots of the log';
COMMENT ON TABLE "checkpoints" IS 'append-only: signed heads of the log';
COMMENT ON TABLE "policy_bundles" IS 'append-only: every bundle ever activated';

-- One record belongs to one receipt; an outcome has none of its own.
ALTER TABLE "ledger" ADD CONSTRAINT "ledger_record_with_decision" CHECK (("kind" = 'outcome') = ("record" IS NULL));
