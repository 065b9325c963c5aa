import { listBudgets } from '@countersign/contracts/governance-kernel';
import { budgetView } from '../../controls/budgets/budget-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/budget-store.ts';

export const listBudgetsRoute = ({ reader, clock }: Context) =>
  handleTenant(listBudgets)(async ({ query, caller }) => {
    const nowMs = clock().getTime();
    return await store.listBudgets(reader, caller.tenant, { page: query, item: (budget) => budgetView(budget, nowMs) });
  });
