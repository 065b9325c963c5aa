import { describe, expect, it } from '@jest/globals';
import { gateOrder, reasonCodes } from '@countersign/contracts';
import type { ReasonCode } from '@countersign/contracts';
import { decide } from '../src/index.ts';
import type { Facts, FenceInForce, Intent, RuleEvaluator } from '../src/index.ts';
import {
  frozenNow,
  budgetOf,
  factsFor,
  grantFor,
  intentOf,
  known,
  policyOf,
  signedPolicy,
  toolOf,
} from './situation.ts';

const allowing = policyOf([{ id: 'allow', effect: 'allow' }]);
const asking = policyOf([{ id: 'ask', effect: 'escalate', approval: { quorum: 2 } }]);
const askingCarol = policyOf([{ id: 'ask', effect: 'escalate', approval: { approvers: ['carol'] } }]);
const intent = intentOf();
const fenced = (level: FenceInForce['level'], kind: string, calls_remaining: number | null = null) =>
  ({ scope: level, level, kind, epoch: 1, reason: 'test', calls_remaining }) satisfies FenceInForce;
const activePolicy = { ...signedPolicy, hash: allowing.hash };
const snapshot = { snapshot_hash: 'x', age_ms: 1, age_max_ms: 1000, relations: [], required: [] };
const unavailable = { state: 'unavailable', detail: 'store down' } as const;

type Situation = {
  code: ReasonCode;
  when: string;
  facts?: Partial<Facts>;
  call?: Partial<Intent>;
  policy?: typeof allowing | null;
  evaluate?: RuleEvaluator;
};

function registryIn(state: 'discovered' | 'quarantined' | 'revoked' | 'expired'): Partial<Facts> {
  return { registry: known({ server_id: 's', state, tool: toolOf({}) }) };
}
function toolIs(tool: ReturnType<typeof toolOf> | null): Partial<Facts> {
  return { registry: known({ server_id: 's', state: 'approved', tool }) };
}
function grant(changes: object): Partial<Facts> {
  return { approval: known(grantFor(asking, intent, changes)) };
}

