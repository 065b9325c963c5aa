import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { parsePolicyBundle } from '@countersign/policy';

/**
 * The tenant in which visitors try the boundary. It has its own chains, and its receipts are in the same log as all
 * others.
 */
export const demoTenant = 'demo';

/** The rules for a support agent of a small shop. Its tests run each time that it is compiled. */
export const demoPolicy: PolicyBundle = parsePolicyBundle(`
format: countersign/policy.v1
name: demo
version: '1'
rules:
  - id: support-work
    effect: allow
    match: { action: [tool.call], tool: [tickets.read, replies.draft] }
  - id: small-refunds
    effect: allow
    match: { action: [tool.call], tool: [payments.refund] }
    when: args.amount_minor >= 0.0 && args.amount_minor <= 5000.0
    reason: Refunds up to 50.00 need no approval.
  - id: large-refunds
    effect: escalate
    match: { action: [tool.call], tool: [payments.refund] }
    when: args.amount_minor > 5000.0
    reason: Refunds above 50.00 need a person.
  - id: policy-changes
    effect: escalate
    match: { action: [policy.change] }
    reason: A person confirms every change of the rules.
  - id: no-shell
    effect: deny
    match: { tool: [shell.*] }
    reason: Agents have no shell.
  - id: no-mass-export
    effect: deny
    match: { action: [data.egress] }
    reason: Customer lists do not leave.
tools:
  tickets.read: { effect_level: E1 }
  replies.draft: { effect_level: E2 }
  payments.refund: { effect_level: E4 }
  customers.export: { effect_level: E3 }
  shell.run: { effect_level: E4 }
tests:
  - name: a small refund passes
    intent: { action: tool.call, tool: payments.refund, args: { amount_minor: 2500 } }
    expect: { verdict: ALLOW }
  - name: a large refund waits
    intent: { action: tool.call, tool: payments.refund, args: { amount_minor: 250000 } }
    expect: { verdict: ESCALATE }
  - name: a refund without an amount does not pass
    intent: { action: tool.call, tool: payments.refund }
    expect: { verdict: DENY }
`);
