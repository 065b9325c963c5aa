import { AppError } from '@countersign/contracts';
import { callsInFlightMax, getBudget } from '@countersign/contracts/governance-kernel';
import { budgetView } from '../../controls/budgets/budget-view.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { findBudget, listCallsHolding } from '../../store/budget-store.ts';

/** A budget and its calls in progress. */
export const getBudgetRoute = ({ reader, clock }: Context) =>
  handleSystem(getBudget)(async ({ params: { tenant, budget_id: id } }) => {
    const budget = await findBudget(reader, { tenant, id });
    if (budget === null) throw new AppError('NOT_FOUND', 'The tenant has no budget with this ID');
    const { calls, mayBeMore } = await listCallsHolding(reader, { tenant, id }, callsInFlightMax);
    return { ...budgetView(budget, clock().getTime()), in_flight: calls, more_in_flight: mayBeMore };
  });
