import { isAppError } from '@countersign/contracts';
import type { SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';

type ScheduleDeps = {
  /** Makes a short run. */
  run(): Promise<SignedConformanceReport>;
  /** The end of the last run of any replica. `null` when there was none. */
  lastRunAt(): Promise<Date | null>;
  clock: () => Date;
  clockGuard: Pick<ClockGuard, 'isNear'>;
  log: Log;
  intervalMs: number;
};

type Schedule = Repeated & { run(): Promise<void> };

/** The longest timer. Node fires timers of more than 2^31 ms at once and repeatedly. */
const lookEveryMsMax = 60_000;

/**
 * Runs the vectors again when the last run of any replica is old enough. The first run is one interval after the
 * start.
 */
export function startConformanceSchedule(deps: ScheduleDeps): Schedule {
  const { clock, clockGuard, log, intervalMs } = deps;
  const startedMs = clock().getTime();
  const run = async () => {
    const lastMs = (await deps.lastRunAt())?.getTime() ?? 0;
    if (clock().getTime() - Math.max(lastMs, startedMs) < intervalMs) return;
    const signed = await deps.run().catch(otherRun);
    if (signed === null) return;
    const { report_id, verdict, failed } = signed.report;
    const report = { report_id, failed, receipt_id: signed.receipt_id };
    if (verdict === 'PASS') log.info('conformance.passed', report);
    else log.error('conformance.failed', report);
  };
  const onFailure = (error: unknown) => log.warn('conformance.not_run', { error });
  return { run, ...repeat({ run, intervalMs: Math.min(intervalMs, lookEveryMsMax), clockGuard, onFailure }) };
}

/** `null` when another replica is running the vectors. Rethrows other errors. */
function otherRun(error: unknown): null {
  if (isAppError(error) && error.code === 'ILLEGAL_TRANSITION') return null;
  throw error;
}
