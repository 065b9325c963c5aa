import { describe, expect, it } from '@jest/globals';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { ordinaryApproval, type ApprovalRequest } from '@countersign/policy';
import { rulesOfBundle, termsUnder } from '../src/policy-rules.ts';
import { UsedApprovals } from '../src/used-approvals.ts';
import { hashOf } from './chain-fixture.ts';

const pin = hashOf('definition');
const judged = hashOf('judged');
const at = (second: number) => `2026-02-01T00:00:0${second}.000Z`;

type Step = { payload: ReceiptPayload; record: BoundaryRecord | undefined };

/** A receipt with its record, limited to the members that are read. */
function step(lamport_clock: number, members: Record<string, unknown>, { session = 's', isThere = true } = {}): Step {
  const { kind = 'decision', action = 'tool.call', facts = {}, verdict = 'ALLOW', ...rest } = members;
  const payload = { tenant_id: 'acme', session_id: session, lamport_clock, kind, action };
  const record = {
    ...{ kind, verdict, approval_id: 'apr_1', principal_id: 'agent-1', created_at: at(5) },
    ...{ judged_hash: judged, tool_definition_hash: pin, intent: { action, facts }, ...rest },
  };
  const stored: unknown = JSON.parse(JSON.stringify(record)); // JSON omits undefined members
  return { payload, record: isThere ? stored : undefined } as Step; // only the members that are read
}
const move = (clock: number, by: string, facts: object = {}, members: object = {}, where = {}) =>
  step(
    clock,
    {
      ...{ kind: 'approval', action: 'approval.approve', principal_id: by, ...members },
      facts: {
        ...{ state: 'approved', approved_judged_hash: judged },
        approved_preconditions: { tool_definition_hash: pin, budgets: null },
        ...facts,
      },
    },
    where,
  );
const call = (clock: number, members: object = {}, where = {}) => step(clock, { ...members }, where);

/** The fault of the last step. `null` when there is none. */
function statementOf(...steps: Step[]): string | null {
  return saidOf(steps, []);
}

