import { instantOrNull, instantOf, UserId, WorkspaceId } from '@countersign/contracts';
import { Replay, ReplayDetails, ReplayFindings, ReplayId, ReplayQuestion } from '@countersign/contracts/control-plane';
import type { Replay as ReplayRow } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

/** The number of stored replays of a workspace. The published part of a removed replay stays in its handle. */
const keptMax = 20;

type NewReplay = {
  id: ReplayId;
  workspaceId: WorkspaceId;
  question: ReplayQuestion;
  /** The draft that decides again. `null` when each decision is replayed under its own policy. */
  bundle: string | null;
  askedBy: UserId;
  createdAt: Date;
};

/** Inserts a replay. A workspace has at most one unfinished replay, so an earlier one is cancelled. */
export async function insertReplay(tx: Tx, { question, ...replay }: NewReplay): Promise<void> {
  const { workspaceId, createdAt } = replay;
  const open = { workspaceId, state: { in: ['queued', 'running'] } };
  const over = { state: 'failed', failure: 'A newer replay was requested.', finishedAt: createdAt, lease: null };
  await tx.replay.updateMany({ where: open, data: over });
  const kept = { where: { workspaceId }, orderBy: { createdAt: 'desc' }, skip: keptMax - 1, take: keptMax } as const;
  const old = await tx.replay.findMany({ ...kept, select: { id: true } });
  await tx.replay.deleteMany({ where: { workspaceId, id: { in: old.map(({ id }) => id) } } });
  await tx.replay.create({ data: { ...replay, question: JSON.stringify(question), state: 'queued' } });
}

export async function findReplay(reader: Reader, workspaceId: WorkspaceId, id: ReplayId): Promise<Replay | null> {
  const row = await reader.replay.findFirst({ where: { id, workspaceId } });
  return row === null ? null : replayOf(row);
}

export type ClaimedReplay = {
  id: ReplayId;
  workspaceId: WorkspaceId;
  question: ReplayQuestion;
  bundle: string | null;
  treeSize: number | null;
  createdAt: Date;
};

/** The oldest replay without a live worker. */
export async function claimReplay(
  tx: Tx,
  { lease, now, until }: { lease: string; now: Date; until: Date },
): Promise<ClaimedReplay | null> {
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM replays
     WHERE state IN ('queued', 'running') AND (leased_until IS NULL OR leased_until < ${now})
     ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
  const [replay] = found;
  if (replay === undefined) return null;
  const data = { state: 'running', lease, leasedUntil: until, decisions: 0 };
  const { bundle, treeSize, ...row } = await tx.replay.update({ where: { id: replay.id }, data });
  return {
    id: ReplayId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    question: ReplayQuestion.parse(JSON.parse(row.question)),
    ...{ bundle, treeSize, createdAt: row.createdAt },
  };
}

type Lease = { id: string; lease: string };
type Progress = { decisions: number; treeSize: number; until: Date };

/** `false` when another worker has taken over the replay, or the replay was cancelled. */
export async function noteReplayProgress(
  tx: Tx,
  lease: Lease,
  { decisions, treeSize, until }: Progress,
): Promise<boolean> {
  const data = { decisions, treeSize, leasedUntil: until };
  return (await tx.replay.updateMany({ where: lease, data })).count === 1;
}

type Result = { findings: ReplayFindings; details: ReplayDetails };

export async function finishReplay(tx: Tx, lease: Lease, { findings, details }: Result, now: Date): Promise<void> {
  const found = { findings: JSON.stringify(findings), details: JSON.stringify(details) };
  const over = { state: 'done', ...found, decisions: findings.decisions, finishedAt: now };
  await tx.replay.updateMany({ where: lease, data: { ...over, lease: null, leasedUntil: null } });
}

/** Releases the replay to the next worker after `until`. */
export async function putOffReplay(tx: Tx, lease: Lease, until: Date): Promise<void> {
  await tx.replay.updateMany({ where: lease, data: { lease: null, leasedUntil: until } });
}

export async function failReplay(tx: Tx, lease: Lease, failure: string, now: Date): Promise<void> {
  const data = { state: 'failed', failure, finishedAt: now, lease: null, leasedUntil: null };
  await tx.replay.updateMany({ where: lease, data });
}

function replayOf(row: ReplayRow): Replay {
  return {
    replay_id: ReplayId.parse(row.id),
    state: Replay.shape.state.parse(row.state),
    question: ReplayQuestion.parse(JSON.parse(row.question)),
    decisions: row.decisions,
    created_by: UserId.parse(row.askedBy),
    created_at: instantOf(row.createdAt),
    finished_at: instantOrNull(row.finishedAt),
    failure: row.failure,
    findings: row.findings === null ? null : ReplayFindings.parse(JSON.parse(row.findings)),
    details: row.details === null ? null : ReplayDetails.parse(JSON.parse(row.details)),
  };
}
