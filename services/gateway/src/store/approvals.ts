import { ApprovalId, DecisionId, EffectLevel, RunId, TaskId, UserId, WorkspaceId } from '@countersign/contracts';
import {
  ApprovalStatus,
  WorkspaceApproval as WorkspaceApprovalShape,
  type WorkspaceApproval,
  type WorkspaceDemand,
} from '@countersign/contracts/gateway';
import { Demand } from '@countersign/contracts/governance-kernel';
import type { ApprovalModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { instant, instantOrNull } from './instant.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

type NewApproval = {
  workspaceId: string;
  taskId: string;
  runId: string;
  stepId: string;
  kernelApprovalId: string;
  tool: string | null;
  args: string;
  effectLevel: string;
  demand: Demand;
  reasonCode: string;
  reason: string;
  decisionId: string | null;
  requestedBy: string;
  startedBy: string;
  expiresAt: Date;
};

/**
 * The approval of a step that parks. When the kernel asks again under one that the run has used already, it is opened again.
 * Throws when it belongs to another run: see isApprovalOfOtherRun.
 */
export async function insertApproval(tx: Tx, approval: NewApproval, now: Date): Promise<WorkspaceApproval> {
  const { workspaceId, taskId, runId, kernelApprovalId, tool, requestedBy, startedBy } = approval;
  const { stepId, args, effectLevel, demand, reasonCode, reason, decisionId, expiresAt } = approval;
  const asked = { stepId, args, effectLevel, demand, reasonCode, reason, decisionId, expiresAt };
  const [reopened] = await tx.approval.updateManyAndReturn({
    where: { kernelApprovalId, runId },
    data: { ...asked, status: 'pending', resolvedBy: null, resolvedAt: null },
  });
  if (reopened !== undefined) return approvalOf(reopened);
  const place = { workspaceId, taskId, runId, kernelApprovalId, tool, requestedBy, startedBy };
  const data = { id: newId('apr'), ...place, ...asked, status: 'pending', createdAt: now };
  return approvalOf(await tx.approval.create({ data }));
}

/** An approval of the kernel belongs to one run for ever, so one run's approval never lets another one go on. */
export async function isApprovalOfOtherRun(
  tx: Tx,
  { kernelApprovalId, runId }: { kernelApprovalId: string; runId: string },
): Promise<boolean> {
  return (await tx.approval.count({ where: { kernelApprovalId, runId: { not: runId } } })) > 0;
}

export type StoredApproval = WorkspaceApproval & { stepId: string };

export async function findApproval(
  reader: Reader,
  workspaceId: string,
  approvalId: string,
): Promise<StoredApproval | null> {
  if (!ApprovalId.safeParse(approvalId).success) return null;
  const row = await reader.approval.findUnique({ where: { id: approvalId, workspaceId } });
  return row === null ? null : { ...approvalOf(row), stepId: row.stepId };
}

/** The approval that stands for one of the kernel's, which is of one workspace. */
export async function findApprovalOfKernel(
  reader: Reader,
  { workspaceId, kernelApprovalId }: { workspaceId: string; kernelApprovalId: string },
): Promise<StoredApproval | null> {
  const row = await reader.approval.findFirst({ where: { workspaceId, kernelApprovalId } });
  return row === null ? null : { ...approvalOf(row), stepId: row.stepId };
}

/** Compare-and-set: null when it is not pending any more. */
export async function resolveApproval(
  tx: Tx,
  approvalId: string,
  { status, resolvedBy, now }: { status: ApprovalStatus; resolvedBy: string | null; now: Date },
): Promise<WorkspaceApproval | null> {
  const [row] = await tx.approval.updateManyAndReturn({
    where: { id: approvalId, status: 'pending' },
    data: { status, resolvedBy, resolvedAt: now },
  });
  return row === undefined ? null : approvalOf(row);
}

export async function cancelApprovalsOfRun(tx: Tx, runId: string, now: Date): Promise<WorkspaceApproval[]> {
  const rows = await tx.approval.updateManyAndReturn({
    where: { runId, status: 'pending' },
    data: { status: 'cancelled', resolvedAt: now },
  });
  return rows.map(approvalOf);
}

export type ExpiredApproval = { approvalId: string; workspaceId: string; runId: string; taskId: string };

/** Pending approvals whose time is over. */
export async function findExpired(reader: Reader, now: Date): Promise<ExpiredApproval[]> {
  const rows = await reader.approval.findMany({
    where: { status: 'pending', expiresAt: { lte: now } },
    orderBy: { expiresAt: 'asc' },
    take: 50,
  });
  return rows.map(({ id, workspaceId, runId, taskId }) => ({ approvalId: id, workspaceId, runId, taskId }));
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

function approvalOf(row: ApprovalModel): WorkspaceApproval {
  return {
    id: ApprovalId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    taskId: TaskId.parse(row.taskId),
    runId: RunId.parse(row.runId),
    status: ApprovalStatus.parse(row.status),
    tool: row.tool,
    args: WorkspaceApprovalShape.shape.args.parse(JSON.parse(row.args)),
    effectLevel: EffectLevel.parse(row.effectLevel),
    demand: demandOf(Demand.parse(row.demand)),
    reasonCode: row.reasonCode,
    reason: row.reason,
    requestedBy: row.requestedBy,
    startedBy: UserId.parse(row.startedBy),
    kernelApprovalId: ApprovalId.parse(row.kernelApprovalId),
    decisionId: DecisionId.nullable().parse(row.decisionId),
    resolvedBy: UserId.nullable().parse(row.resolvedBy),
    resolvedAt: instantOrNull(row.resolvedAt),
    expiresAt: instant(row.expiresAt),
    createdAt: instant(row.createdAt),
  };
}

function demandOf({ tool_calls, spend_micros, egress_bytes, writes }: Demand): WorkspaceDemand {
  return { toolCalls: tool_calls, spendMicros: spend_micros, egressBytes: egress_bytes, writes };
}
