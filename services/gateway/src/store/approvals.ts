import {
  instantOrNull,
  instantOf,
  ApiKeyId,
  ApprovalId,
  DecisionId,
  EffectLevel,
  RunId,
  SessionId,
  TaskId,
  UserId,
  WorkspaceId,
} from '@countersign/contracts';
import {
  ApprovalStatus,
  WorkspaceApproval as WorkspaceApprovalShape,
  type WorkspaceApproval,
  type WorkspaceDemand,
} from '@countersign/contracts/gateway';
import { Demand } from '@countersign/contracts/governance-kernel';
import type { ApprovalModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

/** The judged values of an approval request. `args` and `facts` are canonical JSON text. */
type Input = {
  action: string;
  tool: string | null;
  resource: string | null;
  args: string;
  facts: string;
  effectLevel: string;
  demand: Demand;
  reasonCode: string;
  reason: string;
  decisionId: string | null;
  expiresAt: Date;
};

type NewApproval = Input & {
  workspaceId: string;
  kernelApprovalId: string;
  requestedBy: string;
  startedBy: string;
};
type OfRun = { taskId: string; runId: string; stepId: string };
type OfKey = { apiKeyId: string; apiKeyName: string; sessionId: string };

/**
 * Stores the approval of a parked step. An approval that the run has already used is opened again when the kernel
 * requires it once more. Throws when the approval belongs to another run: see isApprovalOfOtherRun.
 */
export async function insertApproval(tx: Tx, approval: NewApproval & OfRun, now: Date): Promise<WorkspaceApproval> {
  const { workspaceId, taskId, runId, stepId, kernelApprovalId, requestedBy, startedBy } = approval;
  const [reopened] = await tx.approval.updateManyAndReturn({
    where: { kernelApprovalId, runId },
    data: { ...askedOf(approval), ...undecided, stepId },
  });
  if (reopened !== undefined) return approvalOf(reopened);
  const place = { workspaceId, taskId, runId, stepId, sessionId: runId, kernelApprovalId, requestedBy, startedBy };
  const data = { id: kernelApprovalId, ...place, ...askedOf(approval), ...undecided, createdAt: now };
  return approvalOf(await tx.approval.create({ data }));
}

/** Stores the approval that the call of a key requires. `null` when it is already stored. */
export async function insertApprovalOfKey(
  tx: Tx,
  approval: NewApproval & OfKey,
  now: Date,
): Promise<WorkspaceApproval | null> {
  const { workspaceId, apiKeyId, apiKeyName, sessionId, kernelApprovalId, requestedBy, startedBy } = approval;
  const place = { workspaceId, apiKeyId, apiKeyName, sessionId, kernelApprovalId, requestedBy, startedBy };
  const data = { id: kernelApprovalId, ...place, ...askedOf(approval), ...undecided, createdAt: now };
  const [row] = await tx.approval.createManyAndReturn({ data, skipDuplicates: true });
  return row === undefined ? null : approvalOf(row);
}

const undecided = { status: 'pending', resolvedBy: null, resolvedAt: null, timelockUntil: null, held: false };

function askedOf(approval: Input): Input {
  const { action, tool, resource, args, facts, effectLevel, demand, reasonCode, reason, decisionId, expiresAt } =
    approval;
  return { action, tool, resource, args, facts, effectLevel, demand, reasonCode, reason, decisionId, expiresAt };
}

/** An approval of the kernel belongs permanently to one run or key, so it can never continue another run. */
export async function isApprovalOfOtherRun(
  tx: Tx,
  { kernelApprovalId, runId }: { kernelApprovalId: string; runId: string },
): Promise<boolean> {
  const isOther = { OR: [{ runId: { not: runId } }, { runId: null }] };
  return (await tx.approval.count({ where: { kernelApprovalId, ...isOther } })) > 0;
}

/** `held`: approved, and its run waits for the end of the time lock. */
export type StoredApproval = WorkspaceApproval & { stepId: string | null; held: boolean };

export async function findApproval(
  reader: Reader,
  workspaceId: string,
  approvalId: string,
): Promise<StoredApproval | null> {
  if (!ApprovalId.safeParse(approvalId).success) return null;
  const row = await reader.approval.findUnique({ where: { id: approvalId, workspaceId } });
  return row === null ? null : storedOf(row);
}

/** The local copy of an approval of the kernel, which belongs to one workspace. */
export async function findApprovalOfKernel(
  reader: Reader,
  { workspaceId, kernelApprovalId }: { workspaceId: string; kernelApprovalId: string },
): Promise<StoredApproval | null> {
  const row = await reader.approval.findFirst({ where: { workspaceId, kernelApprovalId } });
  return row === null ? null : storedOf(row);
}

type Resolved = {
  status: ApprovalStatus;
  resolvedBy: string | null;
  timelockUntil: Date | null;
  /** Whether the run waits for the end of the time lock. */
  held: boolean;
  now: Date;
};

/** Compare-and-set: `null` when the state is no longer `from`. */
export async function resolveApproval(
  tx: Tx,
  from: { id: string; status: ApprovalStatus; held: boolean },
  { status, resolvedBy, timelockUntil, held, now }: Resolved,
): Promise<WorkspaceApproval | null> {
  const [row] = await tx.approval.updateManyAndReturn({
    where: from,
    data: { status, resolvedBy, resolvedAt: now, timelockUntil, held },
  });
  return row === undefined ? null : approvalOf(row);
}

/** Ends the wait of a run. `false` when the run no longer waits. */
export async function takeHeld(tx: Tx, id: string): Promise<boolean> {
  return (await tx.approval.updateMany({ where: { id, held: true }, data: { held: false } })).count === 1;
}

/** Approvals whose time lock has ended while their run still waits, the earliest end first. */
export async function findReleasable(reader: Reader, passedBefore: Date): Promise<StoredApproval[]> {
  const rows = await reader.approval.findMany({
    where: { held: true, timelockUntil: { lte: passedBefore } },
    orderBy: { timelockUntil: 'asc' },
    take: 50,
  });
  return rows.map(storedOf);
}

export async function cancelApprovalsOfRun(tx: Tx, runId: string, now: Date): Promise<WorkspaceApproval[]> {
  const rows = await tx.approval.updateManyAndReturn({
    where: { runId, status: 'pending' },
    data: { status: 'cancelled', resolvedAt: now },
  });
  return rows.map(approvalOf);
}

/** Pending approvals that have expired. */
export async function findExpired(reader: Reader, now: Date): Promise<StoredApproval[]> {
  const rows = await reader.approval.findMany({
    where: { status: 'pending', expiresAt: { lte: now } },
    orderBy: { expiresAt: 'asc' },
    take: 50,
  });
  return rows.map(storedOf);
}

export async function listApprovalsOf(
  reader: Reader,
  workspaceId: string,
  request: PageRequest & { status?: ApprovalStatus | undefined },
): Promise<Page<WorkspaceApproval>> {
  const rows = await reader.approval.findMany({
    where: { workspaceId, id: olderThan(request), ...(request.status !== undefined && { status: request.status }) },
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: approvalOf, key: (row) => row.id });
}

function storedOf(row: ApprovalModel): StoredApproval {
  return { ...approvalOf(row), stepId: row.stepId, held: row.held };
}

function approvalOf(row: ApprovalModel): WorkspaceApproval {
  const { status, resolvedBy, startedBy } = row;
  return {
    id: ApprovalId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    taskId: TaskId.nullable().parse(row.taskId),
    runId: RunId.nullable().parse(row.runId),
    apiKey: keyOf(row),
    sessionId: SessionId.parse(row.sessionId),
    status: ApprovalStatus.parse(status),
    action: row.action,
    tool: row.tool,
    resource: row.resource,
    args: WorkspaceApprovalShape.shape.args.parse(JSON.parse(row.args)),
    facts: WorkspaceApprovalShape.shape.facts.parse(JSON.parse(row.facts)),
    effectLevel: EffectLevel.parse(row.effectLevel),
    demand: demandOf(Demand.parse(row.demand)),
    reasonCode: row.reasonCode,
    reason: row.reason,
    requestedBy: row.requestedBy,
    startedBy: UserId.parse(startedBy),
    kernelApprovalId: ApprovalId.parse(row.kernelApprovalId),
    decisionId: DecisionId.nullable().parse(row.decisionId),
    resolvedBy: UserId.nullable().parse(resolvedBy),
    resolvedAt: instantOrNull(row.resolvedAt),
    selfApproved: status === 'approved' && resolvedBy === startedBy,
    timelockUntil: instantOrNull(row.timelockUntil),
    expiresAt: instantOf(row.expiresAt),
    createdAt: instantOf(row.createdAt),
  };
}

function keyOf({ apiKeyId, apiKeyName }: ApprovalModel): WorkspaceApproval['apiKey'] {
  return apiKeyId === null ? null : { id: ApiKeyId.parse(apiKeyId), name: apiKeyName ?? '' };
}

function demandOf({ tool_calls, spend_micros, egress_bytes, writes }: Demand): WorkspaceDemand {
  return { toolCalls: tool_calls, spendMicros: spend_micros, egressBytes: egress_bytes, writes };
}
