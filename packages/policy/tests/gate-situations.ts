import type { ReasonCode } from '@countersign/contracts';
import type { Facts, FenceInForce, Intent, RuleEvaluator } from '../src/index.ts';
import { approvalSituations } from './approval-situations.ts';
import { identitySituations } from './identity-situations.ts';
import { budgetOf, grantFor, intentOf, knownFact, policyOf, signedPolicy, toolOf } from './situation.ts';

export const allowing = policyOf([{ id: 'allow', effect: 'allow' }]);
export const asking = policyOf([{ id: 'ask', effect: 'escalate', approval: { quorum: 2 } }]);
const askingCarol = policyOf([{ id: 'ask', effect: 'escalate', approval: { approvers: ['carol'] } }]);
export const intent = intentOf();
const aboutMail = policyOf([{ id: 'mail', effect: 'allow', match: { tool: ['mail.*'] } }]);
const fenced = (level: FenceInForce['level'], kind: string, calls_remaining: number | null = null) =>
  ({ scope: level, level, kind, epoch: 1, reason: 'test', calls_remaining }) satisfies FenceInForce;
const activePolicy = { ...signedPolicy, hash: allowing.hash };
const snapshot = { snapshot_hash: 'x', age_ms: 1, age_max_ms: 1000, relations: {}, required: [] };
export const unavailable = { state: 'unavailable', detail: 'store down' } as const;

export type Situation = {
  code: ReasonCode;
  when: string;
  facts?: Partial<Facts>;
  call?: Partial<Intent>;
  policy?: typeof allowing | null;
  evaluate?: RuleEvaluator;
};

function registryIn(state: 'discovered' | 'quarantined' | 'revoked' | 'expired'): Partial<Facts> {
  return { registry: knownFact({ server_id: 's', state, tool: toolOf({}) }) };
}
function toolIs(tool: ReturnType<typeof toolOf> | null): Partial<Facts> {
  return { registry: knownFact({ server_id: 's', state: 'approved', tool }) };
}
export function grant(changes: object): Partial<Facts> {
  return { approval: knownFact(grantFor(asking, intent, changes)) };
}

