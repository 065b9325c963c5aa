import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, CreditGrantId, Currency, Instant, InvoiceId, SubscriptionId } from '../scalars.ts';
import { MinorUnits, SignedMinorUnits } from './amounts.ts';
import { TenantPath } from './billing-path.ts';
import { CreditGrantKind, InvoiceSummary } from './invoices.ts';
import { BillingPlanId, PlanVersionNumber } from './plan-terms.ts';
import { PlanVersion } from './plan-version.ts';
import { SubscriptionStatus } from './subscriptions.ts';
import { BillingPeriod } from './usage.ts';

export const listBillingPlans = defineRoute({
  operation: 'list-billing-plans',
  summary: 'List the offered plans, each at its latest version.',
  method: 'GET',
  path: '/api/billing/plans',
  auth: 'session',
  forward: {},
  reply: z.strictObject({ data: z.array(PlanVersion) }),
});

export const Subscription = z.strictObject({
  subscription_id: SubscriptionId,
  plan_id: BillingPlanId,
  plan_version: PlanVersionNumber,
  status: SubscriptionStatus,
  /** The monthly period in progress. */
  period: BillingPeriod,
  /** `null` without a trial. */
  trial_ends_at: Instant.nullable(),
  /** `null` when no payment failed. */
  past_due_since: Instant.nullable(),
  created_at: Instant,
});
export type Subscription = z.infer<typeof Subscription>;

export const CreditGrant = z.strictObject({
  credit_grant_id: CreditGrantId,
  kind: CreditGrantKind,
  currency: Currency,
  amount_minor: MinorUnits,
  remaining_minor: MinorUnits,
  reason: z.string(),
  /** `null` when the grant does not expire. */
  expires_at: Instant.nullable(),
  created_at: Instant,
});
export type CreditGrant = z.infer<typeof CreditGrant>;

const BillingBudget = z.strictObject({ amount_minor: AmountMinor.min(1), currency: Currency });

/** The account page shows this many open invoices and credit grants. The invoice list shows all invoices. */
export const accountRowsMax = 100;

export const getBillingAccount = defineRoute({
  operation: 'get-billing-account',
  summary: 'Get the subscription, balances, open invoices, credits and budget of an organisation.',
  method: 'GET',
  path: '/api/billing/tenants/{tenant_id}',
  auth: 'session',
  forward: {},
  params: z.strictObject(TenantPath),
  reply: z.strictObject({
    org_id: OrgId,
    /** `null` when the organisation has no subscription, or only canceled ones. */
    subscription: Subscription.nullable(),
    /** Ledger balances by currency. */
    balances: z.array(
      z.strictObject({
        currency: Currency,
        /** Amount that the organisation owes. */
        receivable_minor: SignedMinorUnits,
        /** Credits that are left. */
        credits_minor: SignedMinorUnits,
      }),
    ),
    /** The oldest first. */
    open_invoices: z.array(InvoiceSummary).max(accountRowsMax),
    /** Grants with a remaining amount that have not expired. */
    credits: z.array(CreditGrant).max(accountRowsMax),
    /** `null` when no budget is set. */
    budget: BillingBudget.nullable(),
  }),
  errors: ['NOT_FOUND'],
});

export const putSubscription = defineRoute({
  operation: 'put-subscription',
  summary:
    'Subscribe to an offered plan, change the plan immediately, or cancel with `plan: null`. Time used on the old ' +
    'plan is invoiced.',
  method: 'PUT',
  idempotency: { exempt: 'repeatable' },
  path: '/api/billing/tenants/{tenant_id}/subscription',
  auth: 'session',
  needsPresence: true,
  forward: {},
  params: z.strictObject(TenantPath),
  body: z.strictObject({
    /** `null` cancels the subscription. */
    plan: z.strictObject({ plan_id: BillingPlanId, plan_version: PlanVersionNumber }).nullable(),
  }),
  reply: z.strictObject({
    /** `null` after the cancellation. */
    subscription: Subscription.nullable(),
    /** The draft invoice for the time on the old plan. `null` when there was nothing to invoice. */
    invoice_id: InvoiceId.nullable(),
  }),
  errors: ['NOT_FOUND', 'GATE_NOT_PASSED'],
});

export const putBudget = defineRoute({
  operation: 'put-billing-budget',
  summary: 'Set the monthly amount for spend alerts. Alerts are sent at 75, 90 and 100 percent.',
  method: 'PUT',
  idempotency: { exempt: 'repeatable' },
  path: '/api/billing/tenants/{tenant_id}/budgets',
  auth: 'session',
  needsPresence: true,
  forward: {},
  params: z.strictObject(TenantPath),
  body: BillingBudget,
  reply: z.strictObject({
    ...BillingBudget.shape,
    /** Alert percentages that the current period reached since the last check. This request sent their alerts. */
    reached_percent: z.array(z.union([z.literal(75), z.literal(90), z.literal(100)])),
  }),
  errors: ['NOT_FOUND'],
});
