import { describe, expect, it } from '@jest/globals';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { UsedApprovals, type AskedVotes } from '../src/used-approvals.ts';
import { votesAskedBy } from '../src/votes-asked.ts';
import { hashOf } from './chain-fixture.ts';

const pin = hashOf('definition');
const judged = hashOf('judged');
const at = (second: number) => `2026-02-01T00:00:0${second}.000Z`;

type Step = { payload: ReceiptPayload; record: BoundaryRecord | undefined };

/** A receipt with its record, by the members that are looked at. */
function step(lamport_clock: number, members: Record<string, unknown>, { session = 's', isThere = true } = {}): Step {
  const { kind = 'decision', action = 'tool.call', facts = {}, verdict = 'ALLOW', ...rest } = members;
  const payload = { tenant_id: 'acme', session_id: session, lamport_clock, kind, action };
  const record = {
    ...{ kind, verdict, approval_id: 'apr_1', principal_id: 'agent-1', created_at: at(5) },
    ...{ judged_hash: judged, tool_definition_hash: pin, intent: { action, facts }, ...rest },
  };
  const stored: unknown = JSON.parse(JSON.stringify(record)); // without members that are undefined
  return { payload, record: isThere ? stored : undefined } as Step; // the members that are looked at
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

/** The fault of the last of them; `null` when there is none. */
function said(...steps: Step[]): string | null {
  return saidOf(steps, []);
}

function saidOf(steps: readonly Step[], asked: readonly AskedVotes[]): string | null {
  const used = new UsedApprovals();
  try {
    for (const { payload, record } of steps) used.take(payload, record, asked);
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
    ['with the votes before it', [move(1, 'ada'), call(2)], null],
    ['within its uses', [move(1, 'ada', { approved_scope: 'uses:2' }), call(2), call(3)], null],
    [
      'more often than it may be',
      [move(1, 'ada', { approved_scope: 'uses:2' }), call(2), call(3), call(4)],
      lie('had been used 2 times already'),
    ],
    [
      'a second time, after a second vote',
      [move(1, 'ada', { approved_scope: 'once' }), call(2), move(3, 'bob', { approved_scope: 'once' }), call(4)],
      lie('had been used 1 times already'),
    ],
    ['at its end', [move(1, 'ada', { approved_expires_at: at(5) }), call(2)], lie('had expired')],
    ['just before its end', [move(1, 'ada', { approved_expires_at: at(6) }), call(2)], null],
    ['that no vote gave', [call(1)], lie('no vote had given')],
    ['that waits for more votes', [move(1, 'ada', { state: 'pending' }), call(2)], lie('no vote had given')],
    ['with its own vote', [move(1, 'AGENT-1'), call(2)], lie('has the vote of the principal that asked for it')],
    [
      'with its own vote before another',
      [move(1, 'agent-1', { state: 'pending' }), move(2, 'ada'), call(3)],
      lie('has the vote of the principal that asked for it'),
    ],
    ['after it voted against it itself', [move(1, 'agent-1', {}, { verdict: 'DENY' }), move(2, 'ada'), call(3)], null],
    ['of another call', [move(1, 'ada'), call(2, { judged_hash: pin })], lie('was given for another call')],
    ['before its moment', [move(1, 'ada', locked), call(2, { created_at: at(4) })], lie('had to wait')],
    ['at its moment', [move(1, 'ada', locked), call(2)], null],
    [
      'under another pin',
      [move(1, 'ada'), call(2, { tool_definition_hash: judged })],
      lie('was given under another definition of the tool'),
    ],
    [
      'of before there were preconditions',
      [move(1, 'ada', { approved_preconditions: undefined }), call(2, { tool_definition_hash: judged })],
      null,
    ],
    ['twice, as its scope may allow', [move(1, 'ada'), call(2), call(3)], null],
    ['by broken glass', [move(1, 'ada', glass), call(2)], null],
    [
      'by broken glass, twice',
      [move(1, 'ada', glass), call(2), call(3)],
      lie('one person broke the glass for, once and for a short time'),
    ],
    [
      'by broken glass, when it had ended',
      [move(1, 'ada', glass), call(2, { created_at: at(8) })],
      lie('one person broke the glass for, once and for a short time'),
    ],
    ['and was denied', [call(1, { verdict: 'DENY' })], null],
    ['and names none', [call(1, { approval_id: null })], null],
    ['after a question that gave nothing', [step(1, { kind: 'approval', action: 'approval.request' })], null],
  ])('%s', (_what, steps, words) => {
    expect(said(...steps)).toBe(words);
  });

  it('is held against the votes of its own chain', () => {
    const other = { session: 'other' };
    expect(said(move(1, 'ada', {}, {}, other), call(1))).toBe(lie('no vote had given'));
  });

  it('is held against nothing where the record of a vote is not here', () => {
    expect(said(move(1, 'ada', {}, {}, { isThere: false }), call(2))).toBeNull();
    expect(said(call(1, {}, { isThere: false }), call(2))).toBe(lie('no vote had given'));
  });

  const asking = step(7, { kind: 'approval', action: 'approval.request' });
  const pending = { state: 'pending' };
  it.each<[string, Step[], string | null]>([
    ['has no vote here', [call(7)], null],
    ['has no vote behind its question', [asking, call(8)], lie('no vote had given')],
    ['was denied last', [move(7, 'ada', { state: 'denied' }, { verdict: 'DENY' }), call(8)], lie('no vote had given')],
    [
      'was used twice here',
      [move(7, 'ada', { approved_scope: 'once' }), call(8), call(9)],
      lie('had been used 1 times already'),
    ],
    ['may have been used before', [move(7, 'ada', { approved_scope: 'uses:2' }), call(8), call(9)], null],
  ])('in a chain that begins later, %s', (_what, steps, words) => {
    expect(said(...steps)).toBe(words);
  });

  const two = { quorum: 2, approvers: [] };
  const glassBroken = move(1, 'ada', glass, { kind: 'break_glass', action: 'approval.break_glass' });
  it.each<[string, AskedVotes, Step[], string | null]>([
    ['of one', two, [move(1, 'ada'), call(2)], lie('had 1 of 2 votes')],
    ['of one person twice', two, [move(1, 'ada', pending), move(2, 'ada'), call(3)], lie('had 1 of 2 votes')],
    [
      'of one person in two spellings',
      two,
      [move(1, 'ada', pending), move(2, 'Ada'), call(3)],
      lie('had 1 of 2 votes'),
    ],
    ['of two', two, [move(1, 'ada', pending), move(2, 'bob'), call(3)], null],
    ['of a stranger', { quorum: 1, approvers: ['bob'] }, [move(1, 'ada'), call(2)], lie('had 0 of 1 votes')],
    ['of the one who is named', { quorum: 1, approvers: ['bob'] }, [move(1, 'bob'), call(2)], null],
    ['of no person, by broken glass', two, [glassBroken, call(2)], null],
    ['of one here, and others before', two, [move(7, 'ada'), call(8)], null],
  ])('under a rule that wants more votes: %s', (_what, votes, steps, words) => {
    expect(saidOf(steps, [votes])).toBe(words);
  });
});

describe('the votes that the rules of a bundle ask for', () => {
  const rule = (id: string, approval?: object, effect = 'escalate') => ({ id, effect, approval, match: {} });

  it('are those of escalations that want more than any one vote', () => {
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
