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
/**
 * Lease of a report. The pages between two checkpoints take less time. After the lease another worker continues the
 * report.
 */
const leaseMs = 120_000;
/** Pause before the next attempt after another service did not answer. */
const retryMs = 5_000;
/** An outage fails a report that was requested longer ago than this. */
const outageMaxMs = 86_400_000;

const failure = 'The receipts could not be read. Request the report again; it continues where it stopped.';

type Building = Pick<Context, 'kernel' | 'keyRing' | 'snapshot' | 'gatewayAudit' | 'directory' | 'transaction' | 'now'>;

/** Builds the requested reports, one at a time in each process. */
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

/**
 * Builds the oldest due report. After an error, the report waits for a later pass or fails, and the error is thrown.
 */
async function buildNext(context: Building, isStopping: () => boolean): Promise<void> {
  const { now, transaction } = context;
  const lease = randomUUID();
  const until = () => new Date(now().getTime() + leaseMs);
  const job = await transaction((tx) => claimReport(tx, { lease, now: now(), until: until() }));
  if (job === null) return;
  const snapshot = { orgId: job.orgId, id: job.id, lease };
  try {
    const report = await buildReport(context, job, async (progress) => {
      const { receiptsRead } = progress;
      // A stopping process releases the report at once.
      const kept = { progress: progressText(progress), receiptsRead, until: isStopping() ? now() : until() };
      return (await transaction((tx) => keepReportProgress(tx, snapshot, kept))) && !isStopping();
    });
    if (report !== null) await finish(context, snapshot, report);
  } catch (error) {
    await setAside(context, { snapshot, job, error });
    throw error;
  }
}

type Report = NonNullable<Awaited<ReturnType<typeof buildReport>>>;

async function finish({ transaction, now }: Building, heldReport: HeldReport, report: Report): Promise<void> {
  const at = now();
  await transaction(async (tx) => {
    if (!(await finishReport(tx, heldReport, { report, at }))) return;
    const details = { report_hash: report.report_hash };
    const act = { action: 'compliance_report.finished', actor: 'commercial-gateway', subject: heldReport.id, details };
    await recordAudit(tx, { scope: heldReport.orgId, ...act, verdict: 'allow' }, at);
  });
}

async function setAside(
  { transaction, now }: Building,
  { snapshot, job, error }: { snapshot: HeldReport; job: ClaimedReport; error: unknown },
): Promise<void> {
  const at = now();
  const retryAt = new Date(at.getTime() + retryMs);
  const isOutage = isAppError(error) && errorCodes[error.code].retryable;
  const waits = isOutage && retryAt.getTime() - job.createdAt.getTime() < outageMaxMs;
  await transaction((tx) => (waits ? putOffReport(tx, snapshot, retryAt) : failReport(tx, snapshot, { failure, at })));
}
