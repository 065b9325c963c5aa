import { describe, expect, it } from '@jest/globals';
import { gateOrder, type GateName } from '@countersign/contracts';
import { decide, gates, wiredGates } from '../src/index.ts';
import type { Facts, RuleEvaluator } from '../src/index.ts';
import { allowing, asking, grant, intent, unavailable } from './gate-situations.ts';
import { budgetOf, factsFor, grantFor, identityOf, knownFact, policyOf, signedPolicy, toolOf } from './situation.ts';

type Judged = { facts?: Partial<Facts>; policy?: typeof allowing | null; evaluate?: RuleEvaluator };

function decided({ facts = {}, policy = allowing, evaluate }: Judged) {
  return decide(policy, intent, { ...factsFor(policy), ...facts }, evaluate);
}

describe('the reason of a denial', () => {
  const notThere = (gate: GateName) => `The facts of the gate "${gate}" are not available.`;
  const factOf: Partial<Record<GateName, keyof Facts>> = { arguments: 'registry', rules: 'block', budget: 'budgets' };

  it.each(gateOrder.filter((gate) => gate !== 'arguments'))('states that facts are not available: %s', (gate) => {
    expect(decided({ facts: { [factOf[gate] ?? gate]: unavailable } }).reason).toBe(notThere(gate));
  });

  it('states that the schema of the arguments is not available', () => {
    const input = { policy: allowing, intent, evaluate: () => never, validateArguments: () => null, asks: [] };
    const facts = factsFor(allowing, { registry: unavailable });
    expect(gates.arguments({ ...input, facts })).toMatchObject({ reason: notThere('arguments') });
  });

  const server = (state: string) => ({ registry: knownFact({ server_id: 's', state, tool: toolOf({}) }) }) as never;
  const tool = (changes: object) => ({
    registry: knownFact({ server_id: 's', state: 'approved', tool: toolOf(changes) }),
  });

  it.each<[string, Judged]>([
    ['No policy bundle is active.', { facts: { policy: knownFact(null) } }],
    ['No policy bundle is active.', { policy: null, facts: { policy: knownFact({ ...signedPolicy, hash: 'x' }) } }],
    ['The approval of the MCP server has expired.', { facts: server('expired') }],
    ['The MCP server was revoked.', { facts: server('revoked') }],
    [notThere('registry'), { facts: server('a state of tomorrow') }],
    ['The tool has no approved pin.', { facts: tool({ pinned_hash: null }) as never }],
    [
      'The request exceeds its sandbox grant: net, disk.',
      { facts: { sandbox: knownFact({ grant_hash: 'x', required: true, overgrants: ['net', 'disk'] }) } },
    ],
    ['The token lacks the scope a b.', { facts: { scopes: knownFact({ required: ['a', 'b'], granted: ['c'] }) } }],
    ['The approval was refused or withdrawn.', { policy: asking, facts: grant({ state: 'denied' }) }],
    [notThere('approval'), { policy: asking, facts: grant({ state: 'a state of tomorrow' }) }],
    [notThere('rules'), { evaluate: () => never }],
    [
      notThere('rules'),
      {
        evaluate: () => {
          throw new Error('it is broken');
        },
      },
    ],
    [notThere('rules'), { evaluate: () => ({ kind: 'allow', rules: ['nobody'], reason: 'r' }) }],
  ])('names the cause: %s', (reason, judged) => {
    expect(decided(judged).reason).toBe(reason);
  });

  /** A value that no evaluator may return. */
  const never = null as never;
});

