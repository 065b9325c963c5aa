import { putBudget } from '@countersign/contracts/commercial-gateway';
import { billingCaller } from '../../billing-caller.ts';
import type { BillingDeps } from '../../billing-deps.ts';
import { checkBudget } from '../../budgets/check-budget.ts';
import { setBudget } from '../../budgets/set-budget.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';

export const putBudgetRoute = ({ database, ...deps }: Pick<Context, 'database'> & BillingDeps) =>
  handlePerson(putBudget)(async ({ params, body, caller, requestId }) => {
    const { id } = await orgOfAdmin({ database }, caller, params.tenant_id);
    const author = billingCaller(id, caller, requestId);
    const { amount_minor, currency } = body;
    await setBudget(deps, { amountMinor: BigInt(amount_minor), currency }, author);
    const alerts = await checkBudget(deps, author);
    return { amount_minor, currency, reached_percent: alerts.map(({ thresholdPercent }) => thresholdPercent) };
  });
