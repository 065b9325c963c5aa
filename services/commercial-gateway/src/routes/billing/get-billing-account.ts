import { accountRowsMax, getBillingAccount } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { creditGrantView } from '../../invoicing/credit-grant-view.ts';
import { invoiceSummary } from '../../invoicing/invoice-view.ts';
import { findBudget } from '../../store/budgets.ts';
import { listUsableCredits } from '../../store/credit-grants.ts';
import { listOpenInvoices } from '../../store/invoices.ts';
import { sumBalances } from '../../store/ledger.ts';
import { findCurrentSubscription } from '../../store/subscriptions.ts';
import { subscriptionView } from '../../subscriptions/subscription-view.ts';

export const getBillingAccountRoute = ({ database, now }: Pick<Context, 'database' | 'now'>) =>
  handlePerson(getBillingAccount)(async ({ params, caller }) => {
    const { id: orgId } = await orgOfAdmin({ database }, caller, params.tenant_id);
    const { reader } = database;
    const limit = accountRowsMax;
    const [subscription, balances, invoices, credits, budget] = await Promise.all([
      findCurrentSubscription(reader, orgId),
      sumBalances(reader, orgId),
      listOpenInvoices(reader, orgId, limit),
      listUsableCredits(reader, orgId, { now: now(), limit }),
      findBudget(reader, orgId),
    ]);
    return {
      org_id: orgId,
      subscription: subscription === null ? null : subscriptionView(subscription),
      balances: balancesView(balances),
      open_invoices: invoices.map(invoiceSummary),
      credits: credits.map(creditGrantView),
      budget: budget === null ? null : { amount_minor: Number(budget.amountMinor), currency: budget.currency },
    };
  });

type Balances = Awaited<ReturnType<typeof sumBalances>>;

function balancesView(balances: Balances) {
  const of = (account: string, currency: string) =>
    balances.find((balance) => balance.account === account && balance.currency === currency)?.amountMinor ?? 0n;
  return [...new Set(balances.map(({ currency }) => currency))].map((currency) => ({
    currency,
    receivable_minor: String(of('receivable', currency)),
    // Credits are a liability, so their ledger balance is negative.
    credits_minor: String(-of('credits', currency)),
  }));
}
