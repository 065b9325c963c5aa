import type {
  EntitlementSource,
  InvoiceStatus,
  LedgerTransactionKind,
  LimitName,
  Meter,
  PlanCapability,
  SubscriptionStatus,
} from '@countersign/contracts/commercial-gateway';
import type { Tone } from '../parts/mark.tsx';

type State = { says: string; tone: Tone };

export const meterWords: Readonly<Record<Meter, string>> = {
  decisions: 'Decisions',
  tool_calls: 'Tool calls',
  model_tokens: 'Model tokens',
  run_minutes: 'Run minutes',
  storage_gb_days: 'Storage in GB-days',
  seats: 'Seats',
};

export const limitWords: Readonly<Record<LimitName, string>> = {
  tool_calls: 'Tool calls a month',
  concurrent_runs: 'Concurrent runs',
  workspaces: 'Workspaces',
  members: 'Members',
  connectors: 'Connectors',
  shadow_lanes: 'Shadow drafts',
  retention_days: 'Days of retention',
};

export const capabilityWords: Readonly<Record<PlanCapability, string>> = {
  sso: 'Single sign-on',
  scim: 'SCIM provisioning',
  notifications: 'Notifications',
  compliance: 'Compliance reports',
};

export const sourceWords: Readonly<Record<EntitlementSource, string>> = {
  plan: 'The plan of the organisation',
  trial: 'A trial',
  licence: 'A licence',
  override: 'The plan, with an exception by an installation administrator',
};

/** States of a subscription, each with the next step. */
export const subscriptionWords: Readonly<Record<SubscriptionStatus, State & { next: string }>> = {
  incomplete: { says: 'Incomplete', tone: 'wait', next: 'Finish the checkout. Until then nothing is charged.' },
  trialing: {
    says: 'Trial',
    tone: 'live',
    next: 'Choose a plan before the trial ends. Nothing is deleted at its end.',
  },
  active: { says: 'Active', tone: 'good', next: 'Nothing to do. The invoice follows at the end of the period.' },
  past_due: { says: 'Past due', tone: 'wait', next: 'Pay the open invoice. After 14 days no new runs start.' },
  unpaid: { says: 'Unpaid', tone: 'bad', next: 'Pay the open invoice. Until then no new runs start.' },
  canceled: { says: 'Canceled', tone: 'plain', next: 'Choose a plan to subscribe again.' },
};

export const invoiceWords: Readonly<Record<InvoiceStatus, State>> = {
  draft: { says: 'Draft', tone: 'plain' },
  open: { says: 'Open', tone: 'wait' },
  paid: { says: 'Paid', tone: 'good' },
  void: { says: 'Void', tone: 'plain' },
  uncollectible: { says: 'Uncollectible', tone: 'bad' },
};

export const ledgerWords: Readonly<Record<LedgerTransactionKind, string>> = {
  charge: 'Charge',
  payment: 'Payment',
  refund: 'Refund',
  credit_grant: 'Credit granted',
  credit_application: 'Credit used',
  credit_expiry: 'Credit expired',
  write_off: 'Written off',
  reversal: 'Reversal',
};

/** A label inside a sentence: its first letter is lower case. */
export function inSentence(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1);
}
