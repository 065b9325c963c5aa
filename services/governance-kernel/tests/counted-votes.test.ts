import { describe, expect, it } from '@jest/globals';
import type { PrincipalId } from '@countersign/contracts';
import { carriedBy, withCountedVotes } from '../src/controls/approvals/counted-votes.ts';
import type { ApprovalTermsRow } from '../src/controls/voting/approval-terms.ts';
import { electorate, nowMs, rowWith, termsWith } from './_approval-row.ts';
import { userCalled } from './_assertions.ts';

describe('the votes that count', () => {
  const [passkeys, signatures] = [termsWith({ passkeysSinceMs: nowMs }), termsWith({ signaturesOnly: true })];
  const voted = {
    ...{ approvedBy: ['ann', 'bob', 'cem', 'dora'], approvedWith: ['bearer', 'signature', 'passkey'] },
    ...{
      approvedAs: ['partner', 'owner', 'operator'],
      approvedCredentials: ['assertion:ann', 'ed25519:b', 'passkey:c'],
    },
  };
  const at = (nth: number) => ({
    by: voted.approvedBy[nth],
    as: voted.approvedAs[nth] ?? '',
    credential: voted.approvedCredentials[nth] ?? 'operator_bearer',
  });
  const columnsOf = (names: string[]) => {
    const votes = names.map((name) => at(voted.approvedBy.indexOf(name)));
    return { approvedAs: votes.map((one) => one.as), approvedCredentials: votes.map((one) => one.credential) };
  };

  it.each([
    ['the tenant has no requirement', null, voted.approvedBy, ['bearer', 'signature', 'passkey', 'claim']],
    ['signatures are required', signatures, ['bob', 'cem'], ['signature', 'passkey']],
    ['passkeys are required', passkeys, ['cem'], ['passkey']],
  ])('depend on the approval terms: %s', (_what, of, approvedBy, approvedWith) => {
    const row = rowWith(voted);
    const counted = { ...row, approvedBy, approvedWith, ...columnsOf(approvedBy) };
    expect(withCountedVotes(row, electorate({ terms: of }))).toEqual(counted);
    const isRevoked = (who: PrincipalId) => who === 'cem';
    expect(withCountedVotes(row, electorate({ terms: of, isRevoked })).approvedBy).toEqual(
      approvedBy.filter((who) => who !== 'cem'),
    );
    const values = rowWith({ ...voted, state: 'approved' });
    expect(withCountedVotes(values, electorate({ terms: of, isRevoked: () => true }))).toBe(values);
  });

  const [ada, ben, cleo] = ['ADA', 'BEN', 'CEM'].map(userCalled) as [string, string, string];
  const members = (roles: object, version = 2) => ({ members: { tenant: 'acme', version, roles } });
  const byPeople = { approvedBy: [ada, ben, 'installer'], approvedWith: ['bearer', 'bearer', 'bearer'] };

  it('are the votes of members with a voting role, and of approvers of the installation', () => {
    const row = rowWith(byPeople);
    const votersUnder = (roles: object, changes: object = {}) =>
      withCountedVotes({ ...row, ...changes }, electorate(members(roles))).approvedBy;
    expect(votersUnder({ [ada]: 'owner', [ben]: 'partner' })).toEqual([ada, ben, 'installer']);
    expect(votersUnder({ [ada]: 'owner' })).toEqual([ada, 'installer']);
    expect(votersUnder({})).toEqual(['installer']);
    expect(votersUnder({ [ada]: 'owner', [ben]: 'partner' }, { sponsor: ada as PrincipalId })).toEqual([
      ben,
      'installer',
    ]);
    expect(votersUnder({ [ada]: 'owner' }, { sponsor: ada as PrincipalId })).toEqual([ada, 'installer']);
  });

  it('include one vote per credential, even if an older kernel counted several claimed names', () => {
    const claimed = rowWith({ quorum: 3, approvedBy: ['ann', 'bob'], approvedWith: ['claim', 'claim'] });
    expect(withCountedVotes(claimed, electorate()).approvedBy).toEqual(['ann']);
  });

  it('allow no call of a voter’s own agent, unless that call requested the approval', () => {
    const row = rowWith({
      quorum: 2,
      approvedBy: [ada, ben],
      approvedWith: ['bearer', 'bearer'],
      brokenBy: cleo,
      brokenWith: 'bearer',
    });
    const carried = (sponsor: string | null, changes: object = {}) =>
      carriedBy({ ...row, ...changes }, { terms: null, sponsor: sponsor as PrincipalId | null });
    expect(carried(null)).toEqual({ brokenBy: cleo, approvedBy: [ada, ben] });
    expect(carried(ada)).toEqual({ brokenBy: cleo, approvedBy: [] });
    expect(carried(cleo)).toEqual({ brokenBy: null, approvedBy: [ada, ben] });
    expect(carried(ada, { sponsor: ada })).toEqual({ brokenBy: cleo, approvedBy: [ada, ben] });
  });

  it('allow a call only as a whole quorum', () => {
    const carried = (changes: object, terms: ApprovalTermsRow | null) =>
      carriedBy(rowWith({ ...voted, ...changes }), { terms, sponsor: null });
    expect(carried({ quorum: 2 }, signatures)).toEqual({ brokenBy: null, approvedBy: ['bob', 'cem'] });
    expect(carried({ quorum: 3 }, signatures)).toEqual({ brokenBy: null, approvedBy: [] });
    expect(carried({ quorum: 1 }, signatures)).toEqual({ brokenBy: null, approvedBy: ['bob', 'cem'] });
  });

  it.each([
    ['bearer', null, 'ann'],
    ['bearer', passkeys, null],
    ['passkey', passkeys, 'ann'],
    ['signature', signatures, 'ann'],
    [null, null, 'ann'],
    [null, passkeys, null],
    [null, signatures, null],
  ])('include broken glass with the proof %p only if the approval terms accept it', (brokenWith, of, brokenBy) => {
    const glass = { brokenBy: 'ann', brokenWith, quorum: 9 };
    expect(carriedBy(rowWith(glass), { terms: of, sponsor: null })).toEqual({ brokenBy, approvedBy: [] });
  });
});
