import { getConsoleWorkspace } from '@countersign/contracts/control-plane';
import {
  getBillingAccount,
  getEntitlements,
  getUsage,
  listAdministeredOrgs,
  listBillingPlans,
} from '@countersign/contracts/commercial-gateway';
import { at, userId, workspaceId } from './_dom.tsx';
import type { ScriptedPeer } from './_scripted-peer.ts';

const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
export const orgId = 'org-lighthouse';
export const otherWorkspaceId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAW';
export const invoiceId = `ivc_${ulid}`;
export const receiptId = `rcp_${ulid}`;
const [start, end] = ['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'];

/** The workspace belongs to an organisation, unless `org` is `null`. */
export function answersOrg(peer: ScriptedPeer, org: string | null = orgId): void {
  const members = [{ user_id: userId, name: 'Ada', email: 'ada@example.org', role: 'owner', joined_at: at }];
  const workspace = { workspace_id: workspaceId, name: 'Vault', org_id: org, role: 'owner', created_at: at };
  peer.answers(getConsoleWorkspace, { ...workspace, members, public_proof: 'published' });
}

export const capabilities = ['sso', 'scim', 'notifications', 'compliance'];
const noLimit = { limit: null, used: null, remaining: null, resets_at: null };
const limitsOf = (terms: Record<string, object> = {}) => ({
  ...{ tool_calls: noLimit, concurrent_runs: noLimit, workspaces: noLimit, members: noLimit, connectors: noLimit },
  ...{ shadow_lanes: noLimit, retention_days: noLimit },
  ...terms,
});

export const selfHosted = {
  plan_id: 'self_hosted',
  version: 1,
  name: 'Self-hosted',
  currency: null,
  base_minor: 0,
  meters: [],
  limits: {},
  capabilities,
};
export const team = {
  ...selfHosted,
  ...{ plan_id: 'team', name: 'Team', currency: 'EUR', base_minor: 4_900, capabilities: ['notifications'] },
  meters: [
    { meter: 'tool_calls', included: 150_000, tiers: [{ up_to: null, unit_amount_decimal: '0.04' }] },
    { meter: 'seats', included: 5, tiers: [{ up_to: null, unit_amount_decimal: '900' }] },
  ],
};

export const invoice = {
  invoice_id: invoiceId,
  subscription_id: `sub_${ulid}`,
  kind: 'period',
  number: 7,
  status: 'open',
  currency: 'EUR',
  plan_id: 'team',
  plan_version: 1,
  period: { start: '2026-10-01T00:00:00.000Z', end: start },
  subtotal_minor: '5300',
  tax_minor: '0',
  total_minor: '5300',
  credited_minor: '300',
  paid_minor: '0',
  refunded_minor: '0',
  created_at: at,
  finalized_at: at,
  closed_at: null,
};

/** A self-hosted organisation, which has nothing to pay. */
export function answersSelfHosted(peer: ScriptedPeer): void {
  const meters = [{ meter: 'tool_calls', quantity: '41', included: '0', tiers: [], amount_minor: '0' }];
  answersOrg(peer);
  peer.refuses(listAdministeredOrgs, 'PERMISSION_DENIED');
  peer.answers(getBillingAccount, {
    ...{ org_id: orgId, subscription: null, balances: [], open_invoices: [], credits: [], budget: null },
  });
  peer.answers(getUsage, { period: { start, end }, currency: null, meters, usage_minor: '0', previous: [] });
  peer.answers(getEntitlements, {
    ...{ plan_id: 'self_hosted', source: 'plan', limits: limitsOf(), capabilities, valid_until: null },
  });
  peer.answers(listBillingPlans, { data: [selfHosted, team] });
}

/** An organisation with a plan, an unpaid invoice, credit, and use near its limit. */
export function answersTeam(peer: ScriptedPeer, status = 'past_due'): void {
  answersSelfHosted(peer);
  peer.answers(getBillingAccount, {
    org_id: orgId,
    subscription: {
      ...{ subscription_id: `sub_${ulid}`, plan_id: 'team', plan_version: 1, status, period: { start, end } },
      ...{ trial_ends_at: null, past_due_since: status === 'past_due' ? at : null, created_at: at },
    },
    // This amount is larger than a double can represent exactly.
    balances: [{ currency: 'EUR', receivable_minor: '9007199254740993', credits_minor: '6000' }],
    open_invoices: [invoice],
    credits: [],
    budget: { amount_minor: 25_000, currency: 'EUR' },
  });
  const meters = [{ meter: 'tool_calls', quantity: '138204', included: '138204', tiers: [], amount_minor: '0' }];
  peer.answers(getUsage, { period: { start, end }, currency: 'EUR', meters, usage_minor: '0', previous: [] });
  const limits = limitsOf({
    workspaces: { limit: 10, used: 4, remaining: 6, resets_at: null },
    members: { limit: 15, used: null, remaining: null, resets_at: null },
  });
  peer.answers(getEntitlements, {
    ...{ plan_id: 'team', source: 'plan', limits, capabilities: ['notifications'], valid_until: null },
  });
}
