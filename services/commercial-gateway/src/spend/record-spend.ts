import { TenantId, type BudgetId } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { orgOfCaller } from '../basic/org-of-caller.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';

type Spend = {
  event_id: string;
  budget_id: BudgetId;
  amount_minor: number;
  currency: string;
  occurred_at: string;
};

type Recorded = { event_id: string; counted: boolean; budget: Budget };

/** The kernel compares whole events, so the members that spend has no use for are constant. */
const moneyAlone = { tool_calls: 0, egress_bytes: 0, writes: 0 } as const;

type SpendDeps = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;

/**
 * Counts the spend at the kernel, and then records who reported it. A crash between the two leaves no audit entry until the same event is
 * sent again, which counts nothing more. Throws the refusal of the kernel.
 */
export async function recordSpend(
  { kernel, database, transaction, now }: SpendDeps,
  { budget_id, ...usage }: Spend,
  { caller, requestId }: { caller: WorkspaceCaller; requestId: string },
): Promise<Recorded> {
  const orgId = await orgOfCaller(database.reader, caller);
  const params = { tenant: TenantId.parse(caller.workspaceId), budget_id };
  const recorded = await answerOf('kernel', () =>
    kernel.recordBudgetUsage({ params, body: { ...usage, ...moneyAlone } }),
  );
  const { event_id, amount_minor, currency } = usage;
  const details = {
    ...{ workspace_id: caller.workspaceId, budget_id, event_id, currency },
    ...{ amount_minor, counted: recorded.counted },
  };
  const entry = { action: 'spend.recorded', actor: caller.actor, verdict: 'allow', requestId, details } as const;
  await transaction((tx) => recordAudit(tx, { ...entry, scope: orgId, subject: budget_id }, now()));
  return recorded;
}
