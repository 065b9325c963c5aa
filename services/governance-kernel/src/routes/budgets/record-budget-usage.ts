import { recordBudgetUsage } from '@countersign/contracts/governance-kernel';
import { budgetView } from '../../controls/budgets/budget-view.ts';
import { recordUsage } from '../../controls/budgets/record-usage.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';

/** Counts external usage of a budget. */
export const recordBudgetUsageRoute = (kernel: Context) =>
  handleSystem(recordBudgetUsage)(async ({ params: { tenant, budget_id: id }, body: usage, caller }) => {
    const { counted, budget } = await recordUsage(kernel, { tenant, id, by: caller.principal, usage });
    return { event_id: usage.event_id, counted, budget: budgetView(budget, kernel.clock().getTime()) };
  });
