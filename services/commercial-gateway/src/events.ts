import { Instant, type EventOf } from '@countersign/contracts';
import {
  budgetReached,
  creditGrantUpdated,
  entitlementChanged,
  identityUpdated,
  invoiceUpdated,
  orgSettingsUpdated,
  personAccessEnded,
  personProvisioned,
  subscriptionUpdated,
  type Entitlements,
  type IdentitySettings,
  type OrgSettings,
} from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { recordEventsIn, type NewEvent } from '@countersign/messaging';
import type { BudgetAlert } from './store/budgets.ts';
import type { StoredCreditGrant } from './store/credit-grants.ts';
import type { Tx } from './store/database.ts';
import type { StoredInvoice } from './store/invoices.ts';
import type { StoredSubscription } from './store/subscriptions.ts';

/* Events of the commercial gateway. Each event is written in the same transaction as its change. */

type EventDeps = { newEvent: NewEvent };

export async function publishInvoiceUpdated(
  tx: Tx,
  { newEvent }: EventDeps,
  { invoice, from }: { invoice: StoredInvoice; from: EventOf<typeof invoiceUpdated>['data']['from'] },
): Promise<void> {
  const data = {
    org_id: invoice.orgId,
    invoice_id: invoice.id,
    from,
    status: invoice.status,
    currency: invoice.currency,
    total_minor: String(invoice.totalMinor),
    credited_minor: String(invoice.creditedMinor),
    paid_minor: String(invoice.paidMinor),
    refunded_minor: String(invoice.refundedMinor),
  };
  await recordEventsIn(tx, [newEvent(invoiceUpdated, data, { subject: invoice.id })]);
}

export async function publishCreditGrantUpdated(
  tx: Tx,
  { newEvent }: EventDeps,
  grant: StoredCreditGrant,
): Promise<void> {
  const data = {
    org_id: grant.orgId,
    credit_grant_id: grant.id,
    kind: grant.kind,
    currency: grant.currency,
    amount_minor: String(grant.amountMinor),
    remaining_minor: String(grant.remainingMinor),
  };
  await recordEventsIn(tx, [newEvent(creditGrantUpdated, data, { subject: grant.id })]);
}

export async function publishSubscriptionUpdated(
  tx: Tx,
  { newEvent }: EventDeps,
  { subscription, from }: { subscription: StoredSubscription; from: StoredSubscription['status'] | null },
): Promise<void> {
  const data = {
    org_id: subscription.orgId,
    subscription_id: subscription.id,
    from,
    status: subscription.status,
    plan_id: subscription.planId,
    plan_version: subscription.planVersion,
  };
  await recordEventsIn(tx, [newEvent(subscriptionUpdated, data, { subject: subscription.id })]);
}

export async function publishBudgetReached(tx: Tx, { newEvent }: EventDeps, alert: BudgetAlert): Promise<void> {
  const data = {
    org_id: alert.orgId,
    period_start: Instant.parse(alert.periodStart.toISOString()),
    threshold_percent: alert.thresholdPercent,
    currency: alert.currency,
    budget_minor: String(alert.budgetMinor),
    amount_minor: String(alert.amountMinor),
  };
  await recordEventsIn(tx, [newEvent(budgetReached, data, { subject: alert.orgId })]);
}

/** The cause of a change of the entitlements. */
export type EntitlementCause = EventOf<typeof entitlementChanged>['data']['cause'];

type ChangedEntitlements = {
  orgId: OrgId;
  cause: EntitlementCause;
  entitlements: Entitlements;
};

export async function publishEntitlementChanged(
  tx: Tx,
  { newEvent }: EventDeps,
  { orgId, cause, entitlements }: ChangedEntitlements,
): Promise<void> {
  const { plan_id, source, capabilities, valid_until, limits } = entitlements;
  const limitOf = (name: keyof typeof limits) => limits[name].limit;
  const data = {
    ...{ org_id: orgId, cause, plan_id, source, capabilities, valid_until },
    limits: {
      tool_calls: limitOf('tool_calls'),
      concurrent_runs: limitOf('concurrent_runs'),
      workspaces: limitOf('workspaces'),
      members: limitOf('members'),
      connectors: limitOf('connectors'),
      shadow_lanes: limitOf('shadow_lanes'),
      retention_days: limitOf('retention_days'),
    },
  };
  await recordEventsIn(tx, [newEvent(entitlementChanged, data, { subject: orgId })]);
}

export async function publishIdentityUpdated(
  tx: Tx,
  { newEvent }: EventDeps,
  { domains, scim_tokens: _, ...settings }: IdentitySettings,
): Promise<void> {
  const verified_domains = domains.filter(({ status }) => status === 'verified').map(({ domain }) => domain);
  const data = { ...settings, verified_domains };
  await recordEventsIn(tx, [newEvent(identityUpdated, data, { subject: settings.org_id })]);
}

export async function publishOrgSettingsUpdated(
  tx: Tx,
  { newEvent }: EventDeps,
  { orgId, settings: { suspension, override } }: { orgId: OrgId; settings: OrgSettings },
): Promise<void> {
  const data = {
    org_id: orgId,
    is_suspended: suspension !== null,
    override_expires_at: override?.expires_at ?? null,
  };
  await recordEventsIn(tx, [newEvent(orgSettingsUpdated, data, { subject: orgId })]);
}

/**
 * The end of an access is published twice, as an end and as a state. A gateway of an older version has no separate
 * queue for ends, and receives only the states.
 */
export async function publishPeople(
  tx: Tx,
  { newEvent }: EventDeps,
  people: readonly { state: PersonState; endsAccess: boolean }[],
): Promise<void> {
  const ends = people
    .filter(({ endsAccess }) => endsAccess)
    .map(({ state }) => newEvent(personAccessEnded, state, { subject: state.scim_user_id }));
  const states = people.map(({ state }) => newEvent(personProvisioned, state, { subject: state.scim_user_id }));
  await recordEventsIn(tx, [...ends, ...states]);
}

type PersonState = EventOf<typeof personProvisioned>['data'];
