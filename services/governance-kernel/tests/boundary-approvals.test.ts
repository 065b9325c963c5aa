import { describe, expect, it } from '@jest/globals';
import type { ApprovalId, Digest, PrincipalId } from '@countersign/contracts';
import type { Facts } from '@countersign/policy';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import { approvals } from '../src/controls/approvals/approvals.ts';
import { approvalFact, presentedApproval, standingApprovals } from '../src/decision/approval-fact.ts';
import type { Situation } from '../src/decision/facts.ts';
import { put } from '../src/ledger/control.ts';
import { approvalTerms } from '../src/controls/voting/approval-terms.ts';
import { acme, agent, batchOf, callOf, session } from './_batch.ts';

const nowMs = 1_000_000;
const hash = (letter: string) => `sha256:${letter.repeat(64)}` as Digest;
const id = (name: string) => `apr_${name}` as ApprovalId;
const bob = 'bob' as PrincipalId; // matches the schema

const row = {
  ...{ id: id('a'), tenant: acme, session, state: 'pending', requestedBy: agent },
  ...{ intentHash: hash('1'), judgedHash: hash('2'), policyHash: hash('3') },
  preconditions: { tool_definition_hash: null, budgets: null },
  ...{ quorum: 1, approvers: [], sponsor: null, scope: 'uses:2', usesRemaining: 2 },
  ...{ approvedBy: [], approvedWith: [], approvedAs: [], approvedCredentials: [] },
  ...{ rejectionReason: null, timelockSeconds: 60, timelockUntilMs: null },
  ...{ brokenBy: null, brokenReason: null, brokenAtMs: null, brokenWith: null },
  ...{ createdAtMs: nowMs - 1_000, updatedAtMs: nowMs - 1_000, expiresAtMs: nowMs + 9_000 },
} as unknown as ApprovalRow; // nothing else is read
const approved = { ...row, state: 'approved', approvedBy: [bob], approvedWith: ['claim'] } as const;

const situationOf = (change: Partial<Situation> = {}, approvalGrant?: ApprovalId) =>
  ({
    ...{ call: callOf({}, approvalGrant === undefined ? {} : { approvalGrant }), intent: { intent_hash: hash('1') } },
    ...{ judged: { hash: hash('2') }, policy: { hash: hash('3') }, nowMs },
    ...change,
  }) as Situation; // nothing else is read

/** The terms of a tenant with enrolled passkeys. Votes by a mere claim no longer count there. */
const passkeys = put(approvalTerms, {
  ...{ tenant: acme, version: 0, signaturesOnly: false, breakGlass: false },
  ...{ passkeysSinceMs: 1, updatedAtMs: 1 },
});

const nothingPinned: Pick<Facts, 'registry' | 'budgets'> = {
  registry: { state: 'not_applicable' },
  budgets: { state: 'known', value: [] },
};
const batchWith = (rows: readonly ApprovalRow[]) => batchOf(...rows.map((one) => put(approvals, one)));
const current = (rows: readonly ApprovalRow[], situation = situationOf()) =>
  standingApprovals(batchWith(rows), situation, () => nothingPinned).map((one) => one.id);

describe('an approval covers a call', () => {
  it.each<[string, Partial<ApprovalRow>, Partial<Situation>]>([
    ['if it has not expired', { expiresAtMs: nowMs + 1 }, {}],
    ['if it was requested without a policy and none is active', { policyHash: null }, { policy: null }],
    ['if it was denied', { state: 'denied' }, {}],
    ['if its votes make its quorum', approved, {}],
    ['if one person used break glass', { state: 'approved', brokenBy: bob, brokenWith: 'claim' }, {}],
  ])('%s', (_case, change, situation) => {
    expect(current([{ ...row, ...change }], situationOf(situation))).toEqual([row.id]);
  });

  it.each<[string, Partial<ApprovalRow>, Partial<Situation>]>([
    ['that has expired', { expiresAtMs: nowMs }, {}],
    ['under another policy', { policyHash: hash('4') }, {}],
    ['under a policy, when no policy is active', {}, { policy: null }],
    ['without a policy, when a policy is active', { policyHash: null }, {}],
    ['with another judged hash', { judgedHash: hash('4') }, {}],
    ['of another intent', { intentHash: hash('4') }, {}],
    ['whose votes do not make its quorum', { ...approved, quorum: 2 }, {}],
    ['for another tool definition', { preconditions: { tool_definition_hash: hash('5'), budgets: null } }, {}],
  ])('unless it is an approval %s', (_case, change, situation) => {
    expect(current([{ ...row, ...change }], situationOf(situation))).toEqual([]);
  });

  it('unless its only vote was by a mere claim of a name, and passkeys are enrolled now', () => {
    const batch = batchOf(put(approvals, approved), put(approvals, { ...row, id: id('b') }), passkeys);
    expect(standingApprovals(batch, situationOf(), () => nothingPinned).map((one) => one.id)).toEqual([id('b')]);
  });

  it('before older approvals of the same call', () => {
    const rows = ['b', 'd', 'a', 'c'].map((name) => ({ ...row, id: id(name) }));
    expect(current(rows)).toEqual(['d', 'c', 'b', 'a'].map(id));
    expect(current([...rows].reverse())).toEqual(['d', 'c', 'b', 'a'].map(id));
  });
});