describe('several approval requests', () => {
  const aboveThreshold = knownFact([budgetOf({ approval_required_above_minor: 0 })]);

  it('are satisfied by an approval that satisfies each of them', () => {
    const facts = { budgets: aboveThreshold, ...grant({}) };
    const { trace, verdict, matched_rules } = decided({ policy: asking, facts });
    expect([verdict, matched_rules]).toEqual(['ALLOW', ['ask']]);
    expect(trace.at(-1)?.detail).toBe('satisfies APPROVAL_REQUIRED, BUDGET_APPROVAL_REQUIRED');
    // One vote is enough for the budget, but not for the rule.
    expect(decided({ policy: asking, facts: { ...facts, ...grant({ approved_by: ['alice'] }) } }).verdict).toBe(
      'ESCALATE',
    );
  });

  it('are absent from the decision on a quarantined server', () => {
    const registry = knownFact({ server_id: 's', state: 'quarantined' as const, tool: toolOf({}) });
    const decision = decided({ facts: { registry } });
    expect(decision.verdict).toBe('ESCALATE');
    expect(Object.keys(decision)).not.toContain('approval_request');
  });

  it('cause a denial if they exclude each other', () => {
    const ask = (approver: string) => ({
      ...{ code: 'APPROVAL_REQUIRED' as const, reason: 'r' },
      approval: { quorum: 1, approvers: [approver], timeout: 60, scope: 'once' as const },
    });
    const input = { policy: allowing, intent, evaluate: () => null as never, validateArguments: () => null };
    expect(gates.approval({ ...input, facts: factsFor(allowing), asks: [ask('ann'), ask('bob')] })).toEqual({
      ...{ outcome: 'deny', code: 'APPROVAL_REJECTED' },
      reason: 'The rules and budgets ask for approvals that exclude each other.',
    });
  });

  it('name no rule if only a budget requests an approval', () => {
    expect(decided({ facts: { budgets: aboveThreshold } })).toMatchObject({
      verdict: 'ESCALATE',
      matched_rules: ['allow'],
    });
  });
});

describe('the limits of a gate', () => {
  it('include the permitted clock skew', () => {
    const ahead = (age_ms: number) =>
      decided({
        facts: {
          relationship: knownFact({ snapshot_hash: 'x', age_ms, age_max_ms: 1_000, relations: {}, required: [] }),
        },
      }).reason_code;
    expect([-60_000, -60_001, 1_000, 1_001].map(ahead)).toEqual([
      ...['ALLOWED', 'AUTHZ_SNAPSHOT_STALE', 'ALLOWED', 'AUTHZ_SNAPSHOT_STALE'],
    ]);
  });

  it('refuse a negative demand, even if calls are unlimited', () => {
    const budgets = knownFact([budgetOf({ tool_calls_remaining: null })]);
    const demand = { tool_calls: -1, spend_micros: 0n, egress_bytes: 0, writes: 0 };
    expect(decided({ facts: { budgets, demand } }).reason_code).toBe('BUDGET_EXCEEDED');
  });

  it('include the quarantine of an organisation', () => {
    const fence = { scope: 'org', level: 'org', kind: 'quarantine', epoch: 1, reason: 'test', calls_remaining: null };
    expect(decided({ facts: { fence: knownFact([fence] as never) } }).reason_code).toBe('TENANT_QUARANTINED');
  });

  it.each([
    ['access_key', 'ALLOWED'],
    ['assertion', 'ALLOWED'],
    ['agent_token', 'ALLOWED'],
    ['oauth_token', 'ALLOWED'],
    ['none', 'CREDENTIALS_MISSING'],
    ['operator_key', 'CREDENTIALS_MISSING'],
  ])('depend on the credential that proves an identity: %s', (credential, code) => {
    const proven = policyOf([{ id: 'r', effect: 'allow' }]);
    const demanding = { ...proven, bundle: { ...proven.bundle, identity: ['proven'] } } as typeof proven;
    const identity = knownFact(identityOf({ credential } as never));
    expect(decided({ policy: demanding, facts: { identity } }).reason_code).toBe(code);
  });

  it('exclude an approval without a policy hash', () => {
    expect(decided({ policy: asking, facts: grant({ policy_hash: null }) }).reason_code).toBe('APPROVAL_MISMATCH');
    const under = knownFact(grantFor(asking, intent));
    expect(decided({ policy: asking, facts: { approval: under } }).verdict).toBe('ALLOW');
  });

  it('cover all gates, in order', () => {
    expect(wiredGates()).toEqual(gateOrder);
  });
});
