-- Money and blocked tools are the kernel's to judge: it holds the month's ceiling and counts what models cost.
DROP TABLE "spend_months";
ALTER TABLE "run_steps" DROP COLUMN "reserved_micros", DROP COLUMN "reserved_month";
-- Millionths of a minor unit, as the kernel counts; it was ten thousandths.
UPDATE "runs" SET "cost_micros" = "cost_micros" * 100;

-- Rises with each change of the settings, from 1 for the defaults, which are stored nowhere.
ALTER TABLE "workspace_settings" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 2;
ALTER TABLE "workspace_settings" ALTER COLUMN "version" DROP DEFAULT;

-- Which version of a workspace's settings the kernel has said that it holds to. A step is begun under no other.
CREATE TABLE "confirmed_settings" (
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "confirmed_settings_pkey" PRIMARY KEY ("workspace_id")
);