describe('the approval of a call', () => {
  const [pending, granted, denied] = [
    { ...row, id: id('p') },
    { ...approved, id: id('g') },
    { ...row, id: id('d') },
  ];
  const all: ApprovalRow[] = [{ ...denied, state: 'denied' }, pending, granted];
  const presented = (rows: readonly ApprovalRow[], grant?: ApprovalId) =>
    presentedApproval(batchWith(all), situationOf({}, grant), rows)?.id ?? null;

  it('is the presented approval, whatever other approvals exist', () => {
    expect(presented(all, id('d'))).toBe(id('d'));
    expect(presented(all, id('unknown'))).toBeNull();
  });

  it('is otherwise an approved, else a pending, else a denied approval', () => {
    expect(presented(all)).toBe(id('g'));
    expect(presented(all.filter(({ state }) => state !== 'approved'))).toBe(id('p'));
    expect(presented(all.filter(({ state }) => state === 'denied'))).toBe(id('d'));
    expect(presented([{ ...row, state: 'revoked' }])).toBeNull();
    expect(presented([])).toBeNull();
  });
});

describe('the approval fact', () => {
  const fact = {
    ...{ approval_id: row.id, state: 'approved', intent_hash: hash('1'), judged_hash: hash('2') },
    ...{ policy_hash: hash('3'), preconditions: row.preconditions, approved_by: [bob], broken_by: null },
    ...{ scope: 'uses:2', timeout: 10, timelock: 60, locked_until: null, uses_remaining: 2, expired: false },
    rejection_reason: null,
  };
  const factOf = (change: Partial<ApprovalRow>, ...terms: (typeof passkeys)[]) =>
    approvalFact(batchOf(...terms), situationOf(), { ...approved, ...change });

  it('contains the approvers and the scope', () => {
    expect(factOf({})).toEqual(fact);
    const lockedUntil = new Date(nowMs + 1).toISOString();
    expect(factOf({ timelockUntilMs: nowMs + 1 })).toEqual({ ...fact, locked_until: lockedUntil });
  });

  it('omits votes that no longer count', () => {
    expect(factOf({ brokenBy: bob, brokenWith: 'claim' })).toEqual({ ...fact, broken_by: bob });
    expect(factOf({ brokenBy: bob, brokenWith: 'claim' }, passkeys)).toEqual({ ...fact, approved_by: [] });
  });

  it.each(['pending', 'denied', 'expired', 'revoked'] as const)('contains the state %s', (state) => {
    expect(factOf({ state, rejectionReason: 'no' })).toEqual({ ...fact, state, rejection_reason: 'no' });
  });

  it('has the state approved when the approval is used up', () => {
    expect(factOf({ state: 'consumed', usesRemaining: 0 })).toEqual({ ...fact, uses_remaining: 0 });
  });

  it('states that the approval has expired', () => {
    expect(factOf({ expiresAtMs: nowMs + 1, createdAtMs: nowMs - 9_999 })?.expired).toBe(false);
    expect(factOf({ expiresAtMs: nowMs, createdAtMs: nowMs - 10_000 })).toEqual({ ...fact, expired: true });
  });

  it('is null without an approval, and matches no call when the presented approval is unknown', () => {
    expect(approvalFact(batchOf(), situationOf(), null)).toBeNull();
    expect(approvalFact(batchOf(), situationOf({}, id('x')), null)).toEqual({
      ...{ approval_id: id('x'), state: 'approved', intent_hash: '', judged_hash: '', policy_hash: null },
      ...{ preconditions: { tool_definition_hash: null, budgets: null }, approved_by: [], broken_by: null },
      ...{ scope: 'once', timeout: 0, timelock: 0, locked_until: null, uses_remaining: 0, expired: false },
      rejection_reason: null,
    });
  });
});
