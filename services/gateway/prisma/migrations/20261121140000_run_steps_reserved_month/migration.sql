-- AlterTable
ALTER TABLE "run_steps" ADD COLUMN     "reserved_month" TEXT;

-- What is set aside now was set aside when the step began.
UPDATE "run_steps" SET "reserved_month" = to_char("started_at" AT TIME ZONE 'UTC', 'YYYY-MM')
 WHERE "state" = 'dispatched' AND "reserved_micros" > 0;
