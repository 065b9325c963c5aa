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

/**
 * Unused members of a spend event. They are constant because the kernel compares whole events to recognise repeated
 * ones.
 */
const moneyAlone = { tool_calls: 0, egress_bytes: 0, writes: 0 } as const;

type SpendDeps = Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>;

/**
 * Counts the spend at the kernel, then writes an audit entry. After a crash between the two steps, the entry is missing
 * until the event is sent again. The kernel counts a repeated event only once. Throws the refusal of the kernel.
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
