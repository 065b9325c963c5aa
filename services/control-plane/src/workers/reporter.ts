import { randomUUID } from 'node:crypto';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { workOnReport } from '../policy/work-on-report.ts';
import { noteReported } from '../store/policy-drafts.ts';
import { claimJob, failJob, finishJob, noteProgress, type ClaimedJob } from '../store/what-if-jobs.ts';

const passMs = 500;
/** Longer than a page of records takes on a busy machine; a report of a process that died is taken over after it. */
const leaseMs = 60_000;

/** Works on the reports that somebody waits for, one at a time. */
export function startReporter(context: Context): { stop(): Promise<void> } {
  let isStopping = false;
  const passes = repeat({
    run: () => workOnNext(context, () => isStopping),
    intervalMs: passMs,
    onFailure: (error) => context.log.warn('what_if.failed', { error }),
  });
  return {
    stop: async () => {
      isStopping = true;
      await passes.close();
    },
  };
}

async function workOnNext(context: Context, isStopping: () => boolean): Promise<void> {
  const { now, transaction } = context;
  const until = () => new Date(now().getTime() + leaseMs);
  const lease = randomUUID();
  const job = await transaction((tx) => claimJob(tx, { lease, now: now(), until: until() }));
  if (job === null) return;
  const held = { id: job.id, lease };
  try {
    // Who stops leaves the job to the next process, from the same place in the log.
    const report = await workOnReport(
      context,
      job,
      async (progress) =>
        (await transaction((tx) => noteProgress(tx, held, { ...progress, until: isStopping() ? now() : until() }))) &&
        !isStopping(),
    );
    if (report !== null) await finish(context, job, { held, report });
  } catch (error) {
    await transaction((tx) => failJob(tx, held, 'The records could not be read; ask for the report again.', now()));
    throw error;
  }
}

type Finished = { held: { id: string; lease: string }; report: Parameters<typeof finishJob>[2] };

async function finish({ transaction, now }: Context, job: ClaimedJob, { held, report }: Finished): Promise<void> {
  await transaction(async (tx) => {
    if (await finishJob(tx, held, report, now())) await noteReported(tx, job, job.id);
  });
}
