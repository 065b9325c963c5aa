-- Counters of decisions, kept behind the log and rebuilt from it. No decision reads them.
CREATE TABLE "decision_counts" (
    "tenant_id" TEXT NOT NULL,
    "minutes" SMALLINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "principal_id" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "verdict" TEXT NOT NULL,
    "reason_code" TEXT NOT NULL,
    "effect_level" TEXT NOT NULL,
    "calls" BIGINT NOT NULL,

    CONSTRAINT "decision_counts_pkey" PRIMARY KEY ("tenant_id","minutes","at","principal_id","tool","verdict","reason_code","effect_level")
);

-- CreateTable
CREATE TABLE "decision_count_head" (
    "id" INTEGER NOT NULL,
    "size" BIGINT NOT NULL,
    "newest_at" TIMESTAMPTZ(3),

    CONSTRAINT "decision_count_head_pkey" PRIMARY KEY ("id")
);

INSERT INTO "decision_count_head" ("id", "size") VALUES (1, 0);
COMMENT ON TABLE "decision_count_head" IS 'never deleted: how much of the log is counted';