const situations: Situation[] = [
  { code: 'MALFORMED_ARGUMENTS', when: 'the call was not hashed', call: { args_hash: '' } },
  ...(
    [
      ['SYSTEM_FROZEN', fenced('system', 'freeze')],
      ['SYSTEM_FROZEN', fenced('system', 'quarantine')],
      ['SYSTEM_FROZEN', fenced('agent', 'freeze')],
      ['SYSTEM_FROZEN', fenced('agent', 'nobody knows this kind')],
      ['TENANT_QUARANTINED', fenced('tenant', 'quarantine')],
      ['AGENT_QUARANTINED', fenced('agent', 'quarantine')],
      ['TOOL_QUARANTINED', fenced('tool', 'quarantine')],
      ['TOOL_QUARANTINED', fenced('server', 'quarantine')],
      ['THROTTLED', fenced('tenant', 'throttle', 0)],
      ['THROTTLED', fenced('tenant', 'throttle')],
    ] as const
  ).map(([code, fence]) => ({
    code,
    when: `${fence.level} is under ${fence.kind}`,
    facts: { fence: known([fenced('system', 'throttle', 1), fence]) },
  })),
  { code: 'FENCE_UNAVAILABLE', when: 'fences cannot be read', facts: { fence: unavailable } },
  { code: 'POLICY_MISSING', when: 'no bundle is active', facts: { policy: known(null) } },
  { code: 'POLICY_MISSING', when: 'nothing is compiled', policy: null },
  { code: 'POLICY_STALE', when: 'the bundle is too old', facts: { policy: known({ ...activePolicy, age_ms: 1001 }) } },
  {
    code: 'POLICY_STALE',
    when: 'the age is no number',
    facts: { policy: known({ ...activePolicy, age_ms: Number.NaN }) },
  },
  {
    code: 'POLICY_STALE',
    when: 'it is confirmed for a time that has not come',
    facts: { policy: known({ ...activePolicy, age_ms: -60_001 }) },
  },
  {
    code: 'ALLOWED',
    when: 'the clock of whoever confirmed it is a little ahead',
    facts: { policy: known({ ...activePolicy, age_ms: -60_000 }) },
  },
  {
    code: 'POLICY_STALE',
    when: 'something newer is known of it',
    facts: { policy: known({ ...activePolicy, is_newest: false }) },
  },
  {
    code: 'POLICY_SIGNATURE_INVALID',
    when: 'nobody signed how old it is',
    facts: { policy: known({ ...activePolicy, signature_valid: false, age_ms: 1001 }) },
  },
  {
    code: 'POLICY_STALE',
    when: 'another bundle is active',
    facts: { policy: known({ ...activePolicy, hash: asking.hash }) },
  },
  {
    code: 'POLICY_SIGNATURE_INVALID',
    when: 'the signature fails',
    facts: { policy: known({ ...activePolicy, signature_valid: false }) },
  },
  { code: 'CREDENTIALS_MISSING', when: 'nobody is proven', facts: { identity: known({ kind: 'missing' }) } },
  {
    code: 'AGENT_UNKNOWN',
    when: 'the agent is unknown',
    facts: { identity: known({ kind: 'agent', agent_id: 'a', status: 'unknown' }) },
  },
  {
    code: 'AGENT_UNKNOWN',
    when: 'identities are judged not applicable',
    facts: { identity: { state: 'not_applicable' } },
  },
  {
    code: 'AGENT_REVOKED',
    when: 'the agent was revoked',
    facts: { identity: known({ kind: 'agent', agent_id: 'a', status: 'revoked' }) },
  },
  {
    code: 'AUTHZ_SNAPSHOT_STALE',
    when: 'the snapshot is old',
    facts: { relationship: known({ ...snapshot, age_ms: 1001 }) },
  },
  {
    code: 'RELATION_MISSING',
    when: 'a relation is missing',
    facts: { relationship: known({ ...snapshot, required: ['owner@x'] }) },
  },
  { code: 'SERVER_QUARANTINED', when: 'the server is quarantined', facts: registryIn('quarantined') },
  { code: 'SERVER_QUARANTINED', when: 'the server was only discovered', facts: registryIn('discovered') },
  { code: 'SERVER_REVOKED', when: 'the server was revoked', facts: registryIn('revoked') },
  { code: 'SERVER_REVOKED', when: 'its approval expired', facts: registryIn('expired') },
  { code: 'TOOL_UNKNOWN', when: 'the server lists no such tool', facts: toolIs(null) },
  { code: 'SCHEMA_DRIFT', when: 'the definition changed', facts: toolIs(toolOf({ current_hash: 'other' })) },
  { code: 'SCHEMA_DRIFT', when: 'nothing is pinned', facts: toolIs(toolOf({ pinned_hash: null })) },
  { code: 'REGISTRY_UNAVAILABLE', when: 'the registry cannot be read', facts: { registry: unavailable } },
  { code: 'SCHEMA_VIOLATION', when: 'an argument has the wrong type', call: { args: { path: 7 } } },
  {
    code: 'INSUFFICIENT_SCOPE',
    when: 'a scope is missing',
    facts: { scopes: known({ required: ['a', 'b'], granted: ['a'] }) },
  },
  {
    code: 'SANDBOX_OVERGRANT',
    when: 'more is asked than granted',
    facts: { sandbox: known({ grant_hash: 'g', required: true, overgrants: ['network'] }) },
  },
  {
    code: 'SANDBOX_GRANT_MISSING',
    when: 'no grant exists',
    facts: { sandbox: known({ grant_hash: null, required: true, overgrants: [] }) },
  },
  {
    code: 'EGRESS_BLOCKED',
    when: 'the destination is refused',
    facts: { egress: known({ destination: 'x', allowed: false, detail: 'x' }) },
  },
  {
    code: 'DIRECT_UPSTREAM_BYPASS',
    when: 'the call went around',
    facts: { provenance: known({ through_boundary: false }) },
  },
  {
    code: 'POLICY_DENIED',
    when: 'a rule denies',
    policy: policyOf([
      { id: 'no', effect: 'deny' },
      { id: 'yes', effect: 'allow' },
    ]),
  },
  { code: 'NO_MATCHING_RULE', when: 'no rule covers the call', policy: policyOf([]) },
  {
    code: 'POLICY_EVALUATION_ERROR',
    when: 'a rule reads a missing member',
    policy: policyOf([{ id: 'bad', effect: 'allow', when: 'args.nothing == 1' }]),
  },
  {
    code: 'PDP_UNAVAILABLE',
    when: 'the evaluator throws',
    evaluate: () => {
      throw new Error('down');
    },
  },
  {
    code: 'PDP_UNAVAILABLE',
    when: 'the evaluator answers nonsense',
    evaluate: (() => ({ kind: 'allow' })) as unknown as RuleEvaluator,
  },
  {
    code: 'PDP_UNAVAILABLE',
    when: 'the evaluator answers later',
    evaluate: (async () => ({ kind: 'allow', rules: ['x'], reason: '' })) as unknown as RuleEvaluator,
  },
  { code: 'APPROVAL_REQUIRED', when: 'a rule escalates', policy: asking },
  { code: 'APPROVAL_REQUIRED', when: 'the approval is pending', policy: asking, facts: grant({ state: 'pending' }) },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'fewer people approved than the rule asks for',
    policy: asking,
    facts: grant({ approved_by: ['alice', 'alice'] }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'other people approved than the rule names',
    policy: askingCarol,
    facts: { approval: known(grantFor(askingCarol, intent)) },
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the approval may be used more often than the rule allows',
    policy: asking,
    facts: grant({ scope: 'uses:2', uses_remaining: 2 }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the approval lives longer than the rule allows',
    policy: asking,
    facts: grant({ timeout: 901 }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the lifetime of the approval is no number',
    policy: asking,
    facts: grant({ timeout: Number.NaN }),
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'no calls are left',
    facts: { budgets: known([budgetOf({}), budgetOf({ tool_calls_remaining: 0 })]) },
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the demand is negative',
    facts: { demand: { tool_calls: 1, spend_micros: -1n, egress_bytes: 0, writes: 0 } },
  },
  {
    code: 'PRICE_UNKNOWN',
    when: 'a budget limits spend and nobody knows what the call costs at most',
    facts: { demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 0 } },
  },
  {
    code: 'PRICE_UNKNOWN',
    when: 'a budget asks above a spend that nobody knows',
    facts: {
      demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 0 },
      budgets: known([budgetOf({ spend_remaining_micros: null, approval_required_above_minor: 9 })]),
    },
  },
  {
    code: 'POLICY_DENIED',
    when: 'the workspace blocks the tool that a rule allows',
    facts: { block: known({ tool_blocked: true }) },
  },
  { code: 'PDP_UNAVAILABLE', when: 'blocked tools cannot be read', facts: { block: unavailable } },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the budget is exhausted and an approval stands',
    policy: asking,
    facts: { ...grant({}), budgets: known([budgetOf({ spend_remaining_micros: 9_999_999n })]) },
  },
  {
    code: 'BUDGET_APPROVAL_REQUIRED',
    when: 'the spend passes the threshold',
    facts: { budgets: known([budgetOf({ approval_required_above_minor: 9 })]) },
  },
  { code: 'BUDGET_UNAVAILABLE', when: 'budgets cannot be read', facts: { budgets: unavailable } },
  { code: 'APPROVAL_EXPIRED', when: 'the grant is over', policy: asking, facts: grant({ expired: true }) },
  { code: 'APPROVAL_MISMATCH', when: 'the arguments changed', policy: asking, facts: grant({ intent_hash: 'other' }) },
  {
    code: 'APPROVAL_MISMATCH',
    when: 'the same call takes more than was approved',
    policy: asking,
    facts: grant({ judged_hash: 'other' }),
  },
  {
    code: 'APPROVAL_MISMATCH',
    when: 'the policy changed',
    policy: asking,
    facts: grant({ policy_hash: allowing.hash }),
  },
  { code: 'APPROVAL_CONSUMED', when: 'the grant was used', policy: asking, facts: grant({ uses_remaining: 0 }) },
  { code: 'APPROVAL_REJECTED', when: 'the approvers refused', policy: asking, facts: grant({ state: 'denied' }) },
  { code: 'APPROVAL_REJECTED', when: 'the grant was revoked', policy: asking, facts: grant({ state: 'revoked' }) },
  { code: 'ALLOWED', when: 'every gate passes' },
  {
    code: 'ALLOWED',
    when: 'nobody knows what the call costs and no budget counts money',
    facts: {
      demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 0 },
      budgets: known([budgetOf({ spend_remaining_micros: null })]),
    },
  },
  { code: 'ALLOWED', when: 'an approval satisfies the rule', policy: asking, facts: grant({}) },
  {
    code: 'ALLOWED',
    when: 'an approval is narrower than the rule allows',
    policy: asking,
    facts: grant({ timeout: 60 }),
  },
];

