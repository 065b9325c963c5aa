-- CreateTable
CREATE TABLE "tickets" (
    "hash" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "own_seq" INTEGER NOT NULL,
    "all_seq" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tickets_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "hint_heads" (
    "scope" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "members_version" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "hint_heads_pkey" PRIMARY KEY ("scope")
);

-- CreateTable
CREATE TABLE "hints" (
    "scope" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "ref" TEXT,
    "version" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "hints_pkey" PRIMARY KEY ("scope","seq")
);

-- CreateIndex
CREATE INDEX "tickets_expires_at_idx" ON "tickets"("expires_at");

-- CreateIndex
CREATE INDEX "hints_created_at_idx" ON "hints"("created_at");
