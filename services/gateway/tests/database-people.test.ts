import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UserId } from '@countersign/contracts';
import { findConfirmedVersion, holdsSettings, recordConfirmation } from '../src/store/confirmed-settings.ts';
import { postponeSettings, takeDueSettings } from '../src/store/due-settings.ts';
import * as members from '../src/store/members.ts';
import * as users from '../src/store/users.ts';
import * as workspaces from '../src/store/workspaces.ts';
import { settingsDefault } from '../src/workspaces/settings.ts';
import { ada, away, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(async () => {
  await store.clear();
  await store.insert('workspaces', { id: home }, { id: away, name: 'Away' });
  const email = 'ada@example.org';
  await store.insert('users', { id: ada, email }, { id: bob, name: 'Bob', messenger_id: 'telegram:7' });
});
afterAll(() => store?.close());

const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) => store.database.transaction(work);
const [bob, cara] = [UserId.parse(idOf('usr', 2)), UserId.parse(idOf('usr', 3))];
const inHome = (user_id: string, role: string, joined = 0) => ({ user_id, role, joined_at: instantAt(joined) });
const inAway = (role: string, joined = 0) => ({ ...inHome(ada, role, joined), workspace_id: away });

describe('the memberships of a person', () => {
  it.each([
    [0, 1, ['Home', 'Away']],
    [1, 0, ['Away', 'Home']],
    [0, 0, ['Home', 'Away']],
  ])('with joins at minute %d and minute %d are listed as %j', async (first, second, names) => {
    await store.insert('workspace_members', inAway('member', second), inHome(bob, 'owner'));
    await store.insert('workspace_members', inHome(ada, 'partner', first));
    const existing = { Home: { id: home, role: 'partner' }, Away: { id: away, role: 'member' } };
    const expected = names.map((name) => ({ name, ...existing[name as keyof typeof existing] }));
    expect(await members.listMemberships(store.database.reader, ada)).toEqual(expected);
    const [{ id, name, role } = { id: '', name: '', role: '' }] = expected;
    const found = await transaction((tx) => workspaces.findFirstMembership(tx, ada));
    expect(found).toEqual({ workspaceId: id, workspaceName: name, role, membersVersion: 1 });
  });

  it('are empty for a person without memberships', async () => {
    await store.insert('workspace_members', inHome(ada, 'owner'));
    expect(await members.listMemberships(store.database.reader, bob)).toEqual([]);
    expect(await transaction((tx) => workspaces.findFirstMembership(tx, bob))).toBeNull();
    expect(await workspaces.findMembership(store.database.reader, home, bob)).toBeNull();
    expect(await workspaces.findMembership(store.database.reader, away, ada)).toBeNull();
    expect(await members.findRole(store.database.reader, away, ada)).toBeNull();
  });

  it('are counted: owners of a workspace, workspaces of an owner, and other people who may approve', async () => {
    await store.insert('workspace_members', inHome(ada, 'owner'), inHome(bob, 'owner'), inHome(cara, 'partner'));
    await store.insert('workspace_members', inAway('member'));
    const counted = await transaction(async (tx) => [
      ...[await members.countOwners(tx, home), await members.countOwners(tx, away)],
      ...[await members.countOwned(tx, ada), await members.countOwned(tx, cara)],
    ]);
    expect(counted).toEqual([2, 0, 1, 0]);
    await store.insert('workspace_members', inHome(idOf('usr', 4), 'member'));
    const others = (id: string, userId: string) => workspaces.countOtherApprovers(store.database.reader, id, userId);
    expect([await others(home, ada), await others(home, idOf('usr', 4)), await others(away, bob)]).toEqual([2, 3, 0]);
  });

  it('are found by the address of the person, in their own workspace only', async () => {
    await store.insert('workspace_members', inHome(ada, 'owner'), { ...inHome(bob, 'owner'), workspace_id: away });
    const isMember = (id: string, email: string) => members.isMemberAddress(store.database.reader, id, email);
    expect([await isMember(home, 'ada@example.org'), await isMember(away, 'ada@example.org')]).toEqual([true, false]);
    expect(await isMember(home, 'bob@example.org')).toBe(false);
  });

  it('are added once, changed and deleted one by one', async () => {
    await store.insert('workspace_members', inHome(bob, 'partner'), inAway('partner'));
    const add = (userId: string) =>
      transaction((tx) => members.addMember(tx, { workspaceId: home, userId, role: 'member', joinedAt: minute(4) }));
    expect([await add(ada), await add(ada), await add(bob)]).toEqual([true, false, false]);
    const roles = () => store.rows('SELECT user_id, role FROM workspace_members ORDER BY workspace_id, user_id');
    await transaction((tx) => members.setRole(tx, home, ada, 'owner'));
    const [first, second, third] = [{ user_id: ada, role: 'owner' }, inHome(bob, 'partner'), inAway('partner')];
    expect(await roles()).toMatchObject([first, { user_id: second.user_id, role: 'partner' }, { role: third.role }]);
    await transaction((tx) => members.deleteMember(tx, home, ada));
    expect(await roles()).toEqual([second, third].map(({ user_id, role }) => ({ user_id, role })));
  });
});