describe('gates', () => {
  it.each(situations)('answers $code when $when', ({ code, facts = {}, call = {}, policy = allowing, evaluate }) => {
    const decision = decide(policy, intentOf(call), { ...factsFor(policy), ...facts }, evaluate);
    expect(decision.reason_code).toBe(code);
    expect(decision.verdict).toBe(reasonCodes[code].verdict);
    expect(decision.trace.map(({ gate }) => gate)).toEqual(gateOrder);
  });

  it('covers every reason code', () => {
    const covered = new Set(situations.map(({ code }) => code));
    expect(Object.keys(reasonCodes).filter((code) => !covered.has(code as ReasonCode))).toEqual([]);
  });

  it('names the gates after a denial as not reached', () => {
    const { trace } = decide(allowing, intent, factsFor(allowing, { scopes: unavailable }));
    const outcomes = trace.map(({ outcome }) => outcome);
    expect(outcomes.slice(0, 7)).toEqual(Array(7).fill('pass'));
    expect(trace[7]).toMatchObject({ gate: 'scopes', outcome: 'deny', reason_code: 'INSUFFICIENT_SCOPE' });
    expect(outcomes.slice(8)).toEqual(Array(6).fill('not_reached'));
  });

  it('keeps a satisfied escalation visible and uses up its grant', () => {
    const decision = decide(asking, intent, factsFor(asking, { approval: known(grantFor(asking, intent)) }));
    expect(decision).toMatchObject({ verdict: 'ALLOW', consumes_approval: true, matched_rules: ['ask'] });
    expect(decision.trace.find(({ gate }) => gate === 'rules')).toMatchObject({
      outcome: 'escalate',
      reason_code: 'APPROVAL_REQUIRED',
    });
    expect(decision.trace.find(({ gate }) => gate === 'approval')).toMatchObject({ outcome: 'pass' });
  });

  it('does not use up a grant that nothing asked for', () => {
    const decision = decide(allowing, intent, factsFor(allowing, { approval: known(grantFor(allowing, intent)) }));
    expect(decision).toMatchObject({ verdict: 'ALLOW', consumes_approval: false });
  });

  it('asks for the strictest of several approvals', () => {
    const policy = policyOf([
      {
        id: 'one',
        effect: 'escalate',
        approval: { quorum: 2, timeout: 900, scope: 'session', approvers: ['ann', 'bob'] },
      },
      { id: 'two', effect: 'escalate', approval: { quorum: 1, timeout: 60, scope: 'uses:3', approvers: ['bob'] } },
    ]);
    const budgets = known([budgetOf({ approval_required_above_minor: 0 })]);
    const { approval_request, reason_code } = decide(policy, intent, factsFor(policy, { budgets }));
    expect(reason_code).toBe('APPROVAL_REQUIRED');
    expect(approval_request).toEqual({ quorum: 2, timeout: 60, scope: 'once', approvers: ['bob'] });
  });

  it('denies instead of asking anybody when the approvers of two rules exclude each other', () => {
    const policy = policyOf([
      { id: 'one', effect: 'escalate', approval: { approvers: ['ann'] } },
      { id: 'two', effect: 'escalate', approval: { approvers: ['bob'] } },
    ]);
    expect(decide(policy, intent, factsFor(policy)).verdict).toBe('DENY');
  });

  it('gives rules the relations and the clock of the facts', () => {
    const policy = policyOf([
      { id: 'r', effect: 'allow', when: `"viewer@document:42" in relations && now == timestamp("${frozenNow}")` },
    ]);
    expect(decide(policy, intent, factsFor(policy)).verdict).toBe('ALLOW');
  });
});
