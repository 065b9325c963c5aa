import { randomUUID } from 'node:crypto';
import { errorCodes, isAppError } from '@countersign/contracts';
import { repeat } from '@countersign/service-kit';
import { buildReport } from '../compliance/build-report.ts';
import { progressText } from '../compliance/report-progress.ts';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import {
  claimReport,
  failReport,
  finishReport,
  keepReportProgress,
  putOffReport,
  type ClaimedReport,
  type HeldReport,
} from '../store/compliance-reports.ts';

const passMs = 2_000;
/** Longer than the pages between two checkpoints take. Another worker continues a report after it. */
const leaseMs = 120_000;
/** The pause before a kernel that did not answer is read again. */
const retryMs = 5_000;
/** A kernel that does not answer for longer than this fails the report. */
const outageMaxMs = 86_400_000;

const failure = 'The receipts could not be read. Request the report again; it continues where it stopped.';

type Building = Pick<Context, 'kernel' | 'keyRing' | 'snapshot' | 'transaction' | 'now'>;

/** Builds the reports that people requested, one at a time in each process. */
export function startReportBuilder(context: Context): { stop(): Promise<void> } {
  let isStopping = false;
  const passes = repeat({
    run: () => buildNext(context, () => isStopping),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('compliance_report.failed', { error }),
  });
  return {
    stop: async () => {
      isStopping = true;
      await passes.close();
    },
  };
}

/** Works on the oldest report that is due. Throws what the work failed with; an outage leaves the report for a later pass. */
async function buildNext(context: Building, isStopping: () => boolean): Promise<void> {
  const { now, transaction } = context;
  const lease = randomUUID();
  const until = () => new Date(now().getTime() + leaseMs);
  const job = await transaction((tx) => claimReport(tx, { lease, now: now(), until: until() }));
  if (job === null) return;
  const held = { orgId: job.orgId, id: job.id, lease };
  try {
    const report = await buildReport(context, job, async (progress) => {
      const { receiptsRead } = progress;
      // A process that stops leaves the report to the next one at once.
      const kept = { progress: progressText(progress), receiptsRead, until: isStopping() ? now() : until() };
      return (await transaction((tx) => keepReportProgress(tx, held, kept))) && !isStopping();
    });
    if (report !== null) await finish(context, held, report);
  } catch (error) {
    await setAside(context, { held, job, error });
    throw error;
  }
}

type Report = NonNullable<Awaited<ReturnType<typeof buildReport>>>;

async function finish({ transaction, now }: Building, held: HeldReport, report: Report): Promise<void> {
  const at = now();
  await transaction(async (tx) => {
    if (!(await finishReport(tx, held, { report, at }))) return;
    const details = { report_hash: report.report_hash };
    const act = { action: 'compliance_report.finished', actor: 'commercial-gateway', subject: held.id, details };
    await recordAudit(tx, { scope: held.orgId, ...act, verdict: 'allow' }, at);
  });
}

async function setAside(
  { transaction, now }: Building,
  { held, job, error }: { held: HeldReport; job: ClaimedReport; error: unknown },
): Promise<void> {
  const at = now();
  const retryAt = new Date(at.getTime() + retryMs);
  const isOutage = isAppError(error) && errorCodes[error.code].retryable;
  const waits = isOutage && retryAt.getTime() - job.createdAt.getTime() < outageMaxMs;
  await transaction((tx) => (waits ? putOffReport(tx, held, retryAt) : failReport(tx, held, { failure, at })));
}