function saidOf(steps: readonly Step[], terms: readonly ApprovalRequest[]): string | null {
  const used = new UsedApprovals();
  try {
    for (const { payload, record } of steps) used.take(payload, record, terms);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
const lie = (words: string) => `the call used the approval apr_1, which ${words}`;

describe('a call that used an approval', () => {
  const glass = { expires_at: at(8) };
  const locked = { timelock_until: at(5) };

  it.each<[string, Step[], string | null]>([
    ['verifies after the votes', [move(1, 'ada'), call(2)], null],
    ['verifies within the permitted uses', [move(1, 'ada', { approved_scope: 'uses:2' }), call(2), call(3)], null],
    [
      'is rejected beyond the permitted uses',
      [move(1, 'ada', { approved_scope: 'uses:2' }), call(2), call(3), call(4)],
      lie('had been used 2 times already'),
    ],
    [
      'is rejected at a second use',
      [move(1, 'ada', { approved_scope: 'once' }), call(2), call(3)],
      lie('had been used 1 times already'),
    ],
    ['is rejected at the expiry', [move(1, 'ada', { approved_expires_at: at(5) }), call(2)], lie('had expired')],
    ['verifies just before the expiry', [move(1, 'ada', { approved_expires_at: at(6) }), call(2)], null],
    ['is rejected without a vote', [call(1)], lie('no vote had approved')],
    [
      'is rejected while votes are missing',
      [move(1, 'ada', { state: 'pending' }), call(2)],
      lie('no vote had approved'),
    ],
    [
      'is rejected if its caller voted for it',
      [move(1, 'AGENT-1'), call(2)],
      lie('has the vote of the principal that requested it'),
    ],
    [
      'is rejected if its caller voted for it before another approver',
      [move(1, 'agent-1', { state: 'pending' }), move(2, 'ada'), call(3)],
      lie('has the vote of the principal that requested it'),
    ],
    [
      'is rejected if the approval is for another call',
      [move(1, 'ada'), call(2, { judged_hash: pin })],
      lie('was issued for a different call'),
    ],
    [
      'is rejected before the end of the time lock',
      [move(1, 'ada', locked), call(2, { created_at: at(4) })],
      lie('was still under its time lock'),
    ],
    ['verifies at the end of the time lock', [move(1, 'ada', locked), call(2)], null],
    [
      'is rejected if the definition of its tool differs from the pinned one',
      [move(1, 'ada'), call(2, { tool_definition_hash: judged })],
      lie('was issued for a different definition of the tool'),
    ],
    [
      'verifies if the approval has no preconditions',
      [move(1, 'ada', { approved_preconditions: undefined }), call(2, { tool_definition_hash: judged })],
      null,
    ],
    ['verifies twice if the approval has no scope', [move(1, 'ada'), call(2), call(3)], null],
    ['verifies at the first use of break glass', [move(1, 'ada', glass), call(2)], null],
    [
      'is rejected at the second use of break glass',
      [move(1, 'ada', glass), call(2), call(3)],
      lie('one person approved by break glass, for a single use that is over or expired'),
    ],
    [
      'is rejected after the expiry of break glass',
      [move(1, 'ada', glass), call(2, { created_at: at(8) })],
      lie('one person approved by break glass, for a single use that is over or expired'),
    ],
    ['verifies if it was denied', [call(1, { verdict: 'DENY' })], null],
    ['verifies if it names no approval', [call(1, { approval_id: null })], null],
    ['verifies after a request without a vote', [step(1, { kind: 'approval', action: 'approval.request' })], null],
  ])('%s', (_what, steps, words) => {
    expect(statementOf(...steps)).toBe(words);
  });

  it('is compared only with the votes of its own chain', () => {
    const second = { session: 'other' };
    expect(statementOf(move(1, 'ada', {}, {}, second), call(1))).toBe(lie('no vote had approved'));
  });

  it('is not checked when the record of a vote is missing', () => {
    expect(statementOf(move(1, 'ada', {}, {}, { isThere: false }), call(2))).toBeNull();
    expect(statementOf(call(1, {}, { isThere: false }), call(2))).toBe(lie('no vote had approved'));
  });

  const asking = step(7, { kind: 'approval', action: 'approval.request' });
  const pending = { state: 'pending' };
  it.each<[string, Step[], string | null]>([
    ['verifies without a vote', [call(7)], null],
    ['is rejected without a vote after the request', [asking, call(8)], lie('no vote had approved')],
    [
      'is rejected after a denial',
      [move(7, 'ada', { state: 'denied' }, { verdict: 'DENY' }), call(8)],
      lie('no vote had approved'),
    ],
    [
      'is rejected at the second use of a single-use approval',
      [move(7, 'ada', { approved_scope: 'once' }), call(8), call(9)],
      lie('had been used 1 times already'),
    ],
    ['verifies within the permitted uses', [move(7, 'ada', { approved_scope: 'uses:2' }), call(8), call(9)], null],
  ])('%s, in a chain that begins later', (_what, steps, words) => {
    expect(statementOf(...steps)).toBe(words);
  });

  const terms = (changes: Partial<ApprovalRequest>): ApprovalRequest => ({ ...ordinaryApproval, ...changes });
  const two = terms({ quorum: 2 });
  const bob = terms({ approvers: ['bob'] });
  const glassBroken = move(1, 'ada', glass, { kind: 'break_glass', action: 'approval.break_glass' });
  const late = call(2, { created_at: '2026-02-01T00:15:05.000Z' });
  it.each<[string, ApprovalRequest, Step[], string | null]>([
    ['is rejected with one vote', two, [move(1, 'ada'), call(2)], lie('had 1 of 2 votes')],
    [
      'is rejected with two votes of one person',
      two,
      [move(1, 'ada', pending), move(2, 'ada'), call(3)],
      lie('had 1 of 2 votes'),
    ],
    [
      'is rejected with the votes of one person in two spellings',
      two,
      [move(1, 'ada', pending), move(2, 'Ada'), call(3)],
      lie('had 1 of 2 votes'),
    ],
    ['verifies with the votes of two people', two, [move(1, 'ada', pending), move(2, 'bob'), call(3)], null],
    [
      'is rejected with a vote of a person that the rule does not name',
      bob,
      [move(1, 'ada'), call(2)],
      lie('had 0 of 1 votes'),
    ],
    ['verifies with the vote of the person that the rule names', bob, [move(1, 'bob'), call(2)], null],
    ['verifies with break glass', two, [glassBroken, call(2)], null],
    [
      'is rejected with break glass by a person that the rule does not name',
      bob,
      [glassBroken, call(2)],
      lie('had 0 of 1 votes'),
    ],
    ['verifies with one vote in a chain that begins later', two, [move(7, 'ada'), call(8)], null],
    ['verifies at the end of the time lock', terms({ timelock: 4 }), [moveAt(1), call(2)], null],
    [
      'is rejected before the end of the time lock',
      terms({ timelock: 5 }),
      [moveAt(1), call(2)],
      lie('was still under the time lock of its rule'),
    ],
    ['verifies before the time lock with break glass', terms({ timelock: 5 }), [glassBroken, call(2)], null],
    [
      'is rejected if its scope is wider',
      two,
      [move(1, 'ada', pending), move(2, 'bob', { approved_scope: 'session' }), call(3)],
      lie('grants more than its rule permits'),
    ],
    [
      'is rejected at a use that the rule does not permit',
      terms({ scope: 'once' }),
      [move(1, 'ada'), call(2), call(3)],
      lie('grants more than its rule permits'),
    ],
    [
      'is rejected if budgets may change',
      terms({ unchanged: ['budgets'] }),
      [move(1, 'ada'), call(2)],
      lie('grants more than its rule permits'),
    ],
    [
      'is rejected after the timeout',
      terms({ timeout: 900 }),
      [move(1, 'ada', {}, { created_at: at(5) }), late],
      lie('had expired under its rule'),
    ],
    ['verifies before the timeout', terms({ timeout: 901 }), [move(1, 'ada', {}, { created_at: at(5) }), late], null],
  ])('%s, under the terms of a rule', (_what, term, steps, words) => {
    expect(saidOf(steps, [term])).toBe(words);
  });

  const signed = (key: string, facts: object = {}) => {
    const statement = { action: 'tool.call', approval_expires_at: at(6) };
    return { credential: 'passkey', public_key: { x: key }, statement, ...facts };
  };
  it.each<[string, Step[], string | null]>([
    [
      'counts two passkeys as two people',
      [move(1, 'ada', { ...signed('a'), ...pending }), move(2, 'bob', signed('b')), call(3)],
      null,
    ],
    [
      'counts one passkey as one person',
      [move(1, 'ada', { ...signed('a'), ...pending }), move(2, 'bob', signed('a')), call(3)],
      lie('had 1 of 2 votes'),
    ],
    [
      'is rejected at the signed expiry',
      [move(1, 'ada', signed('a')), call(2, { created_at: at(6) })],
      lie('had expired'),
    ],
    [
      'is rejected if the passkey signed another action',
      [move(1, 'ada', signed('a', { statement: { action: 'files.list', approval_expires_at: at(6) } })), call(2)],
      lie('was issued for a different call'),
    ],
  ])('%s', (_what, steps, words) => {
    expect(saidOf(steps, [two])).toBe(words);
  });
});

function moveAt(clock: number): Step {
  return move(clock, 'ada', {}, { created_at: at(1) });
}

describe('the moves of an approval', () => {
  const fault = (what: string) => `earlier receipts contradict the approval apr_1: ${what}`;
  const act = (clock: number, action: string, state: string, facts: object = {}, members: object = {}) =>
    move(
      clock,
      `by-${clock}`,
      { state, ...facts },
      {
        kind: action === 'break_glass' ? 'break_glass' : 'approval',
        action: `approval.${action}`,
        verdict: state === 'approved' || state === 'pending' ? 'ALLOW' : 'DENY',
        ...members,
      },
    );
  it.each<[string, Step[], string | null]>([
    ['may withdraw it after a vote', [act(1, 'approve', 'approved'), act(2, 'revoke', 'revoked')], null],
    ['may break the glass after a vote', [act(1, 'approve', 'approved'), act(2, 'break_glass', 'approved')], null],
    [
      'may not approve it after a denial',
      [act(1, 'deny', 'denied'), act(2, 'approve', 'approved')],
      fault('approval.approve cannot follow approval.deny'),
    ],
    [
      'may not approve it after its expiry',
      [act(1, 'approve', 'pending'), act(2, 'expire', 'expired'), act(3, 'approve', 'approved')],
      fault('approval.approve cannot follow approval.expire'),
    ],
    [
      'may not approve it after broken glass',
      [act(1, 'break_glass', 'approved'), act(2, 'approve', 'approved')],
      fault('approval.approve cannot follow approval.break_glass'),
    ],
    [
      'may not break the glass twice',
      [act(1, 'break_glass', 'approved'), act(2, 'break_glass', 'approved')],
      fault('approval.break_glass cannot follow approval.break_glass'),
    ],
    [
      'may not withdraw it once it is used up',
      [act(1, 'approve', 'approved', { approved_scope: 'once' }), call(2), act(3, 'revoke', 'revoked')],
      fault('approval.revoke cannot follow approval.approve'),
    ],
    [
      'may not be about two calls',
      [act(1, 'approve', 'pending', { approved_judged_hash: pin }), act(2, 'approve', 'approved')],
      fault('approval.approve is about a different call than approval.approve'),
    ],
    [
      'may not be under two policies',
      [act(1, 'approve', 'pending'), act(2, 'approve', 'approved', {}, { policy_hash: pin })],
      fault('approval.approve is about a different call than approval.approve'),
    ],
    [
      'may not be about two intents',
      [
        act(1, 'approve', 'pending', { approved_intent_hash: judged }),
        act(2, 'approve', 'approved', { approved_intent_hash: pin }),
      ],
      fault('approval.approve is about a different call than approval.approve'),
    ],
    [
      'may state the intent in a later record only',
      [act(1, 'approve', 'pending'), act(2, 'approve', 'approved', { approved_intent_hash: pin })],
      null,
    ],
  ])('%s', (_what, steps, words) => {
    expect(saidOf(steps, [])).toBe(words);
  });
});

describe('the rules of a bundle', () => {
  const rule = (id: string, effect: string, approval?: object) => ({ id, effect, approval, match: {} });
  const bundle = (...rules: unknown[]) => ({ format: 'countersign/policy.v1', rules });
  const rules = rulesOfBundle(
    bundle(rule('two', 'escalate', { quorum: 2 }), rule('one', 'escalate'), rule('mail', 'allow'), rule('no', 'deny')),
  );
  const under = (matched_rules: string[], gates: Record<string, string>, verdict = 'ALLOW', kind = 'decision') => {
    const outcomes = Object.entries(gates).map(([gate, outcome]) => ({ gate, outcome }));
    return termsUnder(rules, { kind, verdict, matched_rules, gates: outcomes } as unknown as BoundaryRecord); // only the members that are read
  };
  const escalated = { rules: 'escalate' };

  it('state the terms of each escalation that an ALLOW names', () => {
    const request = expect.objectContaining({ quorum: 2, scope: 'once', timeout: 900 });
    expect(under(['two', 'one'], escalated)).toEqual([request, ordinaryApproval]);
    expect(under(['mail'], { rules: 'pass' })).toEqual([]);
    expect(under(['mail'], { rules: 'pass', budget: 'escalate' })).toEqual([ordinaryApproval]);
    expect(under(['ghost'], { rules: 'deny' }, 'DENY')).toEqual([]);
    expect(under([], {}, 'ALLOW', 'approval')).toEqual([]);
  });

  it.each<[string, string[], Record<string, string>, string]>([
    ['no rule', [], { rules: 'pass' }, 'names no rule'],
    ['no rule that escalates', [], escalated, 'names no rule'],
    ['a rule twice', ['two', 'two'], escalated, 'names a rule twice'],
    ['an unknown rule', ['ghost'], { rules: 'pass' }, 'with the effect allow'],
    ['a rule that denies', ['no'], { rules: 'pass' }, 'with the effect allow'],
    ['a rule that allows beside one that escalates', ['two', 'mail'], escalated, 'with the effect escalate'],
    ['a rule that escalates without an escalation', ['two'], { rules: 'pass' }, 'with the effect allow'],
  ])('do not permit an ALLOW with %s', (_what, ids, gates, words) => {
    expect(() => under(ids, gates)).toThrow(words);
  });

  it.each<[string, Record<string, unknown>]>([
    ['no format', { rules: [] }],
    ['no rules', { format: 'countersign/policy.v1' }],
    ['an invalid rule', bundle({ id: 'x' })],
    ['two rules with one id', bundle(rule('a', 'deny'), rule('a', 'allow'))],
    ['too many rules', bundle(...Array.from({ length: 5001 }, (_, nth) => rule(`r${nth}`, 'deny')))],
  ])('are refused with %s', (_what, value) => {
    expect(() => rulesOfBundle(value)).toThrow('the bundle');
  });
});