describe('the list of the members', () => {
  const list = [
    { userId: ada, role: 'member' },
    { userId: bob, role: 'owner' },
  ];
  beforeEach(() => store.insert('workspace_members', inHome(bob, 'owner'), inHome(ada, 'member', 3)));
  const toldAt = () => store.rows('SELECT members_version, members_told_at FROM workspaces ORDER BY id');

  it('gets a new version with each change, and is marked as published', async () => {
    const next = () => transaction((tx) => members.nextMemberList(tx, home, minute(5)));
    expect([await next(), await next()]).toEqual([
      { workspaceId: home, version: 1, members: list },
      { workspaceId: home, version: 2, members: list },
    ]);
    expect((await toldAt())[0]).toEqual({ members_version: 2, members_told_at: minute(5) });
  });

  it('gets a version above the one of the kernel, even if its own version is the same', async () => {
    await store.rows('UPDATE workspaces SET members_version = 7');
    const above = (version: number) => transaction((tx) => members.memberListAbove(tx, { workspaceId: home, version }));
    expect([(await above(6)).version, (await above(7)).version, (await above(90)).version]).toEqual([7, 8, 91]);
  });

  it('is published again after a time, oldest first, and 100 at a time', async () => {
    const reportOf = (at: number) => ({ members_told_at: instantAt(at), members_version: 7 });
    const take = () => transaction((tx) => members.takeUntoldLists(tx, { before: minute(5), now: minute(9) }));
    await store.rows('UPDATE workspaces SET members_told_at = $1', [minute(4)]);
    const many = Array.from({ length: 99 }, (_, nth) => ({ id: idOf('wsp', nth + 10), ...reportOf(3) }));
    await store.insert('workspaces', ...many, { id: idOf('wsp', 500), ...reportOf(5) });
    const taken = await take();
    expect(taken).toHaveLength(100);
    expect(taken).toContainEqual({ workspaceId: idOf('wsp', 10), version: 7, members: [] });
    const [last] = await take();
    const atHome = [...taken, last].find((one) => one?.workspaceId === home);
    expect(atHome).toEqual({ workspaceId: home, version: 1, members: list });
    expect([home, away]).toContain(last?.workspaceId);
    expect(await take()).toEqual([]);
  });
});

