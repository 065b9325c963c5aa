import { UserId, WorkspaceId } from '@countersign/contracts';
import { Replay, ReplayDetails, ReplayFindings, ReplayId, ReplayQuestion } from '@countersign/contracts/control-plane';
import type { Replay as ReplayRow } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';
import { instant } from './instant.ts';

/** Replays of a workspace that are kept. A published part stays in its handle. */
const keptMax = 20;

type NewReplay = {
  id: ReplayId;
  workspaceId: WorkspaceId;
  question: ReplayQuestion;
  /** The draft; null: each decision has its own policy. */
  bundle: string | null;
  askedBy: UserId;
  createdAt: Date;
};

/** A workspace has one replay in the making: what was not finished gives way. */
export async function insertReplay(tx: Tx, { question, ...replay }: NewReplay): Promise<void> {
  const { workspaceId, createdAt } = replay;
  const open = { workspaceId, state: { in: ['queued', 'running'] } };
  const over = { state: 'failed', failure: 'Another replay was asked for.', finishedAt: createdAt, lease: null };
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

/** The oldest without a worker, or whose worker went silent. */
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

type Held = { id: string; lease: string };
type Progress = { decisions: number; treeSize: number; until: Date };

/** `false` when another worker has it by now, or it was cancelled. */
export async function noteReplayProgress(
  tx: Tx,
  held: Held,
  { decisions, treeSize, until }: Progress,
): Promise<boolean> {
  const data = { decisions, treeSize, leasedUntil: until };
  return (await tx.replay.updateMany({ where: held, data })).count === 1;
}

type Result = { findings: ReplayFindings; details: ReplayDetails };

export async function finishReplay(tx: Tx, held: Held, { findings, details }: Result, now: Date): Promise<void> {
  const found = { findings: JSON.stringify(findings), details: JSON.stringify(details) };
  const over = { state: 'done', ...found, decisions: findings.decisions, finishedAt: now };
  await tx.replay.updateMany({ where: held, data: { ...over, lease: null, leasedUntil: null } });
}

/** Leaves it to the next worker that looks after `until`. */
export async function putOffReplay(tx: Tx, held: Held, until: Date): Promise<void> {
  await tx.replay.updateMany({ where: held, data: { lease: null, leasedUntil: until } });
}

export async function failReplay(tx: Tx, held: Held, failure: string, now: Date): Promise<void> {
  const data = { state: 'failed', failure, finishedAt: now, lease: null, leasedUntil: null };
  await tx.replay.updateMany({ where: held, data });
}

function replayOf(row: ReplayRow): Replay {
  return {
    replay_id: ReplayId.parse(row.id),
    state: Replay.shape.state.parse(row.state),
    question: ReplayQuestion.parse(JSON.parse(row.question)),
    decisions: row.decisions,
    created_by: UserId.parse(row.askedBy),
    created_at: instant(row.createdAt),
    finished_at: row.finishedAt === null ? null : instant(row.finishedAt),
    failure: row.failure,
    findings: row.findings === null ? null : ReplayFindings.parse(JSON.parse(row.findings)),
    details: row.details === null ? null : ReplayDetails.parse(JSON.parse(row.details)),
  };
}
