import { Instant, UserId, type InvoiceId } from '@countersign/contracts';
import { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import { monthlyPeriod } from '../src/billing/period.ts';
import { runBilling } from '../src/cycle/run-billing.ts';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';
import { FakeStripe, stripeKeys } from './_stripe.ts';

export const operator = UserId.parse(`usr_${'0'.repeat(26)}`);
export const team = { plan_id: BillingPlanId.parse('team'), plan_version: 1 };
export const manualSecret = 'secret-of-an-accounting-system-under-test';
const begin = new Date('2027-01-01T00:00:00.000Z');
const owners = Array.from('ABCDEFGHJKMNPQRSTVWX', (mark) => mark.repeat(26));

export type Paying = {
  site: CommercialSite;
  stripe: FakeStripe;
  /** Creates an organisation with its administrator for one test. */
  newOrg(): Payer;
  now(): Date;
  moveTo(time: Date): void;
  /** Runs one pass of the billing worker. Returns whether every step succeeded. */
  pass(): Promise<boolean>;
  /** Delivers an event to the webhook. Returns its status and whether it was applied. */
  deliver(event: { body: string; header: string }, provider?: string): Promise<{ status: number; applied?: boolean }>;
  stop(): Promise<void>;
};

export type Payer = {
  orgId: OrgId;
  client(): Promise<CommercialClient>;
  params: { tenant_id: OrgId };
};

/** Starts a commercial gateway that charges with a fake of Stripe, or only by transfer. */
export async function startPaying({ hasStripe = true } = {}): Promise<Paying> {
  const stripe = new FakeStripe();
  const apiUrl = await stripe.listen();
  let now = begin;
  const env = {
    ...{ GOV_BASE_PLAN: 'free', GOV_INSTALLATION_ADMINS: operator, GOV_BILLING_WEBHOOK_SECRET: manualSecret },
    ...(hasStripe && {
      ...{ GOV_STRIPE_SECRET_KEY: stripeKeys.secretKey, GOV_STRIPE_WEBHOOK_SECRET: stripeKeys.webhookSecret },
      ...{ GOV_STRIPE_API_URL: apiUrl, GOV_BILLING_RETURN_URL: 'https://console.test/billing' },
    }),
  };
  const created_at = Instant.parse('2026-11-01T00:00:00.000Z');
  const orgs = owners.map((mark) => ({
    ...{ org_id: OrgId.parse(`org_${mark}`), name: 'Org', admin_id: UserId.parse(`usr_${mark}`), created_at },
  }));
  const before: NonNullable<Parameters<typeof startCommercialSite>[0]>['before'] = (directory) =>
    void directory.orgs.push(...orgs);
  const site = await startCommercialSite({ env, now: () => now, before });
  const { context } = site.gateway;
  const last = orgs.at(-1)?.org_id ?? OrgId.parse(`org_${'0'.repeat(26)}`);
  await until(async () => (await findOrg(context.database.reader, last)) !== null);
  return {
    ...{ site, stripe, now: () => now, moveTo: (time) => void (now = time) },
    newOrg: () => {
      const org = orgs.shift();
      if (org === undefined) throw new Error('All organisations of the directory are in use');
      const { org_id: orgId, admin_id } = org;
      return { orgId, params: { tenant_id: orgId }, client: () => site.as(admin_id) };
    },
    pass: () =>
      runBilling({ ...context, taxPercent: '19' }).then(
        () => true,
        () => false,
      ),
    deliver: async ({ body, header }, provider = 'stripe') => {
      const name = provider === 'stripe' ? 'stripe-signature' : 'countersign-signature';
      const headers = { 'content-type': 'application/json', [name]: header };
      const url = new URL(`/api/billing/webhooks/${provider}`, site.gateway.url);
      const response = await fetch(url, { method: 'POST', headers, body });
      const answer = (await response.json()) as { applied?: boolean }; // the answer of the route, or an error
      return { status: response.status, ...(answer.applied === undefined ? {} : { applied: answer.applied }) };
    },
    stop: async () => {
      await site.stop();
      await stripe.close();
    },
  };
}

/** Subscribes with a checkout that the payer completes with this payment method. */
export async function subscribeWith({ stripe, deliver, now }: Paying, payer: Payer, method: string): Promise<void> {
  const client = await payer.client();
  await client.startCheckout({ params: payer.params, body: { purpose: 'subscription', plan: team } });
  const session = stripe.finishCheckout(lastSession(stripe), method);
  await deliver(stripe.event('checkout.session.completed', session, { now: now() }));
}

export function lastSession({ sessions }: FakeStripe): string {
  return [...sessions.keys()].at(-1) ?? '';
}

/** Moves the clock to the end of the current period of an organisation. */
export async function endPeriod({ site, moveTo, now }: Paying, { orgId }: Payer): Promise<void> {
  const where = { orgId, NOT: { status: 'canceled' } };
  const { anchorAt, periodIndex } = await site.gateway.context.database.reader.subscription.findFirstOrThrow({ where });
  const { end } = monthlyPeriod(anchorAt, periodIndex);
  if (end > now()) moveTo(end);
}

/** Moves the clock past the lease of a failed step. */
export function endLease({ moveTo, now }: Paying): void {
  moveTo(new Date(now().getTime() + 301_000));
}

export function addDays({ moveTo, now }: Paying, days: number): void {
  moveTo(new Date(now().getTime() + days * 86_400_000));
}

/** Returns the state of an organisation that a payment can change. */
export async function stateOf({ site }: Paying, { orgId }: Payer) {
  const { reader } = site.gateway.context.database;
  const where = { orgId };
  const invoices = await reader.invoice.findMany({ where, orderBy: { id: 'asc' } });
  const entries = await reader.ledgerEntry.findMany({
    where,
    orderBy: [{ transactionId: 'asc' }, { position: 'asc' }],
  });
  const subscription = await reader.subscription.findFirst({ where, orderBy: { id: 'desc' } });
  return {
    invoices: invoices.map(({ status, paidMinor, creditedMinor, refundedMinor }) => ({
      ...{ status, paidMinor, creditedMinor, refundedMinor },
    })),
    status: subscription?.status ?? null,
    cashMinor: entries.reduce((sum, { account, amountMinor }) => sum + (account === 'cash' ? amountMinor : 0n), 0n),
    sumMinor: entries.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    entries: entries.length,
    audit: await reader.auditEntry.count({ where: { scope: orgId } }),
  };
}

export async function lastInvoiceId({ site }: Paying, { orgId }: Payer): Promise<InvoiceId> {
  const { reader } = site.gateway.context.database;
  const { id } = await reader.invoice.findFirstOrThrow({ where: { orgId }, orderBy: { id: 'desc' } });
  return id as InvoiceId; // the ID of an invoice
}

/** Returns the limits of concurrent runs in the entitlement events of an organisation, in order. */
export async function announcedRuns({ site }: Paying, { orgId }: Payer): Promise<unknown[]> {
  const { reader } = site.gateway.context.database;
  const rows = await reader.outboxMessage.findMany({ orderBy: { position: 'asc' } });
  const events = rows.map(
    ({ envelope }) => JSON.parse(envelope) as { type: string; data: { org_id?: string; limits: unknown } },
  );
  const own = events.filter(({ type, data }) => type === 'entitlement.changed.v1' && data.org_id === orgId);
  return own.map(({ data }) => (data.limits as { concurrent_runs: number }).concurrent_runs);
}
