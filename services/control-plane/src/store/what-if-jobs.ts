import { instantOrNull, instantOf, Digest, Instant, WhatIfId, WorkspaceId, type UserId } from '@countersign/contracts';
import { WhatIfJob, WhatIfReport } from '@countersign/contracts/control-plane';
import type { WhatIfJob as JobRow } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

/** The number of stored reports of a workspace, since they may have megabytes. */
const keptMax = 20;

type NewJob = {
  id: WhatIfId;
  workspaceId: WorkspaceId;
  policyHash: string;
  bundle: string;
  from: Instant | null;
  to: Instant | null;
  decisionsMax: number;
  askedBy: UserId;
  holdsDraft: boolean;
  createdAt: Date;
};

/** Inserts a report. A workspace has at most one unfinished report, so an earlier one is cancelled. */
export async function insertJob(tx: Tx, job: NewJob): Promise<void> {
  const { workspaceId, createdAt } = job;
  const open = { workspaceId, state: { in: ['queued', 'running'] } };
  const over = { state: 'failed', failure: 'A newer report was requested.', finishedAt: createdAt, lease: null };
  await tx.whatIfJob.updateMany({ where: open, data: over });
  const kept = { where: { workspaceId }, orderBy: { id: 'desc' }, skip: keptMax - 1, take: keptMax } as const;
  const old = await tx.whatIfJob.findMany({ ...kept, select: { id: true } });
  await tx.whatIfJob.deleteMany({ where: { workspaceId, id: { in: old.map(({ id }) => id) } } });
  await tx.whatIfJob.create({ data: { ...job, state: 'queued' } });
}

export async function findJob(reader: Reader, workspaceId: WorkspaceId, id: string): Promise<WhatIfJob | null> {
  const row = await reader.whatIfJob.findFirst({ where: { id, workspaceId } });
  return row === null ? null : jobOf(row);
}

export type ClaimedJob = {
  id: WhatIfId;
  workspaceId: WorkspaceId;
  policyHash: Digest;
  bundle: string;
  from: Instant | null;
  to: Instant | null;
  decisionsMax: number;
  treeSize: number | null;
  createdAt: Date;
};

/** The oldest report without a live worker. */
export async function claimJob(
  tx: Tx,
  { lease, now, until }: { lease: string; now: Date; until: Date },
): Promise<ClaimedJob | null> {
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM what_if_jobs
     WHERE state IN ('queued', 'running') AND (leased_until IS NULL OR leased_until < ${now})
     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`;
  const [job] = found;
  if (job === undefined) return null;
  const data = { state: 'running', lease, leasedUntil: until, decisions: 0 };
  const row = await tx.whatIfJob.update({ where: { id: job.id }, data });
  return {
    id: WhatIfId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    policyHash: Digest.parse(row.policyHash),
    bundle: row.bundle,
    from: row.from === null ? null : Instant.parse(row.from),
    to: row.to === null ? null : Instant.parse(row.to),
    decisionsMax: row.decisionsMax,
    treeSize: row.treeSize,
    createdAt: row.createdAt,
  };
}

type Lease = { id: string; lease: string };
type Progress = { decisions: number; treeSize: number; until: Date };

/** `false` when another worker has taken over the report, or the report was cancelled. */
export async function noteProgress(tx: Tx, lease: Lease, { decisions, treeSize, until }: Progress): Promise<boolean> {
  const data = { decisions, treeSize, leasedUntil: until };
  return (await tx.whatIfJob.updateMany({ where: lease, data })).count === 1;
}

export async function finishJob(tx: Tx, lease: Lease, report: WhatIfReport, now: Date): Promise<boolean> {
  const over = { state: 'done', report: JSON.stringify(report), decisions: report.decisions };
  const data = { ...over, finishedAt: now, lease: null, leasedUntil: null };
  return (await tx.whatIfJob.updateMany({ where: lease, data })).count === 1;
}

/** Releases the report to the next worker after `until`. */
export async function putOffJob(tx: Tx, lease: Lease, until: Date): Promise<void> {
  await tx.whatIfJob.updateMany({ where: lease, data: { lease: null, leasedUntil: until } });
}

export async function failJob(tx: Tx, lease: Lease, failure: string, now: Date): Promise<void> {
  const data = { state: 'failed', failure, finishedAt: now, lease: null, leasedUntil: null };
  await tx.whatIfJob.updateMany({ where: lease, data });
}

function jobOf(row: JobRow): WhatIfJob {
  return {
    report_id: WhatIfId.parse(row.id),
    policy_hash: Digest.parse(row.policyHash),
    state: WhatIfJob.shape.state.parse(row.state),
    decisions: row.decisions,
    decisions_max: row.decisionsMax,
    created_at: instantOf(row.createdAt),
    finished_at: instantOrNull(row.finishedAt),
    failure: row.failure,
    report: row.report === null ? null : WhatIfReport.parse(JSON.parse(row.report)),
  };
}
