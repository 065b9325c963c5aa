import { AppError } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { previewInvoice } from '../invoicing/preview-invoice.ts';
import { recordAudit } from '../store/audit.ts';
import { writeBudget } from '../store/budgets.ts';

type NewBudget = { amountMinor: bigint; currency: string };

/**
 * Sets the budget. Throws INVALID_REQUEST for an amount below 1, without a billed subscription, and for a currency
 * other than that of the plan. Amounts are never converted.
 */
export function setBudget(
  deps: BillingDeps,
  { amountMinor, currency }: NewBudget,
  caller: BillingCaller,
): Promise<void> {
  const { orgId, actor, requestId } = caller;
  return inBillingAccount(deps, orgId, async (tx, at) => {
    if (amountMinor < 1n)
      throw new AppError('INVALID_REQUEST', 'amount_minor must be at least 1', { param: 'amount_minor' });
    const preview = await previewInvoice(tx, orgId, null);
    if (preview === null)
      throw new AppError(
        'INVALID_REQUEST',
        'A budget requires a billed subscription. Activate a plan that has a price',
      );
    if (preview.currency !== currency)
      throw new AppError('INVALID_REQUEST', `currency is ${currency}, but the plan is in ${preview.currency}`, {
        param: 'currency',
      });
    await writeBudget(tx, { orgId, amountMinor, currency, updatedBy: actor, updatedAt: at });
    const details = { amount_minor: String(amountMinor), currency };
    await recordAudit(tx, { scope: orgId, action: 'budget.set', actor, verdict: 'allow', requestId, details }, at);
  });
}
