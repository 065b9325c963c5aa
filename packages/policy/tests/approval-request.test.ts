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

describe('the approval that satisfies two that are asked for', () => {
  it.each<[string, Partial<ApprovalRequest>, Partial<ApprovalRequest>, Partial<ApprovalRequest> | null]>([
    ['the larger quorum', { quorum: 2 }, { quorum: 3 }, { quorum: 3 }],
    ['the shorter timeout', { timeout: 60 }, { timeout: 90 }, { timeout: 60 }],
    ['the narrower scope', { scope: 'session' }, { scope: 'uses:2' }, { scope: 'uses:2' }],
    ['the longer time lock', { timelock: 5 }, { timelock: 7 }, { timelock: 7 }],
    ['the one time lock', {}, { timelock: 7 }, { timelock: 7 }],
    ['what has to stay unchanged', { unchanged: ['budgets'] }, {}, { unchanged: ['budgets'] }],
    ['those whom one names where the other accepts any approver', {}, { approvers: ['ada'] }, { approvers: ['ada'] }],
    ['whom both name', { approvers: ['ada', 'bob'] }, { approvers: ['bob', 'eve'] }, { approvers: ['bob'] }],
    ['any approver, where neither names one', {}, {}, {}],
    ['nothing, where they name no common approver', { approvers: ['ada'] }, { approvers: ['bob'] }, null],
    ['nothing, where a lock is as long as a life', { timelock: 60 }, { timeout: 60 }, null],
    ['a lock that ends before', { timelock: 59 }, { timeout: 60 }, { timelock: 59, timeout: 60 }],
  ])('has %s', (_what, left, right, strictest) => {
    const expected = strictest === null ? null : request(strictest);
    expect(strictestApproval(request(left), request(right))).toStrictEqual(expected);
    expect(strictestApproval(request(right), request(left))).toStrictEqual(expected);
  });

  it('grants no more than either, and is the one itself where both are one', () => {
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

describe('an approval that was asked for beforehand', () => {
  const granted = {
    ...({ scope: 'uses:2', timeout: 60, timelock: 5 } as const),
    preconditions: { tool_definition_hash: null, budgets: null },
  };

  it.each<[string, Partial<ApprovalRequest>, boolean]>([
    ['the very same', { scope: 'uses:2', timeout: 60, timelock: 5 }, true],
    ['more uses', { scope: 'session', timeout: 60 }, true],
    ['one use', { scope: 'once', timeout: 60 }, false],
    ['a use less', { scope: 'uses:1', timeout: 60 }, false],
    ['a shorter life', { scope: 'uses:2', timeout: 59 }, false],
    ['a longer lock', { scope: 'uses:2', timeout: 60, timelock: 6 }, false],
    ['budgets that stay as they are', { scope: 'uses:2', timeout: 60, unchanged: ['budgets'] }, false],
  ])('is held against a rule that asks for %s', (_what, wanted, fits) => {
    expect(grantsNoMore(granted, request(wanted))).toBe(fits);
  });

  it('has its scopes from the narrowest to the widest', () => {
    const widest = { ...granted, timelock: 0 };
    for (const [at, scope] of scopes.entries())
      expect(scopes.map((wanted) => grantsNoMore({ ...widest, scope }, request({ scope: wanted })))).toEqual(
        scopes.map((_asked, index) => index >= at || (at === 1 && index === 0)), // `uses:1` is once
      );
  });
});
