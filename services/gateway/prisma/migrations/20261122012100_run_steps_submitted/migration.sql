-- Only the kernel dispatches: a committed step is submitted to it.
DROP INDEX "run_steps_one_open_per_run";
DROP INDEX "run_steps_dispatched";
ALTER TABLE "run_steps" DROP CONSTRAINT "run_steps_state_known";

UPDATE "run_steps" SET "state" = 'submitted' WHERE "state" = 'dispatched';

ALTER TABLE "run_steps" ADD CONSTRAINT "run_steps_state_known" CHECK ("state" IN ('submitted', 'parked', 'settled'));
CREATE UNIQUE INDEX "run_steps_one_open_per_run" ON "run_steps"("run_id") WHERE "state" IN ('submitted', 'parked');
CREATE INDEX "run_steps_submitted" ON "run_steps"("run_id") WHERE "state" = 'submitted';