describe('a workspace', () => {
  it('is created with its owner and its log', async () => {
    const owner = { id: UserId.parse(ada), name: 'Ada', email: 'ada@example.org' };
    const made = await transaction((tx) => workspaces.createWorkspace(tx, { owner, name: 'New' }, minute(3)));
    expect(made).toEqual({
      workspaceId: expect.stringMatching(/^wsp_/),
      workspaceName: 'New',
      role: 'owner',
      membersVersion: 1,
    });
    expect(await workspaces.findMembership(store.database.reader, made.workspaceId, ada)).toEqual(made);
    expect(await workspaces.findWorkspace(store.database.reader, made.workspaceId)).toEqual({
      ...{ id: made.workspaceId, name: 'New', mode: 'discover', createdAt: instantAt(3), updatedAt: instantAt(3) },
      members: [{ userId: ada, name: 'Ada', email: 'ada@example.org', role: 'owner', joinedAt: instantAt(3) }],
    });
    const heads = await store.rows('SELECT seq, hash FROM audit_heads WHERE workspace_id = $1', [made.workspaceId]);
    expect(heads).toEqual([{ seq: 0, hash: '' }]);
    const by = await store.rows('SELECT created_by FROM workspaces WHERE id = $1', [made.workspaceId]);
    expect(by).toEqual([{ created_by: ada }]);
  });

  it('lists its members in the order in which they joined, then by id', async () => {
    await store.insert('users', { id: cara, name: 'Cara', email: 'cara@example.org' });
    await store.insert('workspace_members', inHome(cara, 'member', 1), inHome(bob, 'partner', 1));
    await store.insert('workspace_members', inHome(ada, 'owner', 2));
    const found = await workspaces.findWorkspace(store.database.reader, home);
    expect(found?.members.map(({ name, email }) => [name, email])).toEqual([
      ['Bob', null],
      ['Cara', 'cara@example.org'],
      ['Ada', 'ada@example.org'],
    ]);
    expect(await workspaces.findWorkspace(store.database.reader, idOf('wsp', 404))).toBeNull();
  });

  it('can get a different name and a different mode, each with the time of the change, without affecting other workspaces', async () => {
    await transaction((tx) => workspaces.setName(tx, home, 'Renamed', minute(5)));
    const shown = () => store.rows('SELECT name, mode, updated_at FROM workspaces ORDER BY id');
    const second = { name: 'Away', mode: 'discover', updated_at: minute(0) };
    expect(await shown()).toEqual([{ name: 'Renamed', mode: 'discover', updated_at: minute(5) }, second]);
    await transaction((tx) => workspaces.setMode(tx, home, 'build', minute(6)));
    expect(await shown()).toEqual([{ name: 'Renamed', mode: 'build', updated_at: minute(6) }, second]);
  });
});

