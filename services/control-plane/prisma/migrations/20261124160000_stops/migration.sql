-- CreateTable
CREATE TABLE "stop_scopes" (
    "scope" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,

    CONSTRAINT "stop_scopes_pkey" PRIMARY KEY ("scope")
);

-- CreateTable
CREATE TABLE "stop_commands" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "call_limit" INTEGER,
    "window_seconds" INTEGER,
    "given_by" TEXT NOT NULL,
    "given_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,
    "effective_at" TIMESTAMPTZ(3),

    CONSTRAINT "stop_commands_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "stop_commands_scope_epoch_key" ON "stop_commands"("scope", "epoch");

-- What Prisma's schema language cannot say.
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_kind" CHECK ("kind" IN ('freeze', 'throttle', 'quarantine'));
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_throttle"
  CHECK (("kind" = 'throttle') = ("call_limit" IS NOT NULL) AND ("kind" = 'throttle') = ("window_seconds" IS NOT NULL));
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_state"
  CHECK ("state" IN ('unconfirmed', 'effective', 'outdated', 'refused'));
ALTER TABLE "stop_commands" ADD CONSTRAINT "stop_commands_effective" CHECK (("state" = 'effective') = ("effective_at" IS NOT NULL));
-- What is still to be delivered, of one scope and of one workspace: few rows, however many were given.
CREATE INDEX "stop_commands_unconfirmed_scope_idx" ON "stop_commands"("scope", "epoch") WHERE "state" = 'unconfirmed';
CREATE INDEX "stop_commands_unconfirmed_workspace_idx" ON "stop_commands"("workspace_id", "id") WHERE "state" = 'unconfirmed';
