import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { grantsNoMore } from '../src/index.ts';
import { ordinaryApproval, strictestApproval, type ApprovalRequest } from '../src/approval-request.ts';

const request = (changes: Partial<ApprovalRequest> = {}): ApprovalRequest => ({ ...ordinaryApproval, ...changes });
const scopes = ['once', 'uses:1', 'uses:2', 'uses:9999', 'session', 'until'] as const;
const requests = fc
  .record({
    quorum: fc.integer({ min: 1, max: 3 }),
    approvers: fc.subarray(['ada', 'bob', 'eve']),
    timeout: fc.integer({ min: 60, max: 600 }),
    timelock: fc.option(fc.integer({ min: 1, max: 59 }), { nil: undefined }),
    scope: fc.constantFrom(...scopes),
  })
  .map(({ timelock, ...rest }) => request({ ...rest, ...(timelock === undefined ? {} : { timelock }) }));

describe('the strictest approval of two requests', () => {
  it.each<[string, Partial<ApprovalRequest>, Partial<ApprovalRequest>, Partial<ApprovalRequest> | null]>([
    ['the larger quorum', { quorum: 2 }, { quorum: 3 }, { quorum: 3 }],
    ['the shorter timeout', { timeout: 60 }, { timeout: 90 }, { timeout: 60 }],
    ['the narrower scope', { scope: 'session' }, { scope: 'uses:2' }, { scope: 'uses:2' }],
    ['the longer time lock', { timelock: 5 }, { timelock: 7 }, { timelock: 7 }],
    ['the only time lock', {}, { timelock: 7 }, { timelock: 7 }],
    ['the facts that must stay unchanged', { unchanged: ['budgets'] }, {}, { unchanged: ['budgets'] }],
    [
      'the named approvers if the other request accepts any approver',
      {},
      { approvers: ['ada'] },
      { approvers: ['ada'] },
    ],
    [
      'the approvers that both requests name',
      { approvers: ['ada', 'bob'] },
      { approvers: ['bob', 'eve'] },
      { approvers: ['bob'] },
    ],
    ['any approver if neither request names one', {}, {}, {}],
    ['no value if the requests name no common approver', { approvers: ['ada'] }, { approvers: ['bob'] }, null],
    ['no value if the time lock is as long as the timeout', { timelock: 60 }, { timeout: 60 }, null],
    ['a time lock that ends before the timeout', { timelock: 59 }, { timeout: 60 }, { timelock: 59, timeout: 60 }],
  ])('has %s', (_what, left, right, strictest) => {
    const expected = strictest === null ? null : request(strictest);
    expect(strictestApproval(request(left), request(right))).toStrictEqual(expected);
    expect(strictestApproval(request(right), request(left))).toStrictEqual(expected);
  });

  it('grants no more than either request, and equals the request if both are equal', () => {
    fc.assert(
      fc.property(requests, requests, (left, right) => {
        expect(strictestApproval(left, left)).toEqual(left);
        const both = strictestApproval(left, right);
        if (both === null) return;
        const granted = {
          ...both,
          timelock: both.timelock ?? 0,
          preconditions: { tool_definition_hash: null, budgets: null },
        };
        for (const request of [left, right]) expect(grantsNoMore(granted, request)).toBe(true);
      }),
    );
  });
});

describe('an approval that was requested in advance', () => {
  const granted = {
    ...({ scope: 'uses:2', timeout: 60, timelock: 5 } as const),
    preconditions: { tool_definition_hash: null, budgets: null },
  };

  it.each<[string, Partial<ApprovalRequest>, boolean]>([
    ['the same approval', { scope: 'uses:2', timeout: 60, timelock: 5 }, true],
    ['more uses', { scope: 'session', timeout: 60 }, true],
    ['one use', { scope: 'once', timeout: 60 }, false],
    ['one use less', { scope: 'uses:1', timeout: 60 }, false],
    ['a shorter timeout', { scope: 'uses:2', timeout: 59 }, false],
    ['a longer time lock', { scope: 'uses:2', timeout: 60, timelock: 6 }, false],
    ['unchanged budgets', { scope: 'uses:2', timeout: 60, unchanged: ['budgets'] }, false],
  ])('must grant no more than a rule that requires %s', (_what, wanted, fits) => {
    expect(grantsNoMore(granted, request(wanted))).toBe(fits);
  });

  it('may have a narrower scope than the rule permits, but not a wider one', () => {
    const widest = { ...granted, timelock: 0 };
    for (const [at, scope] of scopes.entries())
      expect(scopes.map((wanted) => grantsNoMore({ ...widest, scope }, request({ scope: wanted })))).toEqual(
        scopes.map((_asked, index) => index >= at || (at === 1 && index === 0)), // `uses:1` equals `once`
      );
  });
});
