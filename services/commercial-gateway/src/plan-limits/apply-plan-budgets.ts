import { isAppError, TenantId, type WorkspaceId } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import {
  confirmPlanBudget,
  listPlanBudgets,
  raisePlanVersion,
  writePlanBudget,
  type PlanBudget,
} from '../store/plan-budgets.ts';
import { nextShares, reachOf, roomFor } from './plan-shares.ts';

/** ID of the kernel budget that the plan of an organisation controls. */
const planBudgetId = 'plan.tool_calls';

type Applying = Pick<Context, 'kernel' | 'transaction' | 'database'>;

/**
 * An organisation with the end of this worker's lease and the monthly limit. `limit` is `null` when there is no limit.
 */
type LimitedOrg = { orgId: OrgId; leasedUntil: Date; limit: number | null };

/** A budget that the kernel confirmed. */
type Confirmed = PlanBudget & { used: number };

/**
 * Sets the limit at the kernel, as one budget for each workspace. Shares are lowered before others are raised, so no
 * raise exceeds the limit. Throws when the kernel does not confirm, or when another worker has the organisation. The
 * last confirmed budgets then stay in force.
 */
export async function applyPlanBudgets(context: Applying, org: LimitedOrg): Promise<void> {
  const stored = await listPlanBudgets(context.database.reader, org.orgId);
  const confirmed: Confirmed[] = [];
  for (const budget of stored) confirmed.push(await confirm(context, budget));
  if (org.limit === null) {
    for (const budget of confirmed) if (budget.toolCalls !== null) await change(context, org, budget, null);
    return;
  }
  const shares = confirmed.map(({ toolCalls, used }) => ({ limit: toolCalls, used }));
  const targets = shares.length === 0 ? null : nextShares(org.limit, shares);
  if (targets !== null) await moveTo(context, { ...org, limit: org.limit }, { budgets: confirmed, targets });
}

type Move = { budgets: readonly Confirmed[]; targets: readonly number[] };

async function moveTo(
  context: Applying,
  org: LimitedOrg & { limit: number },
  { budgets, targets }: Move,
): Promise<void> {
  const reach = budgets.map(({ toolCalls, used }) => reachOf({ limit: toolCalls, used }));
  const targetOf = (nth: number) => targets[nth] ?? 0;
  for (const [nth, budget] of budgets.entries()) {
    if (budget.toolCalls !== null && targetOf(nth) >= budget.toolCalls) continue;
    const { toolCalls, used } = await change(context, org, budget, targetOf(nth));
    // Calls continued until the kernel had the lower share, so usage is read again.
    reach[nth] = reachOf({ limit: toolCalls, used });
  }
  for (const [nth, budget] of budgets.entries()) {
    if (budget.toolCalls === null || targetOf(nth) <= budget.toolCalls) continue;
    const raised = Math.min(targetOf(nth), budget.toolCalls + roomFor(org.limit, reach));
    if (raised <= budget.toolCalls) continue;
    const { toolCalls, used } = await change(context, org, budget, raised);
    reach[nth] = reachOf({ limit: toolCalls, used });
  }
}

/** Confirms a budget at the kernel. A budget that was never sent needs no confirmation. */
async function confirm(context: Applying, budget: PlanBudget): Promise<Confirmed> {
  if (budget.version === 0) return { ...budget, used: 0 };
  const used = usedOf(await put(context, budget));
  if (!budget.isConfirmed) await context.transaction((tx) => confirmPlanBudget(tx, budget));
  return { ...budget, isConfirmed: true, used };
}

/** The new share is stored before it is sent to the kernel, so that another worker can continue after a crash. */
async function change(
  context: Applying,
  { orgId, leasedUntil }: LimitedOrg,
  budget: PlanBudget,
  toolCalls: number | null,
): Promise<Confirmed> {
  const next = { ...budget, toolCalls, version: budget.version + 1, isConfirmed: false };
  await context.transaction((tx) => writePlanBudget(tx, next, { orgId, leasedUntil }));
  return confirm(context, next);
}

async function put({ kernel, transaction }: Applying, budget: PlanBudget): Promise<Budget> {
  const { workspaceId, version, toolCalls } = budget;
  const body = {
    ...{ version, subject: 'tenant', window: 'month' as const, tool_call_limit: toolCalls },
    ...{ spend_limit_minor: null, currency: null, egress_limit_bytes: null, write_limit: null },
    approval_required_above_minor: null,
  };
  try {
    return (await kernel.putCeiling({ params: pathOf(workspaceId), body })).body;
  } catch (error) {
    const current = laterVersion(error, version);
    // The kernel has a later version when this database was restored and the kernel's was not. The next pass sets the
    // share with a version above it.
    if (current !== null) await transaction((tx) => raisePlanVersion(tx, budget, current));
    throw error;
  }
}

function pathOf(workspaceId: WorkspaceId): { tenant: TenantId; budget_id: string } {
  return { tenant: TenantId.parse(workspaceId), budget_id: planBudgetId };
}

function laterVersion(error: unknown, version: number): number | null {
  if (!isAppError(error) || error.code !== 'ILLEGAL_TRANSITION') return null;
  const current = error.details?.['version'];
  return typeof current === 'number' && Number.isSafeInteger(current) && current >= version ? current : null;
}

function usedOf({ used, reserved }: Budget): number {
  return used.tool_calls + reserved.tool_calls;
}
