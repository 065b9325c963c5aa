import {
  AppError,
  ApprovalId,
  DecisionId,
  Digest,
  IncidentId,
  PlanId,
  PrincipalId,
  ReceiptId,
  UserId,
  WorkspaceId,
} from '@countersign/contracts';
import { BlastRadius, PlanState, PlanSteps, type PlanStep } from '@countersign/contracts/control-plane';
import type { Plan as Row } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

export type StoredPlan = {
  id: PlanId;
  workspaceId: WorkspaceId;
  incidentId: IncidentId | null;
  state: PlanState;
  steps: PlanStep[];
  dryRun: BlastRadius;
  planHash: Digest;
  /**
   * Part of the key under which the kernel decides. It rises with each refusal, so that the next decision is a new one.
   */
  attempt: number;
  approvalId: ApprovalId | null;
  decided: { decisionId: DecisionId; receiptId: ReceiptId } | null;
  /** A person, or an API key. */
  askedBy: UserId | PrincipalId;
  createdAt: Date;
  expiresAt: Date;
  committedBy: UserId | null;
  committedAt: Date | null;
};

type NewPlan = Pick<
  StoredPlan,
  'id' | 'workspaceId' | 'incidentId' | 'steps' | 'dryRun' | 'planHash' | 'askedBy' | 'createdAt' | 'expiresAt'
>;

export async function insertPlan(tx: Tx, { steps, dryRun, ...plan }: NewPlan): Promise<StoredPlan> {
  const texts = { steps: JSON.stringify(steps), dryRun: JSON.stringify(dryRun) };
  return planOf(await tx.plan.create({ data: { ...plan, ...texts, state: 'draft' } }));
}

/** Removes plans that ended before then and were never committed. */
export async function forgetPlans(tx: Tx, before: Date): Promise<void> {
  await tx.plan.deleteMany({ where: { expiresAt: { lt: before }, NOT: { state: 'committed' } } });
}

export async function findPlan(reader: Reader, workspaceId: WorkspaceId, id: PlanId): Promise<StoredPlan | null> {
  const row = await reader.plan.findFirst({ where: { id, workspaceId } });
  return row === null ? null : planOf(row);
}

type ListedPlans = { incidentId?: IncidentId | undefined; limit: number; cursor?: string | undefined };

/** Plans of a workspace, newest first. */
export async function listPlans(
  reader: Reader,
  workspaceId: WorkspaceId,
  { incidentId, limit, cursor }: ListedPlans,
): Promise<{ plans: StoredPlan[]; nextCursor: string | null }> {
  const rows = await reader.plan.findMany({
    where: {
      workspaceId,
      ...(incidentId === undefined ? {} : { incidentId }),
      ...(cursor === undefined ? {} : { id: { lt: idOf(cursor) } }),
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
  const plans = rows.slice(0, limit).map(planOf);
  const last = rows.length > limit ? plans.at(-1) : undefined;
  return { plans, nextCursor: last === undefined ? null : Buffer.from(last.id).toString('base64url') };
}

/** `cursor` is attacker-controlled. Throws INVALID_REQUEST. */
function idOf(cursor: string): PlanId {
  const id = PlanId.safeParse(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (id.success) return id.data;
  throw new AppError('INVALID_REQUEST', 'cursor was not issued by this list. Use next_cursor of the last page', {
    param: 'cursor',
  });
}

/** The plans for an incident, newest first. */
export async function listPlansFor(reader: Reader, incidentId: IncidentId, limit: number): Promise<StoredPlan[]> {
  const rows = await reader.plan.findMany({ where: { incidentId }, orderBy: { id: 'desc' }, take: limit });
  return rows.map(planOf);
}

/** Locks the plan until the transaction ends. */
export async function lockPlan(tx: Tx, id: PlanId): Promise<StoredPlan> {
  await tx.$executeRaw`SELECT FROM plans WHERE id = ${id} FOR UPDATE`;
  return planOf(await tx.plan.findUniqueOrThrow({ where: { id } }));
}

type Move = {
  to: PlanState;
  approvalId?: ApprovalId;
  decided?: StoredPlan['decided'];
  committed?: { by: UserId; at: Date };
  /** Whether the plan gets a new attempt, so that the kernel decides again under a new key. */
  isAskedAnew?: boolean;
};

/** `false` when another request has moved the plan in the meantime. */
export async function movePlan(tx: Tx, { id, state, attempt }: StoredPlan, move: Move): Promise<boolean> {
  const { to, approvalId, decided, committed, isAskedAnew = false } = move;
  const data = {
    state: to,
    attempt: isAskedAnew ? attempt + 1 : attempt,
    ...(approvalId === undefined ? {} : { approvalId }),
    ...(decided === undefined || decided === null
      ? {}
      : { decisionId: decided.decisionId, decisionReceiptId: decided.receiptId }),
    ...(committed === undefined ? {} : { committedBy: committed.by, committedAt: committed.at }),
  };
  return (await tx.plan.updateMany({ where: { id, state, attempt }, data })).count === 1;
}

function planOf(row: Row): StoredPlan {
  const { attempt, createdAt, expiresAt, committedAt, decisionId, decisionReceiptId } = row;
  return {
    ...{ attempt, createdAt, expiresAt, committedAt },
    id: PlanId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    incidentId: row.incidentId === null ? null : IncidentId.parse(row.incidentId),
    state: PlanState.parse(row.state),
    steps: PlanSteps.parse(JSON.parse(row.steps)),
    dryRun: BlastRadius.parse(JSON.parse(row.dryRun)),
    planHash: Digest.parse(row.planHash),
    approvalId: row.approvalId === null ? null : ApprovalId.parse(row.approvalId),
    decided:
      decisionId === null || decisionReceiptId === null
        ? null
        : { decisionId: DecisionId.parse(decisionId), receiptId: ReceiptId.parse(decisionReceiptId) },
    askedBy: PrincipalId.parse(row.askedBy),
    committedBy: row.committedBy === null ? null : UserId.parse(row.committedBy),
  };
}
