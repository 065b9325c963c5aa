import { describe, expect, it } from '@jest/globals';
import type { ApprovalId, Digest, Instant } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, evaluateRules, parsePolicyBundle, type CompiledPolicy, type Facts } from '@countersign/policy';
import { shadowVerdicts, type ShadowAnswer } from '../src/decision/shadow.ts';
import { statementOf } from '../src/decision/statement-of.ts';
import type { BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { judgedOf } from '../src/call/judged.ts';
import { normalise } from '../src/call/normalise.ts';
import type { FenceRow } from '../src/controls/fences/fence-row.ts';
import type { LaneRow } from '../src/controls/policy/shadow-lanes.ts';
import { acme, agent, callOf } from './_batch.ts';

const now = '2026-11-21T10:00:00.000Z' as Instant;
const hash = (letter: string) => `sha256:${letter.repeat(64)}` as Digest;
const hasher = { provider: nodeProvider, saltOf: () => new Uint8Array(32) };
const draft = (members: object = {}, rules: object[] = [{ id: 'all', effect: 'allow' }]): CompiledPolicy => {
  const bundle = { format: 'countersign/policy.v1', name: 'draft', version: '1', rules, ...members };
  return compilePolicy(parsePolicyBundle(JSON.stringify(bundle)), nodeProvider);
};
const call = callOf();
const { intent } = normalise(hasher, call, { resolution: null, policy: null });
const active = { policy: draft(), hash: hash('a'), epoch: 7 };
const lost = { state: 'unavailable', detail: 'away' } as const;
const nothing = { state: 'not_applicable' } as const;

const facts: Facts = {
  ...{ now, request: { state: 'known', value: { fault: null } }, fence: { state: 'known', value: [] } },
  // The policy is unavailable, which must not affect a draft.
  ...{ settings: nothing, policy: lost, relationship: nothing, registry: nothing, scopes: nothing },
  identity: {
    state: 'known',
    value: { credential: 'operator_key', credential_id: null, credential_state: 'active', enrolment: 'none' },
  },
  ...{ sandbox: nothing, egress: nothing, provenance: nothing },
  ...{ block: { state: 'known', value: { tool_blocked: false } }, budgets: { state: 'known', value: [] } },
  ...{ demand: { tool_calls: 1, spend_micros: 0n, egress_bytes: 0, writes: 0 }, judged_hash: hash('j') },
  approval: { state: 'known', value: null },
};
const approval: NonNullable<Extract<Facts['approval'], { state: 'known' }>['value']> = {
  ...{ approval_id: 'apr_1', state: 'approved', intent_hash: intent.intent_hash, judged_hash: hash('j') },
  ...{ policy_hash: hash('a'), preconditions: { tool_definition_hash: null, budgets: null } },
  ...{ approved_by: ['bob'], broken_by: null, scope: 'once', timeout: 1, timelock: 0, locked_until: null },
  ...{ uses_remaining: 1, expired: false, rejection_reason: null },
};
const granted = (policy_hash: string | null): Facts['approval'] => ({
  ...{ state: 'known', value: { ...approval, policy_hash } },
});

const rowOf = (policy: CompiledPolicy, lane = 'draft') =>
  ({ lane, hash: policy.hash, setBy: agent, sinceMs: 1 }) as LaneRow; // matches the schema
type Deciding = Parameters<typeof shadowVerdicts>[2];
type Change = Partial<Deciding> & { changedFacts?: Partial<Facts>; unfit?: string; has?: (tenant: string) => string[] };

/** The verdict of one draft on these facts. */
function verdictOf(
  policy: CompiledPolicy,
  { changedFacts, unfit = null as never, has = () => [], ...change }: Change = {},
) {
  const row = rowOf(policy);
  const outcome = evaluateRules(policy, intent, { now, relations: {} });
  const answer: ShadowAnswer = { row, policy, intent, unfit, outcome, relations: null };
  const batch = { row: (_control: unknown, tenant: string) => ({ rules: has(tenant) }) as never };
  const judged = { tenant: acme, batch, facts: { ...facts, ...changedFacts }, active, validateArguments: () => null };
  const deciding: Deciding = { ...judged, destination: null, dispatchedBy: 'caller', grant: null, ...change };
  const [verdict] = shadowVerdicts([row], [answer], deciding);
  return verdict;
}
const says = (...args: Parameters<typeof verdictOf>) => {
  const verdict = verdictOf(...args);
  return `${verdict?.verdict} ${verdict?.reason_code}`;
};

describe('a draft', () => {
  it('states its verdict, its rules and its hash', () => {
    const policy = draft();
    expect(verdictOf(policy)).toEqual({
      ...{ lane: 'draft', policy_hash: policy.hash, verdict: 'ALLOW', reason_code: 'ALLOWED' },
      ...{ matched_rules: ['all'], rules_omitted: 0, fault: null },
    });
  });

  it.each([
    [15, 15, 0],
    [16, 16, 0],
    [17, 16, 1],
  ])('with %d matching rules names %d and omits %d', (matched, named, omitted) => {
    const rules = Array.from({ length: matched }, (_, nth) => ({ id: `r${nth}`, effect: 'allow' }));
    const verdict = verdictOf(draft({}, rules));
    expect(verdict?.matched_rules).toEqual(rules.slice(0, named).map(({ id }) => id));
    expect(verdict?.rules_omitted).toBe(omitted);
  });

  it('that was not evaluated states why', () => {
    const [query, unasked] = [rowOf(active.policy, 'asked'), rowOf(active.policy, 'unasked')];
    const silent = { policy_hash: query.hash, verdict: null, reason_code: null, matched_rules: [], rules_omitted: 0 };
    expect(shadowVerdicts([query, unasked], [{ row: query, fault: 'failed' }], null as never)).toEqual([
      { lane: 'asked', ...silent, fault: 'failed' },
      { lane: 'unasked', ...silent, fault: 'not_ready' },
    ]);
    expect(shadowVerdicts([], [{ row: query, fault: 'failed' }], null as never)).toEqual([]);
  });

  const sandboxed = draft({ tools: { 'files.read': { effect_level: 'E1', sandbox: true } } });
  const inside = draft({ tools: { 'files.read': { effect_level: 'E1', dispatched_by: 'kernel' } } });
  const bounded = draft({ egress: ['good.example'] });
  const ceiled = draft({}, [
    { id: 'all', effect: 'allow' },
    { id: 'ceiling.x', effect: 'allow' },
  ]);
  it.each<[string, CompiledPolicy, Change, string]>([
    ['a malformed call', draft(), { unfit: 'odd' }, 'DENY MALFORMED_ARGUMENTS'],
    ['no active policy', draft(), { active: null }, 'ALLOW ALLOWED'],
    ['a tool that requires a sandbox', sandboxed, {}, 'DENY SANDBOX_GRANT_MISSING'],
    ['an unknown sandbox', draft(), { changedFacts: { sandbox: lost } }, 'DENY SANDBOX_GRANT_MISSING'],
    ['a tool that only the kernel may dispatch', inside, {}, 'DENY DIRECT_UPSTREAM_BYPASS'],
    [
      'a proposed call of a tool that only the kernel may dispatch',
      inside,
      { dispatchedBy: 'nobody' },
      'ALLOW ALLOWED',
    ],
    [
      'a call that the kernel dispatches',
      inside,
      { dispatchedBy: 'kernel', changedFacts: { provenance: { state: 'known', value: { through_boundary: true } } } },
      'ALLOW ALLOWED',
    ],
    [
      'a call that bypasses the kernel',
      draft(),
      { dispatchedBy: 'kernel', changedFacts: { provenance: { state: 'known', value: { through_boundary: false } } } },
      'DENY DIRECT_UPSTREAM_BYPASS',
    ],
    ['an allowed host', bounded, { destination: { host: 'good.example' } }, 'ALLOW ALLOWED'],
    ['another host', bounded, { destination: { host: 'bad.example' } }, 'DENY EGRESS_BLOCKED'],
    ['an unknown destination', draft(), { changedFacts: { egress: lost } }, 'DENY EGRESS_BLOCKED'],
    ['unknown relations that it does not read', draft(), { changedFacts: { relationship: lost } }, 'ALLOW ALLOWED'],
    ['a missing ceiling', draft(), { has: (of) => (of === 'acme' ? ['{}'] : []) }, 'DENY CEILING_MISSING'],
    ['a ceiling that is not in force', ceiled, {}, 'DENY CEILING_MISSING'],
  ])('is judged by its own terms: %s', (_case, policy, change, text) => {
    expect(says(policy, change)).toBe(text);
  });

  const asking = draft({}, [{ id: 'ask', effect: 'escalate' }]);
  it.each<[string, Change, string]>([
    ['no approval', {}, 'ESCALATE APPROVAL_REQUIRED'],
    ['an approval under the active policy', { changedFacts: { approval: granted(hash('a')) } }, 'ALLOW ALLOWED'],
    ['an approval under another policy', { changedFacts: { approval: granted(hash('b')) } }, 'DENY APPROVAL_MISMATCH'],
    ['an approval without a policy', { changedFacts: { approval: granted(null) } }, 'DENY APPROVAL_MISMATCH'],
    [
      'an approval while no policy is active',
      { active: null, changedFacts: { approval: granted(hash('a')) } },
      'DENY APPROVAL_MISMATCH',
    ],
    ['an unknown approval', { changedFacts: { approval: lost } }, 'DENY APPROVAL_MISMATCH'],
    ['an approval that does not apply', { changedFacts: { approval: nothing } }, 'ESCALATE APPROVAL_REQUIRED'],
  ])('that requires approval accepts only an approval under the active policy: %s', (_case, change, text) => {
    expect(says(asking, change)).toBe(text);
  });

  it('validates arguments against the pinned schema', () => {
    const tool = { pinned_hash: 'one', current_hash: 'one', input_schema: { type: 'object' } };
    const registry: Facts['registry'] = { state: 'known', value: { server_id: 'files', state: 'approved', tool } };
    expect(says(draft(), { changedFacts: { registry } })).toBe('ALLOW ALLOWED');
    const refused = { changedFacts: { registry }, validateArguments: () => '/id: required' };
    expect(says(draft(), refused)).toBe('DENY SCHEMA_VIOLATION');
  });
});

const decision = {
  ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', reason: '', consumes_approval: false },
  ...{ matched_rules: ['all'], trace: [] },
} as unknown as Parameters<typeof statementOf>[1]['decision']; // nothing else is read

type Judged = Parameters<typeof statementOf>[0];
type Statement = Parameters<typeof statementOf>[1];
function stated(of: Partial<Judged> = {}, claim: Partial<Statement> = {}) {
  const judged = judgedOf(hasher, call, { intent, policy: active.policy, now, relations: {} });
  const existing = { call, asker: { mode: 'enforce', dispatchedBy: 'caller' }, intent, judged, fault: null, org: null };
  const learned = { dispatchedBy: 'caller', destination: null, learned: nothing, relations: { kind: 'not_asked' } };
  const statement = statementOf({ ...existing, ...learned, ulid: 'one', now, policy: active, ...of } as Judged, {
    ...{ decision, rosterHash: hash('r'), fences: [], budgets: [], facts, approvalId: null, shadow: [] },
    ...claim,
  });
  if ('hash' in statement.record) throw new Error('a decision states a record');
  return { receipt: statement.receipt, record: statement.record };
}

const fence = (scope: string): FenceRow =>
  ({ scope, kind: 'throttle', epoch: 2, reason: 'too much', callLimit: 5, callsTaken: 2 }) as FenceRow; // nothing else is read

describe('the statement of a decision', () => {
  it('contains the caller, the call, the policy and the outcome', () => {
    const { receipt, record } = stated();
    expect(record).toMatchObject({
      ...{ tenant_id: 'acme', principal_id: 'agent', session_id: 'session', created_at: now, verdict: 'ALLOW' },
      ...{ policy_hash: hash('a'), policy_epoch: 7, matched_rules: ['all'], gate_roster_hash: hash('r') },
      ...{ decision_id: 'dec_one', dispatched_by: 'caller', mcp_server_id: null, tool_definition_hash: null },
      ...{ authz_snapshot_hash: null, approval_id: null, budgets: [], shadow: [], gates: [] },
      identity: { credential: 'operator_key', enrolment: 'none' },
    });
    expect([receipt.shadow, 'fences' in record, 'tool_blocked' in record]).toEqual([false, false, false]);
  });

  it('contains no policy when none is active', () => {
    expect(stated({ policy: null }).record).toMatchObject({ policy_hash: null, policy_epoch: 0 });
  });

  it('contains the server and the current definition hash of the tool', () => {
    const tool = { pinned_hash: hash('p'), current_hash: hash('c'), input_schema: {} };
    const learned = (value: object | null): Judged['learned'] =>
      ({ state: 'known', value: { server_id: 'files', state: 'approved', tool: value } }) as Judged['learned'];
    const named = ({ record }: ReturnType<typeof stated>) => [record.mcp_server_id, record.tool_definition_hash];
    expect(named(stated({ learned: learned(tool) }))).toEqual(['files', hash('c')]);
    expect(named(stated({ learned: learned(null) }))).toEqual(['files', null]);
    expect(named(stated({ learned: lost }))).toEqual([null, null]);
  });

  it('contains the snapshot of relations, when they were read', () => {
    const snapshot = { kind: 'read', hash: hash('s'), relations: {}, required: [] } as const;
    expect(stated({ relations: snapshot }).record.authz_snapshot_hash).toBe(hash('s'));
    expect(stated({ relations: { kind: 'unavailable' } }).record.authz_snapshot_hash).toBeNull();
  });

  it('contains the fences of the call, with remaining calls only for fences of its tenant', () => {
    const scopes = ['system', 'org:o', 'server:files', 'tool:*/a', 'tenant:acme', 'server:acme/files'];
    const report = { kind: 'throttle', epoch: 2 };
    expect(stated({}, { fences: scopes.map(fence) }).record.fences).toEqual([
      ...scopes.slice(0, 4).map((scope) => ({ scope, ...report, calls_remaining: null })),
      ...scopes.slice(4).map((scope) => ({ scope, ...report, calls_remaining: 3 })),
    ]);
  });

  it('contains the shadow mode and the verdicts of the drafts', () => {
    expect(stated({ asker: { mode: 'shadow', dispatchedBy: 'caller' } }).receipt.shadow).toBe(true);
    const verdict = verdictOf(draft());
    const shadow = verdict === undefined ? [] : [verdict];
    expect(stated({}, { shadow }).record.shadow).toEqual([verdict]);
  });

  it('contains the block of a tool and the identity of the caller if known, an approval, and the remainders of budgets', () => {
    const blocked = { ...facts, block: { state: 'known', value: { tool_blocked: true } } } as const;
    expect(stated({}, { facts: blocked }).record.tool_blocked).toBe(true);
    const { record } = stated(
      {},
      { facts: { block: lost, identity: lost, sandbox: lost }, approvalId: 'apr_1' as ApprovalId },
    );
    expect(['tool_blocked' in record, 'identity' in record, record.approval_id]).toEqual([false, false, 'apr_1']);
    const amounts = { tool_calls: 1, spend_micros: 0n, egress_bytes: 0, writes: 0 };
    const limits = { tool_calls: 5, spend_minor: null, egress_bytes: null, writes: null };
    const budget = { id: 'calls', limits, used: amounts, reserved: amounts } as unknown as BudgetRow; // nothing else is read
    expect(stated({}, { budgets: [budget] }).record.budgets).toMatchObject([
      { budget_id: 'calls', tool_calls_remaining: 3 },
    ]);
  });
});
