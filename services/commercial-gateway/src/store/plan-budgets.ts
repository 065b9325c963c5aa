import { WorkspaceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

export type PlanBudget = {
  workspaceId: WorkspaceId;
  /** `null` when there is no limit. */
  toolCalls: number | null;
  version: number;
  isConfirmed: boolean;
};

/**
 * Returns one budget for each workspace of an organisation, by ID. A workspace without a row has no limit at the
 * kernel.
 */
export async function listPlanBudgets(reader: Reader, orgId: OrgId): Promise<PlanBudget[]> {
  const workspaces = await reader.orgWorkspace.findMany({ where: { orgId }, orderBy: { workspaceId: 'asc' } });
  const rows = await reader.planBudget.findMany({ where: { orgId } });
  const byId = new Map(rows.map((row) => [row.workspaceId, row]));
  return workspaces.map(({ workspaceId }) => {
    const row = byId.get(workspaceId);
    return {
      workspaceId: WorkspaceId.parse(workspaceId),
      toolCalls: row === undefined || row.toolCalls === null ? null : Number(row.toolCalls),
      version: row?.version ?? 0,
      isConfirmed: row?.isConfirmed ?? true,
    };
  });
}

/**
 * Stores a share that the kernel must confirm. Throws when another worker has claimed the organisation or has changed
 * this share.
 */
export async function writePlanBudget(
  tx: Tx,
  { workspaceId, toolCalls, version, isConfirmed }: PlanBudget,
  { orgId, leasedUntil }: { orgId: OrgId; leasedUntil: Date },
): Promise<void> {
  const [reserved] = await tx.$queryRaw<{ due_at: Date }[]>`
    SELECT due_at FROM entitlement_states WHERE org_id = ${orgId} FOR UPDATE`;
  if (reserved === undefined || reserved.due_at > leasedUntil) throw new Error(`Another worker has ${orgId}`);
  const before = version - 1;
  if (before === 0)
    await tx.planBudget.createMany({
      data: { workspaceId, orgId, toolCalls: null, version: 0, isConfirmed: true },
      skipDuplicates: true,
    });
  const data = { toolCalls: toolCalls === null ? null : BigInt(toolCalls), version, isConfirmed };
  const { count } = await tx.planBudget.updateMany({ where: { workspaceId, orgId, version: before }, data });
  if (count !== 1) throw new Error(`Another worker wrote the budget of ${workspaceId}`);
}

export async function confirmPlanBudget(tx: Tx, { workspaceId, version }: PlanBudget): Promise<void> {
  await tx.planBudget.updateMany({ where: { workspaceId, version }, data: { isConfirmed: true } });
}

/** Raises the version of a share above the later version that the kernel has. The share must be confirmed again. */
export async function raisePlanVersion(tx: Tx, { workspaceId, version }: PlanBudget, current: number): Promise<void> {
  const data = { version: current + 1, isConfirmed: false };
  await tx.planBudget.updateMany({ where: { workspaceId, version }, data });
}