/** One situation for each result of each gate. `ALLOWED` when no gate stops the call. */
export const situations: Situation[] = [
  { code: 'MALFORMED_ARGUMENTS', when: 'the hash of the arguments is missing', call: { args_hash: '' } },
  ...Object.entries<Partial<Intent>>({
    'the hash of the intent is malformed': { intent_hash: `x${intent.intent_hash}` },
    'a hash has a trailing character': { args_hash: `${intent.args_hash}0` },
    'the arguments are a text': { args: 'path' as unknown as Intent['args'] },
    'the arguments are a list': { args: [] as unknown as Intent['args'] },
    'the context is null': { context: null as unknown as Intent['context'] },
  }).map(([when, call]) => ({ code: 'MALFORMED_ARGUMENTS' as const, when, call })),
  {
    code: 'MALFORMED_ARGUMENTS',
    when: 'the request has a fault',
    facts: { request: knownFact({ fault: 'It is no call.' }) },
  },
  ...(
    [
      ['SYSTEM_FROZEN', fenced('system', 'freeze')],
      ['SYSTEM_FROZEN', fenced('system', 'quarantine')],
      ['SYSTEM_FROZEN', fenced('agent', 'freeze')],
      ['SYSTEM_FROZEN', fenced('agent', 'freeze', 5)],
      ['SYSTEM_FROZEN', fenced('agent', 'the kind is unknown')],
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
    facts: { fence: knownFact([fenced('system', 'throttle', 1), fence]) },
  })),
  { code: 'FENCE_UNAVAILABLE', when: 'fences cannot be read', facts: { fence: unavailable } },
  { code: 'FENCE_UNAVAILABLE', when: 'settings cannot be read', facts: { settings: unavailable } },
  {
    code: 'SETTINGS_MISSING',
    when: 'the settings of the workspace were not received',
    facts: { settings: knownFact({ received: false }) },
  },
  {
    code: 'SETTINGS_MISSING',
    when: 'the fact about settings has no value',
    facts: { settings: knownFact({ received: undefined as unknown as boolean }) },
  },
  { code: 'ALLOWED', when: 'the tenant is not a workspace', facts: { settings: { state: 'not_applicable' } } },
  {
    code: 'SYSTEM_FROZEN',
    when: 'the system is frozen and the workspace has no settings',
    facts: { fence: knownFact([fenced('system', 'freeze')]), settings: knownFact({ received: false }) },
  },
  { code: 'POLICY_MISSING', when: 'no bundle is active', facts: { policy: knownFact(null) } },
  { code: 'POLICY_MISSING', when: 'no compiled policy exists', policy: null },
  ...(
    [
      ['POLICY_STALE', 'the bundle is too old', { age_ms: 1001 }],
      ['POLICY_STALE', 'the age of the bundle is not a number', { age_ms: Number.NaN }],
      ['POLICY_STALE', 'the bundle was confirmed in the future', { age_ms: -60_001 }],
      ['ALLOWED', 'the clock of its signer is a little ahead', { age_ms: -60_000 }],
      ['POLICY_STALE', 'a newer activation is known', { is_newest: false }],
      ['POLICY_STALE', 'another bundle is active', { hash: asking.hash }],
      ['POLICY_SIGNATURE_INVALID', 'the signature of an old bundle fails', { signature_valid: false, age_ms: 1001 }],
      ['POLICY_SIGNATURE_INVALID', 'the signature fails', { signature_valid: false }],
      ['CEILING_MISSING', 'the bundle lacks a ceiling', { missing_ceiling: 'ceiling.payments' }],
      ['CEILING_MISSING', 'the missing ceiling is unknown', { missing_ceiling: undefined as unknown as null }],
    ] as const
  ).map(([code, when, changes]) => ({ code, when, facts: { policy: knownFact({ ...activePolicy, ...changes }) } })),
  ...identitySituations,
  {
    code: 'AUTHZ_SNAPSHOT_STALE',
    when: 'the snapshot is old',
    facts: { relationship: knownFact({ ...snapshot, age_ms: 1001 }) },
  },
  {
    code: 'RELATION_MISSING',
    when: 'a relation is missing',
    facts: { relationship: knownFact({ ...snapshot, required: ['owner'] }) },
  },
  { code: 'SERVER_QUARANTINED', when: 'the server is quarantined', facts: registryIn('quarantined') },
  { code: 'SERVER_QUARANTINED', when: 'the server was only discovered', facts: registryIn('discovered') },
  { code: 'SERVER_REVOKED', when: 'the server was revoked', facts: registryIn('revoked') },
  { code: 'SERVER_EXPIRED', when: 'the approval of the server expired', facts: registryIn('expired') },
  { code: 'TOOL_UNKNOWN', when: 'the server does not list the tool', facts: toolIs(null) },
  { code: 'SCHEMA_DRIFT', when: 'the definition changed', facts: toolIs(toolOf({ current_hash: 'other' })) },
  { code: 'SCHEMA_DRIFT', when: 'the tool has no pin', facts: toolIs(toolOf({ pinned_hash: null })) },
  { code: 'REGISTRY_UNAVAILABLE', when: 'the registry cannot be read', facts: { registry: unavailable } },
  { code: 'SCHEMA_VIOLATION', when: 'an argument has the wrong type', call: { args: { path: 7 } } },
  {
    code: 'INSUFFICIENT_SCOPE',
    when: 'a scope is missing',
    facts: { scopes: knownFact({ required: ['a', 'b'], granted: ['a'] }) },
  },
  {
    code: 'SANDBOX_OVERGRANT',
    when: 'the request exceeds its sandbox grant',
    facts: { sandbox: knownFact({ grant_hash: 'g', required: true, overgrants: ['network'] }) },
  },
  {
    code: 'SANDBOX_GRANT_MISSING',
    when: 'no grant exists',
    facts: { sandbox: knownFact({ grant_hash: null, required: true, overgrants: [] }) },
  },
  {
    code: 'EGRESS_BLOCKED',
    when: 'the destination is refused',
    facts: { egress: knownFact({ destination: 'x', allowed: false, detail: 'x' }) },
  },
  {
    code: 'DIRECT_UPSTREAM_BYPASS',
    when: 'the call bypassed the boundary',
    facts: { provenance: knownFact({ through_boundary: false }) },
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
    when: 'the evaluator returns a malformed result',
    evaluate: (() => ({ kind: 'allow' })) as unknown as RuleEvaluator,
  },
  {
    code: 'PDP_UNAVAILABLE',
    when: 'the evaluator returns a promise',
    evaluate: (async () => ({ kind: 'allow', rules: ['x'], reason: '' })) as unknown as RuleEvaluator,
  },
  ...(
    [
      ['allows by a rule that the bundle lacks', allowing, { kind: 'allow', rules: ['allow', 'other'], reason: '' }],
      ['allows by a rule that escalates', asking, { kind: 'allow', rules: ['ask'], reason: '' }],
      ['allows by a rule about other calls', aboutMail, { kind: 'allow', rules: ['mail'], reason: '' }],
      ['allows without a rule', allowing, { kind: 'allow', rules: [], reason: '' }],
      ['returns a reason that is not a text', allowing, { kind: 'allow', rules: ['allow'], reason: 7 }],
      [
        'returns rule names that are not texts',
        allowing,
        { kind: 'deny', rules: [7], reason: '', code: 'POLICY_DENIED' },
      ],
      ['denies with the code ALLOWED', allowing, { kind: 'deny', rules: [], reason: '', code: 'ALLOWED' }],
      [
        'escalates with an invalid approval',
        asking,
        { kind: 'escalate', rules: ['ask'], reason: '', approval: { quorum: 0 } },
      ],
    ] as const
  ).map(([what, policy, answer]) => ({
    code: 'PDP_UNAVAILABLE' as const,
    when: `the evaluator ${what}`,
    policy,
    evaluate: (() => answer) as unknown as RuleEvaluator,
  })),
  { code: 'APPROVAL_REQUIRED', when: 'a rule escalates', policy: asking },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'a rule escalates and approvals are not applicable',
    policy: asking,
    facts: { approval: { state: 'not_applicable' } },
  },
  { code: 'APPROVAL_REQUIRED', when: 'the approval is pending', policy: asking, facts: grant({ state: 'pending' }) },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'fewer people approved than the rule requires',
    policy: asking,
    facts: grant({ approved_by: ['alice', 'alice'] }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the rule names other approvers',
    policy: askingCarol,
    facts: { approval: knownFact(grantFor(askingCarol, intent)) },
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the approval may be used more often than the rule allows',
    policy: asking,
    facts: grant({ scope: 'uses:2', uses_remaining: 2 }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the timeout of the approval is longer than the rule allows',
    policy: asking,
    facts: grant({ timeout: 901 }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the timeout of the approval is not a number',
    policy: asking,
    facts: grant({ timeout: Number.NaN }),
  },
  ...approvalSituations,
  {
    code: 'BUDGET_EXCEEDED',
    when: 'no calls are left',
    facts: { budgets: knownFact([budgetOf({}), budgetOf({ tool_calls_remaining: 0 })]) },
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the demand is negative',
    facts: { demand: { tool_calls: 1, spend_micros: -1n, egress_bytes: 0, writes: 0 } },
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the demand is negative where no budget counts money',
    facts: {
      demand: { tool_calls: 1, spend_micros: -1n, egress_bytes: 0, writes: 0 },
      budgets: knownFact([budgetOf({ spend_remaining_micros: null })]),
    },
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the call would send more bytes than the budget has left',
    facts: { budgets: knownFact([budgetOf({ egress_remaining_bytes: 99 })]) },
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the call writes more than the budget has left',
    facts: { demand: { tool_calls: 1, spend_micros: 0n, egress_bytes: 0, writes: 6 } },
  },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the demand of writes is not a number',
    facts: { demand: { tool_calls: 1, spend_micros: 0n, egress_bytes: 0, writes: Number.NaN } },
  },
  {
    code: 'PRICE_UNKNOWN',
    when: 'a budget limits spend and the maximum cost of the call is unknown',
    facts: { demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 0 } },
  },
  {
    code: 'PRICE_UNKNOWN',
    when: 'a budget requires approval above an amount and the spend is unknown',
    facts: {
      demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 0 },
      budgets: knownFact([budgetOf({ spend_remaining_micros: null, approval_required_above_minor: 9 })]),
    },
  },
  {
    code: 'TOOL_BLOCKED',
    when: 'the workspace blocks the tool that a rule allows',
    facts: { block: knownFact({ tool_blocked: true }) },
  },
  { code: 'PDP_UNAVAILABLE', when: 'blocked tools cannot be read', facts: { block: unavailable } },
  {
    code: 'BUDGET_EXCEEDED',
    when: 'the budget is exhausted and the call is approved',
    policy: asking,
    facts: { ...grant({}), budgets: knownFact([budgetOf({ spend_remaining_micros: 9_999_999n })]) },
  },
  {
    code: 'BUDGET_APPROVAL_REQUIRED',
    when: 'the spend passes the threshold',
    facts: { budgets: knownFact([budgetOf({ approval_required_above_minor: 9 })]) },
  },
  { code: 'BUDGET_UNAVAILABLE', when: 'budgets cannot be read', facts: { budgets: unavailable } },
  { code: 'APPROVAL_EXPIRED', when: 'the grant has expired', policy: asking, facts: grant({ expired: true }) },
  { code: 'APPROVAL_MISMATCH', when: 'the arguments changed', policy: asking, facts: grant({ intent_hash: 'other' }) },
  {
    code: 'APPROVAL_MISMATCH',
    when: 'the same call demands more than was approved',
    policy: asking,
    facts: grant({ judged_hash: 'other' }),
  },
  {
    code: 'APPROVAL_MISMATCH',
    when: 'the policy changed',
    policy: asking,
    facts: grant({ policy_hash: allowing.hash }),
  },
  {
    code: 'APPROVAL_MISMATCH',
    when: 'the approval names no policy',
    policy: asking,
    facts: grant({ policy_hash: null }),
  },
  {
    code: 'APPROVAL_MISMATCH',
    when: 'the state of the approval is unknown',
    policy: asking,
    facts: grant({ state: 'odd' }),
  },
  {
    code: 'APPROVAL_EXPIRED',
    when: 'the approval expired without a decision',
    policy: asking,
    facts: grant({ state: 'expired' }),
  },
  { code: 'APPROVAL_CONSUMED', when: 'the grant has no use left', policy: asking, facts: grant({ uses_remaining: 0 }) },
  {
    code: 'APPROVAL_REJECTED',
    when: 'the approvers denied the call',
    policy: asking,
    facts: grant({ state: 'denied' }),
  },
  { code: 'APPROVAL_REJECTED', when: 'the grant was revoked', policy: asking, facts: grant({ state: 'revoked' }) },
  { code: 'ALLOWED', when: 'every gate passes' },
  {
    code: 'ALLOWED',
    when: 'the call costs nothing and a budget counts money',
    facts: { demand: { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 } },
  },
  {
    code: 'ALLOWED',
    when: 'policy and snapshot have the maximum age',
    facts: {
      policy: knownFact({ ...activePolicy, age_ms: 1000 }),
      relationship: knownFact({ ...snapshot, age_ms: 1000 }),
    },
  },
  {
    code: 'ALLOWED',
    when: 'the call uses all of the budget and costs exactly the threshold',
    facts: {
      budgets: knownFact([
        budgetOf({
          tool_calls_remaining: 1,
          spend_remaining_micros: 10_000_000n,
          egress_remaining_bytes: 100,
          writes_remaining: 0,
          approval_required_above_minor: 10,
        }),
      ]),
    },
  },
  {
    code: 'ALLOWED',
    when: 'the tool needs no sandbox and has none',
    facts: { sandbox: knownFact({ grant_hash: null, required: false, overgrants: [] }) },
  },
  {
    code: 'ALLOWED',
    when: 'the cost of the call is unknown and no budget counts money',
    facts: {
      demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 0 },
      budgets: knownFact([budgetOf({ spend_remaining_micros: null })]),
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
