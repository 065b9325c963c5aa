import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { reachedThresholds } from '../billing/budget.ts';
import { publishBudgetReached } from '../events.ts';
import { periodInProgress } from '../invoicing/bill-period.ts';
import { previewInvoice } from '../invoicing/preview-invoice.ts';
import { recordAudit } from '../store/audit.ts';
import { findUsageHead } from '../store/usage-events.ts';
import { findBudget, insertAlert, markBudgetChecked, type BudgetAlert } from '../store/budgets.ts';

/**
 * Creates an alert for each threshold that the period in progress has reached since the last check. Returns these
 * alerts.
 */
export function checkBudget(deps: BillingDeps, caller: BillingCaller): Promise<BudgetAlert[]> {
  const { orgId, actor, requestId } = caller;
  return inBillingAccount(deps, orgId, async (tx, at) => {
    // The usage head is read before the invoice. The next check then includes an event that arrives between the two
    // reads.
    await markBudgetChecked(tx, orgId, await findUsageHead(tx, orgId));
    const [budget, preview] = [await findBudget(tx, orgId), await previewInvoice(tx, orgId, null)];
    if (budget === null || preview === null || budget.currency !== preview.currency) return [];
    const { start: periodStart } = periodInProgress(preview.subscription);
    const amounts = { budgetMinor: budget.amountMinor, amountMinor: preview.subtotalMinor, currency: budget.currency };
    const alerts: BudgetAlert[] = [];
    for (const thresholdPercent of reachedThresholds(preview.subtotalMinor, budget.amountMinor)) {
      const alert = { orgId, periodStart, thresholdPercent, ...amounts, createdAt: at };
      if (!(await insertAlert(tx, alert))) continue;
      alerts.push(alert);
      await publishBudgetReached(tx, deps, alert);
      const details = { threshold_percent: thresholdPercent, amount_minor: String(preview.subtotalMinor) };
      const act = { scope: orgId, action: 'budget.reached', actor, requestId, details } as const;
      await recordAudit(tx, { ...act, verdict: 'allow' }, at);
    }
    return alerts;
  });
}
