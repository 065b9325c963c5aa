import { isAppError } from '@countersign/contracts';
import type { SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';

type ScheduleParts = {
  /** A short run. */
  run(): Promise<SignedConformanceReport>;
  /** When the last run of any replica ended; null: never. */
  lastRunAt(): Promise<Date | null>;
  clock: () => Date;
  clockGuard: Pick<ClockGuard, 'isNear'>;
  log: Log;
  intervalMs: number;
};

type Schedule = Repeated & { run(): Promise<void> };

/** Node fires a timer of more than 2^31 ms at once and without end. */
const lookEveryMsMax = 60_000;

/** Runs the vectors again when the last run, whichever replica made it, is long enough ago. The first one is an interval after the start. */
export function startConformanceSchedule(parts: ScheduleParts): Schedule {
  const { clock, clockGuard, log, intervalMs } = parts;
  const startedMs = clock().getTime();
  const run = async () => {
    const lastMs = (await parts.lastRunAt())?.getTime() ?? 0;
    if (clock().getTime() - Math.max(lastMs, startedMs) < intervalMs) return;
    const signed = await parts.run().catch(otherRun);
    if (signed === null) return;
    const { report_id, verdict, failed } = signed.report;
    const told = { report_id, failed, receipt_id: signed.receipt_id };
    if (verdict === 'PASS') log.info('conformance.passed', told);
    else log.error('conformance.failed', told);
  };
  const onFailure = (error: unknown) => log.warn('conformance.not_run', { error });
  return { run, ...repeat({ run, intervalMs: Math.min(intervalMs, lookEveryMsMax), clockGuard, onFailure }) };
}

/** Another replica runs them in this moment. */
function otherRun(error: unknown): null {
  if (isAppError(error) && error.code === 'ILLEGAL_TRANSITION') return null;
  throw error;
}