describe('the settings of a workspace', () => {
  const changed = { ...settingsDefault, policyConfig: { ...settingsDefault.policyConfig, blockedTools: ['a.b'] } };
  const put = (version: number, settings = settingsDefault) =>
    transaction((tx) => workspaces.putSettings(tx, home, { settings, version }, minute(version)));
  const get = (id = home) => workspaces.getSettings(store.database.reader, id);

  it('are the defaults until they are written, and then the last written ones', async () => {
    expect(await get()).toEqual({ settings: settingsDefault, version: 1 });
    await put(2);
    await put(3, changed);
    expect([await get(), await get(away)]).toEqual([
      { settings: changed, version: 3 },
      { settings: settingsDefault, version: 1 },
    ]);
    expect(await store.rows('SELECT updated_at FROM workspace_settings')).toEqual([{ updated_at: minute(3) }]);
  });

  describe('are due for delivery to the kernel', () => {
    const take = (retryMs: number) => transaction((tx) => takeDueSettings(tx, { limit: 10, retryMs }));
    const hourMs = 3_600_000;
    /** Due again at once. The stored time is rounded to a millisecond, so it is one millisecond in the past. */
    const atOnceMs = -1;
    const ids = (due: { workspaceId: string }[]) => due.map(({ workspaceId }) => workspaceId).sort();
    beforeEach(() =>
      store.rows(`UPDATE workspaces SET settings_due_at = '9000-01-01' WHERE id <> ALL($1)`, [[home, away]]),
    );

    it('from the start, for one gateway only, and again after a failed delivery', async () => {
      expect(ids(await take(hourMs))).toEqual([home, away].sort());
      expect(await take(hourMs)).toEqual([]);
      await store.rows(`UPDATE workspaces SET settings_due_at = now() - interval '1 ms' WHERE id = $1`, [away]);
      expect(ids(await take(atOnceMs))).toEqual([away]);
      expect(ids(await take(hourMs))).toEqual([away]);
    });

    it('at once when they change, also while older ones are being delivered', async () => {
      const due = (await take(hourMs)).find(({ workspaceId }) => workspaceId === home);
      await put(2);
      await transaction((tx) => postponeSettings(tx, due ?? { workspaceId: home, mark: new Date(0) }, hourMs));
      expect(ids(await take(atOnceMs))).toEqual([home]);
    });

    it('again some time after a delivery', async () => {
      const [first] = await take(atOnceMs);
      await transaction((tx) => postponeSettings(tx, first ?? { workspaceId: home, mark: new Date(0) }, hourMs));
      expect(ids(await take(hourMs))).toEqual([first?.workspaceId === home ? away : home]);
    });
  });

  it('are confirmed only for rising versions', async () => {
    const confirm = (version: number) =>
      transaction((tx) => recordConfirmation(tx, { workspaceId: home, version }, minute(version)));
    expect(await findConfirmedVersion(store.database.reader, home)).toBe(0);
    for (const version of [2, 4, 3, 4]) await confirm(version);
    expect(await store.rows('SELECT * FROM confirmed_settings')).toEqual([
      { workspace_id: home, version: 4, confirmed_at: minute(4) },
    ]);
    expect(await findConfirmedVersion(store.database.reader, away)).toBe(0);
  });

  it.each([
    [2, 2, 2, true],
    [2, 2, 1, false],
    [2, 1, 2, false],
    [1, 2, 2, false],
  ])(
    'of version %d, with version %d confirmed, are in force as version %d: %j',
    async (current, confirmed, version, isHeld) => {
      await put(current);
      await store.insert('confirmed_settings', { version: confirmed });
      expect(await transaction((tx) => holdsSettings(tx, { workspaceId: home, version }))).toBe(isHeld);
    },
  );
});

describe('a person', () => {
  it('is created at the first sign-in by an address or a messenger, and found afterwards', async () => {
    const by = (email: string) => transaction((tx) => users.ensureUser(tx, email, minute(1)));
    const first = await by('"a@b"@example.org');
    expect(first).toEqual({ id: expect.stringMatching(/^usr_/), name: '"a@b"', email: '"a@b"@example.org' });
    expect(await by('"a@b"@example.org')).toEqual(first);
    const over = (name: string) =>
      transaction((tx) => users.ensureMessengerUser(tx, { messengerId: 'telegram:8', name }, minute(2)));
    const second = await over('Eve');
    expect(second).toEqual({ id: expect.stringMatching(/^usr_/), name: 'Eve', email: null });
    expect(await over('Other')).toEqual(second);
    const made = await store.rows('SELECT id, created_at FROM users WHERE id = ANY($1) ORDER BY created_at', [
      [first.id, second.id],
    ]);
    expect(made).toEqual([
      { id: first.id, created_at: minute(1) },
      { id: second.id, created_at: minute(2) },
    ]);
  });

  it('is found by id and by address, with all proven identities', async () => {
    const existing = { id: ada, name: 'Ada', email: 'ada@example.org' };
    expect(await users.findUserByAddress(store.database.reader, 'ada@example.org')).toEqual(existing);
    expect(await users.findUserByAddress(store.database.reader, 'no@example.org')).toBeNull();
    expect(await users.findUser(store.database.reader, UserId.parse(ada))).toEqual(existing);
    expect(await users.findUser(store.database.reader, cara)).toBeNull();
    await store.insert('users', { id: cara, email: 'c@example.org', messenger_id: 'telegram:9' });
    const names = [ada, bob, cara, idOf('usr', 404)].map((id) =>
      users.listKnownAs(store.database.reader, UserId.parse(id)),
    );
    expect(await Promise.all(names)).toEqual([
      ...[['ada@example.org'], ['telegram:7'], ['c@example.org', 'telegram:9'], []],
    ]);
  });
});
