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

-- CreateIndex
CREATE INDEX "audit_entries_scope_action_seq_idx" ON "audit_entries"("scope", "action", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_scope_actor_seq_idx" ON "audit_entries"("scope", "actor", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_scope_verdict_seq_idx" ON "audit_entries"("scope", "verdict", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_scope_created_at_seq_idx" ON "audit_entries"("scope", "created_at", "seq");

-- What Prisma's schema language cannot say.
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_verdict" CHECK ("verdict" IN ('allow', 'deny', 'escalate', 'fail'));
-- An entry without a predecessor is the first of its chain, and no other.
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_chained" CHECK (("seq" = 1) = ("prev_hash" IS NULL));

COMMENT ON TABLE "audit_entries" IS 'append-only: the hash chain of each scope';
