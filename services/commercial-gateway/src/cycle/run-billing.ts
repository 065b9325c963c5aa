import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { graceOverBefore, lateUsageOverBefore } from '../billing/subscription-status.ts';
import { checkBudget } from '../budgets/check-budget.ts';
import { closePeriod, isPeriodOver } from '../invoicing/close-period.ts';
import { expireCredits } from '../invoicing/expire-credits.ts';
import { finalizeInvoice } from '../invoicing/finalize-invoice.ts';
import { settleCanceled } from '../invoicing/settle-canceled.ts';
import { collectInvoice } from '../payments/collect-invoice.ts';
import { finishRefund } from '../payments/finish-refund.ts';
import type { PaymentDeps } from '../payments/payment-deps.ts';
import { claimCollections } from '../store/collections.ts';
import type { Tx } from '../store/database.ts';
import {
  listDrafts,
  listEndedGraces,
  listEndedPeriods,
  listExpiredGrants,
  listUncheckedBudgets,
  listUnsettled,
} from '../store/due-billing.ts';
import { claimRefunds } from '../store/refunds.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { isBilled } from '../subscriptions/activate-plan.ts';
import { moveSubscription } from '../subscriptions/move-subscription.ts';

export type CycleDeps = PaymentDeps & { log: Log; taxPercent: string | null };

const pageSize = 200;
/**
 * Another worker takes over after this time when a worker dies during a call to a provider. Such a call takes less
 * time.
 */
const leaseMs = 300_000;
/** This number is small enough that the worker finishes all claimed rows within the lease. */
const claimedAtOnce = 5;

/**
 * Runs one pass over all due work of all organisations. Rejects after the pass if a step failed. The `cause` of the
 * error is the first failure.
 */
export async function runBilling(deps: CycleDeps): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (step: string, orgId: OrgId, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      deps.log.warn('billing_step.failed', { step, org_id: orgId, error });
      failures.push(error);
    }
  };
  for (const step of steps)
    await eachDue(deps, step.list, (due) => attempt(step.name, due.orgId, () => step.run(deps, due)));
  await eachClaimed(deps, claimCollections, (one) => attempt('collect', one.orgId, () => collectInvoice(deps, one)));
  await eachClaimed(deps, claimRefunds, (one) => attempt('refund', one.orgId, () => finishRefund(deps, one)));
  if (failures.length > 0) throw new Error(`${failures.length} billing steps failed`, { cause: failures[0] });
}

type Due = { id: string; orgId: OrgId };
type Page = { now: Date; after: string; limit: number };
type Step<Row extends Due> = {
  name: string;
  list(tx: Tx, page: Page): Promise<Row[]>;
  run(deps: CycleDeps, due: Row): Promise<unknown>;
};

/** The order of steps lets one pass close a period, finalize its invoice, charge it and check the budget. */
const steps = [
  stepOf({ name: 'close_periods', list: listEndedPeriods, run: closePeriods }),
  stepOf({
    name: 'settle_canceled',
    list: (tx, { now, ...page }) => listUnsettled(tx, { now: lateUsageOverBefore(now), ...page }),
    run: (deps, { subscriptionId: id, orgId }) =>
      settleCanceled(deps, { id, taxPercent: deps.taxPercent }, callerOf(orgId)),
  }),
  stepOf({
    name: 'finalize',
    list: listDrafts,
    run: (deps, { invoiceId, orgId }) => finalizeInvoice(deps, invoiceId, callerOf(orgId)),
  }),
  stepOf({
    name: 'end_grace',
    list: (tx, { now, ...page }) => listEndedGraces(tx, { now: graceOverBefore(now), ...page }),
    run: (deps, { orgId }) => moveSubscription(deps, 'end_grace', callerOf(orgId)),
  }),
  stepOf({
    name: 'expire_credits',
    list: listExpiredGrants,
    run: (deps, { orgId }) => expireCredits(deps, callerOf(orgId)),
  }),
  stepOf({
    name: 'check_budget',
    list: listUncheckedBudgets,
    run: (deps, { orgId }) => checkBudget(deps, callerOf(orgId)),
  }),
];

/** Hides the type of the rows, so that all steps fit into one list. */
function stepOf<Row extends Due>({ name, list, run }: Step<Row>) {
  return { name, list, run: (deps: CycleDeps, due: Due) => run(deps, due as Row) }; // each row is from `list`
}

/**
 * An organisation that was not billed for months has several open periods. Each period is closed in its own
 * transaction.
 */
async function closePeriods(deps: CycleDeps, { orgId }: Due): Promise<void> {
  for (;;) {
    const current = await findCurrentSubscription(deps.database.reader, orgId);
    if (current === null || !isBilled(current) || !isPeriodOver(current, deps.now())) return;
    await closePeriod(deps, { taxPercent: deps.taxPercent }, callerOf(orgId));
  }
}

function callerOf(orgId: OrgId) {
  return { orgId, actor: 'commercial-gateway', requestId: null };
}

async function eachDue<Row extends Due>(
  { transaction, now }: CycleDeps,
  list: (tx: Tx, page: Page) => Promise<Row[]>,
  work: (due: Row) => Promise<void>,
): Promise<void> {
  const at = now();
  for (let after = ''; ;) {
    const due: Row[] = await transaction((tx) => list(tx, { now: at, after, limit: pageSize }));
    for (const row of due) await work(row);
    const last = due.at(-1);
    if (last === undefined || due.length < pageSize) return;
    after = last.id;
  }
}

type Claim<Row> = (tx: Tx, claim: { now: Date; leaseUntil: Date; limit: number }) => Promise<Row[]>;

async function eachClaimed<Row>(
  { transaction, now }: CycleDeps,
  claim: Claim<Row>,
  work: (row: Row) => Promise<void>,
): Promise<void> {
  for (;;) {
    const at = now();
    const leaseUntil = new Date(at.getTime() + leaseMs);
    const claimed = await transaction((tx) => claim(tx, { now: at, leaseUntil, limit: claimedAtOnce }));
    for (const row of claimed) await work(row);
    if (claimed.length < claimedAtOnce) return;
  }
}
