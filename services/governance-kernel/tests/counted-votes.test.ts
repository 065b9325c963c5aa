import { describe, expect, it } from '@jest/globals';
import type { PrincipalId } from '@countersign/contracts';
import { carriedBy, withCountedVotes } from '../src/approvals/counted-votes.ts';
import type { ApprovalTermsRow } from '../src/voting/approval-terms.ts';
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
    ['nothing was set', null, voted.approvedBy, ['bearer', 'signature', 'passkey', 'claim']],
    ['nothing but a signature decides', signatures, ['bob', 'cem'], ['signature', 'passkey']],
    ['there are passkeys', passkeys, ['cem'], ['passkey']],
  ])('where %s', (_what, of, approvedBy, approvedWith) => {
    const row = rowWith(voted);
    const counted = { ...row, approvedBy, approvedWith, ...columnsOf(approvedBy) };
    expect(withCountedVotes(row, electorate({ terms: of }))).toEqual(counted);
    const isRevoked = (who: PrincipalId) => who === 'cem';
    expect(withCountedVotes(row, electorate({ terms: of, isRevoked })).approvedBy).toEqual(
      approvedBy.filter((who) => who !== 'cem'),
    );
    const given = rowWith({ ...voted, state: 'approved' });
    expect(withCountedVotes(given, electorate({ terms: of, isRevoked: () => true }))).toBe(given);
  });

  const [ada, ben, cleo] = ['ADA', 'BEN', 'CEM'].map(userCalled) as [string, string, string];
  const members = (roles: object, version = 2) => ({ members: { tenant: 'acme', version, roles } });
  const byPeople = { approvedBy: [ada, ben, 'installer'], approvedWith: ['bearer', 'bearer', 'bearer'] };

  it('are those of people who still hold a role that votes, and of the installation’s approvers', () => {
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

  it('are one for each credential, where a kernel of before counted the names that it claimed', () => {
    const claimed = rowWith({ quorum: 3, approvedBy: ['ann', 'bob'], approvedWith: ['claim', 'claim'] });
    expect(withCountedVotes(claimed, electorate()).approvedBy).toEqual(['ann']);
  });

  it('carry no call of a voter’s own agent, unless that call requested the approval', () => {
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

  it('carry a call as the whole quorum, or not at all', () => {
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
  ])('count a glass that was broken with %p as one of its proof', (brokenWith, of, brokenBy) => {
    const glass = { brokenBy: 'ann', brokenWith, quorum: 9 };
    expect(carriedBy(rowWith(glass), { terms: of, sponsor: null })).toEqual({ brokenBy, approvedBy: [] });
  });
});
