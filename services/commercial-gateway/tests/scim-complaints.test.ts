import { describe, expect, it } from '@jest/globals';
import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { accountAddress } from '../src/scim/account-address.ts';
import { requireUnique } from '../src/scim/find-conflict.ts';
import { parseUser, patchUser, replaceUser } from '../src/scim/parse-resource.ts';
import { planUserChange } from '../src/scim/plan-user-change.ts';
import { matches } from '../src/scim/predicate.ts';
import { parseUserFilter, type UserPath } from '../src/scim/resource-filters.ts';
import { nextVersion } from '../src/scim/resource-version.ts';
import { userView } from '../src/scim/resource-view.ts';
import { ada, patchedAda, patchedTeam, patchOf, refusalOf, team } from './_scim.ts';

const alone = { isOwner: true, otherOwners: 0 };
const member = { isOwner: false, otherOwners: 1 };
const values: Partial<Record<UserPath, string[]>> = { externalId: ['ext-1'], userName: [ada.userName], id: ['u-1'] };
const finds = (filter: string) => matches(parseUserFilter(filter), (path) => values[path] ?? []);
const enterprise = scimSchemas.enterpriseUser;

/** Each case is a known problem of another SCIM server, with the issue that describes it. */
describe('known problems of identity providers', () => {
  it.each([
    ['ssoready#155: Entra sends Replace with the text False', { op: 'Replace', path: 'active', value: 'False' }],
    ['langwatch#7121: the path is capitalised', { op: 'Replace', path: 'Active', value: 'False' }],
    ['oneuptime#3852: Okta sends an object without a path', { op: 'replace', value: { active: false } }],
    ['Entra sends the text in an object without a path', { op: 'Replace', value: { active: 'False' } }],
    ['langwatch#7140: the path is qualified', { op: 'replace', path: `${scimSchemas.user}:active`, value: false }],
    [
      'langwatch#7140: the path is qualified in capitals',
      { op: 'replace', path: `${scimSchemas.user.toUpperCase()}:ACTIVE`, value: false },
    ],
    ['a member name is qualified', { op: 'add', value: { [`${scimSchemas.user}:active`]: 'false' } }],
  ])('%s: the person loses access', (_complaint, operation) => {
    const after = patchedAda(operation);
    expect(after).toEqual({ ...ada, active: false });
    expect(planUserChange(ada, after, member)).toEqual({
      effects: [{ kind: 'deactivate', ends: ['sessions', 'keys', 'device_tokens', 'unused_approvals'] }],
      refusal: null,
    });
  });

  it.each([
    ['active', 'no'],
    ['active', 1],
    ['active', {}],
    ['userName', ''],
    ['userName', null],
    ['userName', { display: 'x' }],
  ])('a meaningless value is refused instead of ignored: %s %j', (path, value) => {
    expect(refusalOf(() => patchedAda({ op: 'replace', path, value }))).toBe(`INVALID_REQUEST invalidValue ${path}`);
  });

  it('an unknown attribute is refused by PATCH, and ignored by POST as Okta needs it', () => {
    expect(refusalOf(() => patchedAda({ op: 'add', path: 'shoeSize', value: '41' }))).toContain('invalidPath shoeSize');
    expect(refusalOf(() => patchedAda({ op: 'add', value: { shoeSize: '41' } }))).toContain('invalidPath shoeSize');
    expect(refusalOf(() => patchedAda({ op: 'add', path: 'name.shoeSize', value: '41' }))).toContain('invalidPath');
    const name = { givenName: 'A', shoeSize: '41' };
    expect(refusalOf(() => patchedAda({ op: 'add', path: 'name', value: name }))).toContain(
      'invalidPath name.shoeSize',
    );
    expect(parseUser({ userName: 'x', password: 'secret', groups: [], id: 'theirs', meta: {}, shoeSize: 41 })).toEqual({
      userName: 'x',
      active: true,
    });
  });

  it('Okta may send the id of a group with its new name, and a different id is refused', () => {
    expect(patchedTeam({ op: 'replace', value: { id: 'g-1', displayName: 'Crew' } }).displayName).toBe('Crew');
    expect(refusalOf(() => patchedTeam({ op: 'replace', path: 'id', value: 'g-2' }))).toBe(
      'INVALID_REQUEST mutability id',
    );
  });

  it.each([
    ['better-auth#10018: dots in the value', 'a.b@c.d'],
    ['colons in the value', 'urn:x:1'],
  ])('%s of a filter on members are not separators', (_complaint, value) => {
    const { members } = patchedTeam({ op: 'remove', path: `members[value eq "${value}"]` });
    expect(members).toEqual(team.members.filter((one) => one.value !== value));
  });

  it('Entra removes members by value, and repeats the request', () => {
    const once = patchedTeam({ op: 'Remove', path: 'members', value: [{ value: 'usr-3' }] });
    expect(once.members?.map(({ value }) => value)).toEqual(['a.b@c.d', 'urn:x:1']);
    const last = patchedTeam({ op: 'remove', path: 'members' });
    expect(last).toEqual({ displayName: 'Team' });
    expect(patchedTeam({ op: 'remove', path: 'members[value eq "gone"]' })).toEqual(team);
  });

  it('Entra sets a value that its filter describes, and a manager as a bare ID', () => {
    const after = patchedAda(
      { op: 'Add', path: 'phoneNumbers[type eq "Mobile"].value', value: '+1' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'new@example.com' },
      { op: 'Add', path: `${enterprise}:manager`, value: 'boss-1' },
      {
        op: 'Add',
        value: { [enterprise]: { department: 'R&D' }, [`${enterprise}:employeeNumber`]: 7, 'name.givenName': 'A' },
      },
    );
    expect(after).toEqual({
      ...ada,
      name: { givenName: 'A', familyName: 'Byron' },
      emails: [{ value: 'new@example.com', type: 'work', primary: true }],
      phoneNumbers: [{ value: '+1', type: 'Mobile' }],
      [enterprise]: { department: 'R&D', employeeNumber: '7', manager: { value: 'boss-1' } },
    });
    expect(
      refusalOf(() => patchedAda({ op: 'replace', path: 'emails[type eq "home"]', value: { value: 'x@y.z' } })),
    ).toContain('noTarget');
  });

  it.each([
    ['filter by externalId', 'externalId eq "ext-1"', true],
    ['langwatch#6973: unquoted values', 'externalId eq ext-1', true],
    ['unquoted addresses', 'userName eq ada@example.com', true],
    ['unquoted addresses in parentheses', '(userName eq ada@example.com) and id eq u-1', true],
    ['PostHog#42253: userName in another case', 'USERNAME EQ "ADA@example.COM"', true],
    ['externalId in another case is another id', 'externalId eq "EXT-1"', false],
    ['qualified names', `${scimSchemas.user}:userName eq "ada@example.com"`, true],
    ['ids that look like numbers', 'externalId eq 0012', false],
  ])('%s', (_complaint, filter, isFound) => {
    expect(finds(filter)).toBe(isFound);
  });

  it('PostHog#42253: userName is returned as it was sent', () => {
    const times = { createdAt: '2026-11-28T00:00:00.000Z', changedAt: '2026-11-28T00:00:00.000Z' };
    const view = userView({ id: 'u-1', attributes: parseUser(ada), version: 1, ...times, groups: [] }, '/scim/v2', {});
    expect(view).toMatchObject({
      userName: 'Ada@Example.com',
      meta: { version: 'W/"1"', location: '/scim/v2/Users/u-1' },
    });
  });

  it('anythingmcp#535: the last owner stays, the identity provider receives the reason, and the keys end', () => {
    for (const after of [{ ...ada, active: false }, null]) {
      const { effects, refusal } = planUserChange(ada, after, alone);
      expect(refusal).toMatchObject({ code: 'LAST_OWNER', status: 409 });
      expect(effects).toEqual([
        { kind: 'end_access', ends: ['sessions', 'keys', 'device_tokens', 'unused_approvals'] },
      ]);
      expect(planUserChange(ada, after, { isOwner: true, otherOwners: 1 }).refusal).toBeNull();
    }
  });

  it('sentry-docs#16258: a periodic active:true changes nothing', () => {
    const after = patchedAda({ op: 'Replace', path: 'active', value: 'True' });
    expect(nextVersion({ before: ada, version: 4 }, after)).toBe(4);
    expect(planUserChange(ada, after, alone)).toEqual({ effects: [], refusal: null });
  });

  it('fusionauth#3311: a person is reactivated', () => {
    const before = { ...ada, active: false };
    const after = patchUser(before, patchOf({ op: 'replace', path: 'active', value: true }));
    expect(planUserChange(before, after, member).effects).toEqual([{ kind: 'reactivate' }]);
    expect(nextVersion({ before, version: 4 }, after)).toBe(5);
  });

  it('a PUT without active neither ends nor restores access', () => {
    for (const active of [true, false]) expect(replaceUser({ ...ada, active }, { userName: 'x' }).active).toBe(active);
  });

  it('DELETE ends access, and has no effect for a person without access', () => {
    expect(planUserChange(ada, null, member).effects).toMatchObject([{ kind: 'deactivate' }]);
    expect(planUserChange({ ...ada, active: false }, null, alone)).toEqual({ effects: [], refusal: null });
  });

  it('a new name is published', () => {
    const after = patchedAda({ op: 'replace', path: 'displayName', value: 'A' });
    const rename = { kind: 'rename', userName: ada.userName, displayName: 'A' };
    expect(planUserChange(ada, after, member).effects).toEqual([rename]);
    expect(planUserChange(ada, { ...after, active: false }, member).effects).toMatchObject([
      { kind: 'deactivate' },
      rename,
    ]);
  });

  it.each([
    ['a userName that differs only in case', { users: [{ id: 'u-2', userName: 'ADA@example.com' }] }, 'userName'],
    ['an externalId', { users: [{ id: 'u-2', userName: 'b', externalId: 'ext-1' }] }, 'externalId'],
    ['an address of another person', { accounts: [{ address: 'ada@example.com', scimUserId: 'u-2' }] }, 'emails'],
  ])('409 uniqueness: %s', (_complaint, existing, param) => {
    const facts = { users: [], accounts: [], ...existing };
    for (const id of ['u-1', null])
      expect(refusalOf(() => requireUnique({ id, user: ada, address: 'ada@example.com' }, facts))).toBe(
        `ALREADY_EXISTS ${param}`,
      );
  });

  it('the address of a person is the primary e-mail, or else the first one, or else the userName', () => {
    const emails = [{ value: 'none' }, { value: 'A@Example.com' }, { value: 'B@Example.com', primary: true }];
    expect(accountAddress(parseUser({ userName: 'c@example.com', emails }))).toBe('b@example.com');
    expect(accountAddress(parseUser({ userName: 'c@example.com', emails: emails.slice(0, 2) }))).toBe('a@example.com');
    expect(accountAddress(parseUser({ userName: 'C@example.com' }))).toBe('c@example.com');
    expect(accountAddress(parseUser({ userName: 'ada' }))).toBeNull();
  });

  it('a person does not conflict with their own names', () => {
    const own = {
      users: [{ id: 'u-1', userName: 'ada@example.com' }],
      accounts: [{ address: 'ada@example.com', scimUserId: 'u-1' }],
    };
    expect(refusalOf(() => requireUnique({ id: 'u-1', user: ada, address: 'ada@example.com' }, own))).toBe('accepted');
  });
});
