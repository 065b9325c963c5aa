-- CreateTable
CREATE TABLE "users" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workspaces" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "mode" TEXT NOT NULL DEFAULT 'discover',
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workspaces_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workspace_members" (
    "workspace_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workspace_members_pkey" PRIMARY KEY ("workspace_id","user_id")
);

-- CreateTable
CREATE TABLE "workspace_settings" (
    "workspace_id" TEXT NOT NULL,
    "policy_config" JSONB NOT NULL,
    "budget_config" JSONB NOT NULL,
    "model_config" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workspace_settings_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "email_codes" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "code_hmac" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "email_codes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" TEXT NOT NULL,
    "family_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "rotated_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoke_reason" TEXT,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tasks" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "outcome" TEXT,
    "started_by" TEXT NOT NULL,
    "iterations_used" INTEGER NOT NULL DEFAULT 0,
    "iteration_budget" INTEGER NOT NULL,
    "tokens_in" INTEGER NOT NULL DEFAULT 0,
    "tokens_out" INTEGER NOT NULL DEFAULT 0,
    "cost_micros" BIGINT NOT NULL DEFAULT 0,
    "currency" TEXT NOT NULL,
    "result" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "lease_fence" INTEGER NOT NULL DEFAULT 0,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "orphaned_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_steps" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "tool" TEXT,
    "call_id" TEXT,
    "args" TEXT NOT NULL,
    "proposal" TEXT,
    "args_hash" TEXT,
    "verdict" TEXT,
    "reason_code" TEXT,
    "decision_id" TEXT,
    "receipt_id" TEXT,
    "approval_id" TEXT,
    "reserved_micros" BIGINT NOT NULL DEFAULT 0,
    "output" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_steps_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approvals" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "step_id" TEXT NOT NULL,
    "kernel_approval_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "tool" TEXT,
    "args" TEXT NOT NULL,
    "reason_code" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "decision_id" TEXT,
    "requested_by" TEXT NOT NULL,
    "started_by" TEXT NOT NULL,
    "resolved_by" TEXT,
    "resolved_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "violations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "task_id" TEXT,
    "run_id" TEXT,
    "step_id" TEXT,
    "source" TEXT NOT NULL,
    "tool" TEXT,
    "reason_code" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "decision_id" TEXT,
    "receipt_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "violations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "receipts" (
    "workspace_id" TEXT NOT NULL,
    "decision_id" TEXT NOT NULL,
    "receipt_id" TEXT NOT NULL,
    "task_id" TEXT,
    "run_id" TEXT,
    "step_id" TEXT,
    "verification" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "verified_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "receipts_pkey" PRIMARY KEY ("workspace_id","decision_id")
);

-- CreateTable
CREATE TABLE "spend_months" (
    "workspace_id" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "spent_micros" BIGINT NOT NULL DEFAULT 0,
    "reserved_micros" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "spend_months_pkey" PRIMARY KEY ("workspace_id","month")
);

-- CreateTable
CREATE TABLE "evidence_items" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "task_id" TEXT,
    "run_id" TEXT,
    "step_id" TEXT,
    "kind" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "evidence_items_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "workspace_id" TEXT NOT NULL,
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

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("workspace_id","seq")
);

-- CreateTable
CREATE TABLE "audit_heads" (
    "workspace_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_heads_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope","key")
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
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE INDEX "workspace_members_user_id_joined_at_idx" ON "workspace_members"("user_id", "joined_at");

-- CreateIndex
CREATE INDEX "email_codes_email_created_at_idx" ON "email_codes"("email", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");

-- CreateIndex
CREATE INDEX "sessions_family_id_idx" ON "sessions"("family_id");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "tasks_workspace_id_id_idx" ON "tasks"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "runs_workspace_id_task_id_id_idx" ON "runs"("workspace_id", "task_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "run_steps_run_id_seq_key" ON "run_steps"("run_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "approvals_kernel_approval_id_key" ON "approvals"("kernel_approval_id");

-- CreateIndex
CREATE INDEX "approvals_workspace_id_id_idx" ON "approvals"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "approvals_run_id_idx" ON "approvals"("run_id");

-- CreateIndex
CREATE INDEX "violations_workspace_id_id_idx" ON "violations"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "receipts_workspace_id_receipt_id_idx" ON "receipts"("workspace_id", "receipt_id");

-- CreateIndex
CREATE INDEX "evidence_items_workspace_id_id_idx" ON "evidence_items"("workspace_id", "id");

-- CreateIndex
CREATE INDEX "outbox_sent_at_position_idx" ON "outbox"("sent_at", "position");

-- CreateIndex
CREATE INDEX "inbox_received_at_idx" ON "inbox"("received_at");

-- CreateIndex
CREATE INDEX "deliveries_queue_position_idx" ON "deliveries"("queue", "position");

-- What Prisma's schema language cannot say.

-- One live code per address, one live run per task: the database decides races, not the process.
CREATE UNIQUE INDEX "email_codes_one_live" ON "email_codes"("email") WHERE "ended_at" IS NULL;
CREATE UNIQUE INDEX "runs_one_live_per_task" ON "runs"("task_id") WHERE "status" IN ('queued', 'running', 'awaiting_approval');
CREATE UNIQUE INDEX "run_steps_one_open_per_run" ON "run_steps"("run_id") WHERE "state" IN ('dispatched', 'parked');
CREATE INDEX "runs_live_lease" ON "runs"("lease_until") WHERE "status" IN ('queued', 'running');
CREATE INDEX "approvals_pending" ON "approvals"("expires_at") WHERE "status" = 'pending';

ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_mode_known" CHECK ("mode" IN ('discover', 'decide', 'build', 'launch', 'apply'));
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_role_known" CHECK ("role" IN ('owner', 'partner', 'member'));
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_status_known" CHECK ("status" IN ('pending', 'queued', 'running', 'awaiting_approval', 'completed', 'failed', 'cancelled'));
ALTER TABLE "runs" ADD CONSTRAINT "runs_status_known" CHECK ("status" IN ('queued', 'running', 'awaiting_approval', 'completed', 'failed', 'denied', 'budget_exhausted', 'cancelled'));
ALTER TABLE "run_steps" ADD CONSTRAINT "run_steps_state_known" CHECK ("state" IN ('dispatched', 'parked', 'settled'));
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_status_known" CHECK ("status" IN ('pending', 'approved', 'rejected', 'expired', 'cancelled'));
ALTER TABLE "spend_months" ADD CONSTRAINT "spend_months_not_negative" CHECK ("spent_micros" >= 0 AND "reserved_micros" >= 0);

ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_workspace_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_user_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_workspace_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "runs" ADD CONSTRAINT "runs_task_fkey" FOREIGN KEY ("task_id") REFERENCES "tasks"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "run_steps" ADD CONSTRAINT "run_steps_run_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_run_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- The service role may read and insert these, never update or delete.
COMMENT ON TABLE "audit_entries" IS 'append-only: the hash chain of each workspace';
COMMENT ON TABLE "evidence_items" IS 'append-only: what a task or run left as evidence';
COMMENT ON TABLE "receipts" IS 'append-only: verified receipts of the kernel';
COMMENT ON TABLE "violations" IS 'append-only: each denial';
