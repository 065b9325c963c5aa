import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SignInId, UserId } from '@countersign/contracts';
import * as keys from '../src/store/api-keys.ts';
import type { Tx } from '../src/store/database.ts';
import * as codes from '../src/store/email-codes.ts';
import * as invites from '../src/store/invites.ts';
import * as sessions from '../src/store/sessions.ts';
import { ada, away, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.clear());
afterAll(() => store?.close());

const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) => store.database.transaction(work);
const bob = idOf('usr', 2);
const idsOf = (found: readonly { id: string }[]) => found.map((one) => one.id);
const expires = (nth: number) => ({ expires_at: instantAt(nth) });

describe('a key', () => {
  const key = (nth: number, columns: object = {}) => ({ id: idOf('hpk', nth), key_hash: `hash-${nth}`, ...columns });
  const view = {
    ...{ id: idOf('hpk', 1), workspaceId: home, name: 'Robot', prefix: 'hp_abc', role: 'member', scopes: ['read'] },
    ...{
      environment: null,
      createdBy: ada,
      createdAt: instantAt(0),
      expiresAt: instantAt(60),
      lastUsedAt: null,
      revokedAt: null,
    },
  };
  const theirs = { user_id: bob };
  const [all, own] = [
    { workspaceId: home, userId: null },
    { workspaceId: home, userId: ada },
  ];

  it('is stored and read as it was created', async () => {
    await store.insert('workspace_members', {});
    const made = await transaction((tx) =>
      keys.insertApiKey(tx, {
        ...{ workspaceId: home, userId: ada, name: 'Robot', prefix: 'hp_abc', keyHash: 'h', role: 'member' },
        ...{ scopes: ['read'], environment: null, createdAt: minute(0), expiresAt: minute(60) },
      }),
    );
    expect(made).toEqual({ ...view, id: expect.stringMatching(/^hpk_/) });
    await store.insert('api_keys', key(1, { last_used_at: instantAt(2), revoked_at: instantAt(3) }));
    const used = { ...view, lastUsedAt: instantAt(2), revokedAt: instantAt(3) };
    expect(await keys.findKeyOf(store.database.reader, home, idOf('hpk', 1))).toEqual(used);
    expect(await keys.findKeyOf(store.database.reader, away, idOf('hpk', 1))).toBeNull();
  });

  it('is listed, revoked and given an earlier end only if the caller may reach it, and only live keys change', async () => {
    const dead = { revoked_at: instantAt(1) };
    await store.insert(
      'api_keys',
      key(1),
      key(2, theirs),
      key(3, dead),
      key(4, expires(9)),
      key(5, { workspace_id: away }),
    );
    const listed = async (reach: typeof all | typeof own, limit = 9) =>
      idsOf((await keys.listApiKeysOf(store.database.reader, reach, { limit })).data);
    expect(await listed(all)).toEqual([4, 3, 2, 1].map((nth) => idOf('hpk', nth)));
    expect([await listed(own), await listed(all, 1)]).toEqual([
      [4, 3, 1].map((nth) => idOf('hpk', nth)),
      [idOf('hpk', 4)],
    ]);
    expect(await transaction((tx) => keys.countLiveApiKeys(tx, home, minute(9)))).toBe(2);
    const each = async (act: (tx: Tx, nth: string) => Promise<boolean>) => {
      const done: boolean[] = [];
      for (const nth of [1, 2, 3, 4, 5]) done.push(await transaction((tx) => act(tx, idOf('hpk', nth))));
      return done;
    };
    const within = { latest: minute(30), now: minute(9) };
    expect(await each((tx, keyId) => keys.shortenApiKey(tx, own, { ...within, keyId }))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    await transaction((tx) =>
      keys.shortenApiKey(tx, own, { keyId: idOf('hpk', 1), latest: minute(40), now: minute(9) }),
    );
    expect(await each((tx, keyId) => keys.endApiKey(tx, own, keyId, minute(9)))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(await each((tx, keyId) => keys.endApiKey(tx, all, keyId, minute(10)))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(await store.rows('SELECT expires_at, revoked_at FROM api_keys ORDER BY id')).toEqual([
      { expires_at: minute(30), revoked_at: minute(9) },
      { expires_at: minute(60), revoked_at: minute(10) },
      { expires_at: minute(60), revoked_at: minute(1) },
      { expires_at: minute(9), revoked_at: null },
      { expires_at: minute(60), revoked_at: null },
    ]);
  });

  it('has the rights of its user while it is live', async () => {
    await store.insert('users', { id: ada, email: 'ada@example.org' });
    await store.insert('workspaces', { id: home });
    await store.insert('workspace_members', {});
    await store.insert('api_keys', key(1, { last_used_at: instantAt(2) }), key(2, { revoked_at: instantAt(1) }));
    const find = (nth: number, at: number) =>
      keys.findLiveApiKey(store.database.reader, { keyHash: `hash-${nth}` }, minute(at));
    expect(await find(1, 59)).toEqual({
      ...{ id: idOf('hpk', 1), role: 'member', scopes: ['read'], environment: null, lastUsedAt: minute(2) },
      user: { id: ada, name: 'Ada', email: 'ada@example.org' },
      membership: { workspaceId: home, workspaceName: 'Home', role: 'owner', membersVersion: 1 },
    });
    expect([await find(1, 60), await find(2, 59), await find(3, 59)]).toEqual([null, null, null]);
  });

  it('records its last use once a minute', async () => {
    await store.insert(
      'api_keys',
      key(1),
      key(2, { last_used_at: instantAt(4) }),
      key(3, { last_used_at: instantAt(5) }),
      key(4),
    );
    for (const nth of [1, 2, 3])
      await transaction((tx) => keys.recordUse(tx, idOf('hpk', nth), { now: minute(6), before: minute(5) }));
    const used = (await store.rows('SELECT last_used_at FROM api_keys ORDER BY id')).map((row) => row['last_used_at']);
    expect(used).toEqual([minute(6), minute(6), minute(5), null]);
  });
});

describe('an invite', () => {
  const invite = (nth: number, columns: object = {}) => ({
    ...{ id: idOf('inv', nth), email: 'ada@example.org', token_hash: `hash-${nth}`, ...columns },
  });
  const ended = async () => {
    const rows = await store.rows('SELECT id FROM invites WHERE ended_at = $1 ORDER BY id', [minute(9)]);
    return rows.map(({ id }) => Number(String(id).slice(-2)));
  };
  const some = () =>
    store.insert(
      'invites',
      ...[invite(1), invite(2, { email: 'b@example.org', invited_by: bob }), invite(3, { ended_at: instantAt(1) })],
      ...[invite(4, { ...expires(9), created_at: instantAt(-1) }), invite(5, { workspace_id: away })],
      invite(6, { accepted_at: instantAt(1), role: 'partner' }),
    );
  const acts: [string, unknown, number[], (tx: Tx) => Promise<unknown>][] = [
    ['by its id', true, [1], (tx) => invites.endInvite(tx, home, idOf('inv', 1), minute(9))],
    ['by its id after it has ended', false, [], (tx) => invites.endInvite(tx, home, idOf('inv', 3), minute(9))],
    ['by its id after it has expired', false, [], (tx) => invites.endInvite(tx, home, idOf('inv', 4), minute(9))],
    ['by its id from another workspace', false, [], (tx) => invites.endInvite(tx, home, idOf('inv', 5), minute(9))],
    [
      'with all invites of its address',
      undefined,
      [1, 4, 6],
      (tx) => invites.endInvitesOf(tx, home, 'ada@example.org', minute(9)),
    ],
    [
      'with all invites of its sender',
      2,
      [1, 6],
      (tx) => invites.endInvitesBy(tx, { workspaceId: home, invitedBy: ada }, minute(9)),
    ],
    ['by the person who accepted it', true, [6], (tx) => invites.endAcceptedInvite(tx, idOf('inv', 6), minute(9))],
    ['by a person who did not accept it', false, [], (tx) => invites.endAcceptedInvite(tx, idOf('inv', 1), minute(9))],
  ];
  it.each(acts)('that is ended %s: the result is %j', async (_how, answer, those, act) => {
    await some();
    expect([await transaction(act), await ended()]).toEqual([answer, those]);
  });

  it('is listed and counted in its workspace while it is live', async () => {
    await some();
    const page = await invites.listLiveInvites(
      store.database.reader,
      { workspaceId: home, now: minute(9) },
      { limit: 2 },
    );
    const view = {
      email: 'ada@example.org',
      role: 'member',
      invitedBy: ada,
      createdAt: instantAt(0),
      expiresAt: instantAt(60),
    };
    expect(page.data).toEqual([
      { ...view, id: idOf('inv', 6), role: 'partner', state: 'accepted' },
      { ...view, id: idOf('inv', 2), email: 'b@example.org', invitedBy: bob, state: 'open' },
    ]);
    expect(page.nextCursor).not.toBeNull();
    const since = { workspaceId: home, since: minute(-1) };
    const counts = await transaction(async (tx) => [
      await invites.countLiveInvites(tx, home, minute(9)),
      await invites.countInvitesSince(tx, since),
      await invites.countInvitesSince(tx, { ...since, email: 'ada@example.org' }),
    ]);
    expect(counts).toEqual([3, 4, 3]);
  });

  it('is found by its token and address, with its workspace and its sender', async () => {
    await some();
    await store.insert('workspaces', { id: home }, { id: away, name: 'Away' });
    await store.insert('users', { id: ada, email: 'ada@example.org' }, { id: bob, name: 'Bob', messenger_id: 'm' });
    const find = (tokenHash: string, email: string) =>
      invites.findInviteByToken(store.database.reader, { tokenHash, email });
    const found = { workspaceId: home, workspace: 'Home' };
    expect(await find('hash-1', 'ada@example.org')).toEqual({ ...found, id: idOf('inv', 1), from: 'ada@example.org' });
    expect(await find('hash-2', 'b@example.org')).toEqual({ ...found, id: idOf('inv', 2), from: 'Bob' });
    expect([await find('hash-2', 'ada@example.org'), await find('none', 'ada@example.org')]).toEqual([null, null]);
    const accept = (nth: number) => transaction((tx) => invites.acceptLiveInvite(tx, idOf('inv', nth), minute(9)));
    expect([await accept(1), await accept(3), await accept(4)]).toEqual([true, false, false]);
    const accepted = await store.rows('SELECT id FROM invites WHERE accepted_at = $1', [minute(9)]);
    expect(accepted).toEqual([{ id: idOf('inv', 1) }]);
    const to = { email: 'ada@example.org', workspaceId: home, role: 'partner', invitedBy: ada };
    expect(await invites.findInvite(store.database.reader, idOf('inv', 6))).toEqual(to);
    expect(await invites.findInvite(store.database.reader, idOf('inv', 9))).toBeNull();
  });
});

describe('a code', () => {
  const code = (nth: number, columns: object = {}) => ({ id: `code-${nth}`, ...columns });
  const email = 'ada@example.org';

  it('replaces the previous code, and counts sends and attempts', async () => {
    await store.insert('email_codes', code(1), code(2, { email: 'b' }), code(3, { ended_at: instantAt(1) }));
    const next = { id: 'code-4', email, codeHmac: 'new', createdAt: minute(2), expiresAt: minute(12) };
    await transaction(async (tx) => {
      await codes.replaceLiveCode(tx, next);
      await codes.countSend(tx, 'code-4');
      await codes.countTry(tx, 'code-4');
      await codes.putInviteCode(tx, 'code-4', { inviteId: 'i', inviteCodeHmac: 'h' });
    });
    const live = await transaction((tx) => codes.findLiveCode(tx, email));
    expect(live).toEqual({ ...next, inviteId: 'i', inviteCodeHmac: 'h', tries: 1, sends: 2, endedAt: null });
    const ends = () => store.rows('SELECT ended_at AS at FROM email_codes ORDER BY id');
    expect(await ends()).toEqual([minute(2), null, minute(1), null].map((at) => ({ at })));
    await transaction((tx) => codes.endCode(tx, 'code-4', minute(3)));
    expect(await ends()).toEqual([minute(2), null, minute(1), minute(3)].map((at) => ({ at })));
    expect(await transaction((tx) => codes.findLiveCode(tx, email))).toBeNull();
  });

  it('counts its sends to one address since a time', async () => {
    const since = (nth: number) => ({ created_at: instantAt(nth), ended_at: instantAt(9) });
    await store.insert('email_codes', code(1, { sends: 2, ...since(1) }), code(2, { sends: 3, ...since(2) }));
    await store.insert('email_codes', code(3, { sends: 4, ...since(3) }), code(4, { email: 'b', ...since(3) }));
    const count = (to: string, nth: number) => transaction((tx) => codes.countSendsSince(tx, to, minute(nth)));
    expect([await count(email, 1), await count(email, 0), await count(email, 3), await count('no', 0)]).toEqual([
      7, 9, 0, 0,
    ]);
  });
});

describe('a session', () => {
  const session = (nth: number, columns: object = {}) => ({
    ...{ id: idOf('ses', nth), family_id: idOf('ses', nth), token_hash: `hash-${nth}`, ...columns },
  });
  const user = { id: UserId.parse(ada), name: 'Ada', email: 'ada@example.org' };
  const dead = [{ rotated_at: instantAt(1) }, { revoked_at: instantAt(1) }, expires(9), { user_id: bob }];

  it('begins a family or continues one', async () => {
    await store.insert('users', user);
    const values = { userId: ada, createdAt: minute(1), expiresAt: minute(60) };
    await transaction(async (tx) => {
      await sessions.insertSession(tx, { ...values, tokenHash: 'first' });
      await sessions.insertSession(tx, { ...values, tokenHash: 'second', familyId: idOf('ses', 9) });
    });
    const first = await sessions.findSession(store.database.reader, 'first');
    const times = { createdAt: minute(1), expiresAt: minute(60), rotatedAt: null, revokedAt: null };
    expect(first).toEqual({ id: expect.stringMatching(/^ses_/), familyId: first?.id, ...times, user });
    expect((await sessions.findSession(store.database.reader, 'second'))?.familyId).toBe(idOf('ses', 9));
    expect(await sessions.findSession(store.database.reader, 'third')).toBeNull();
    expect(await sessions.findSignedInAt(store.database.reader, first?.id ?? '')).toEqual(minute(1));
  });

  it('is listed while it is live, with the start of its family', async () => {
    await store.insert('sessions', session(1, dead[0]), ...dead.map((columns, nth) => session(nth + 10, columns)));
    await store.insert('sessions', session(2, { family_id: idOf('ses', 1), created_at: instantAt(3) }), session(3));
    await store.insert('sessions', session(4, { family_id: idOf('ses', 0), created_at: instantAt(4) }));
    const whose = { user, familyId: idOf('ses', 1), now: minute(9) };
    const list = (limit: number, cursor?: string) =>
      sessions.listSessionsOf(store.database.reader, whose, { limit, cursor });
    const [third, first, lost] = [
      { signedInAt: instantAt(0), renewedAt: instantAt(0), current: false },
      { signedInAt: instantAt(0), renewedAt: instantAt(3), current: true },
      { signedInAt: instantAt(4), renewedAt: instantAt(4), current: false },
    ].map((one, nth) => ({ ...one, id: idOf('ses', [3, 1, 0][nth] ?? 0), expiresAt: instantAt(60) }));
    const page = await list(2);
    expect(page.data).toEqual([third, first]);
    expect(await list(2, page.nextCursor ?? '')).toEqual({ data: [lost], nextCursor: null });
    const isLive = (nth: number) =>
      transaction((tx) =>
        sessions.isLiveFamilyOf(tx, { userId: ada, familyId: SignInId.parse(idOf('ses', nth)), now: minute(9) }),
      );
    const live = [
      await isLive(1),
      await isLive(3),
      await isLive(10),
      await isLive(11),
      await isLive(12),
      await isLive(13),
    ];
    expect(live).toEqual([true, true, false, false, false, false]);
  });

  it('is rotated once, and revoked with its family', async () => {
    const familyId = idOf('ses', 1);
    await store.insert('sessions', session(1), session(2, { family_id: familyId }), session(3));
    await store.insert(
      'sessions',
      session(4, { family_id: familyId, revoked_at: instantAt(1), revoke_reason: 'before' }),
    );
    const rotate = (nth: number) =>
      transaction((tx) => sessions.markRotated(tx, { id: idOf('ses', nth), familyId }, minute(5)));
    expect([await rotate(1), await rotate(1), await rotate(4)]).toEqual([true, false, false]);
    await transaction((tx) => sessions.revokeFamily(tx, familyId, { now: minute(6), reason: 'reuse' }));
    const messages = await store.rows('SELECT rotated_at, revoked_at, revoke_reason FROM sessions ORDER BY id');
    expect(messages.map((row) => Object.values(row))).toEqual([
      [minute(5), minute(6), 'reuse'],
      [null, minute(6), 'reuse'],
      [null, null, null],
      [null, minute(1), 'before'],
    ]);
  });
});
