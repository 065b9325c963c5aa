import { describe, expect, it } from '@jest/globals';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { UsedApprovals, type AskedVotes } from '../src/used-approvals.ts';
import { votesAskedBy } from '../src/votes-asked.ts';
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

function saidOf(steps: readonly Step[], requests: readonly AskedVotes[]): string | null {
  const used = new UsedApprovals();
  try {
    for (const { payload, record } of steps) used.take(payload, record, requests);
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
      'is rejected at a second use, even after a second vote',
      [move(1, 'ada', { approved_scope: 'once' }), call(2), move(3, 'bob', { approved_scope: 'once' }), call(4)],
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
      'verifies if its caller voted against it',
      [move(1, 'agent-1', {}, { verdict: 'DENY' }), move(2, 'ada'), call(3)],
      null,
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

  const two = { quorum: 2, approvers: [] };
  const glassBroken = move(1, 'ada', glass, { kind: 'break_glass', action: 'approval.break_glass' });
  it.each<[string, AskedVotes, Step[], string | null]>([
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
      'is rejected with the vote of a person that the rule does not name',
      { quorum: 1, approvers: ['bob'] },
      [move(1, 'ada'), call(2)],
      lie('had 0 of 1 votes'),
    ],
    [
      'verifies with the vote of the person that the rule names',
      { quorum: 1, approvers: ['bob'] },
      [move(1, 'bob'), call(2)],
      null,
    ],
    ['verifies with break glass', two, [glassBroken, call(2)], null],
    ['verifies with one vote in a chain that begins later', two, [move(7, 'ada'), call(8)], null],
  ])('%s, under a rule that requires certain votes', (_what, votes, steps, words) => {
    expect(saidOf(steps, [votes])).toBe(words);
  });
});

describe('the votes that the rules of a bundle require', () => {
  const rule = (id: string, approval?: object, effect = 'escalate') => ({ id, effect, approval, match: {} });

  it('are those of escalations that require more than one vote of anyone', () => {
    const rules = [
      rule('two', { quorum: 2, approvers: [], timeout: 900 }),
      rule('bob', { quorum: 1, approvers: ['bob'] }),
      rule('one', { quorum: 1, approvers: [] }),
      rule('ordinary'),
      rule('denied', { quorum: 2, approvers: [] }, 'deny'),
    ];
    expect([...votesAskedBy({ rules })]).toEqual([
      ['two', expect.objectContaining({ quorum: 2, approvers: [] })],
      ['bob', expect.objectContaining({ quorum: 1, approvers: ['bob'] })],
    ]);
    expect(votesAskedBy({}).size).toBe(0);
  });
});
