import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccessKeyId, ApprovalId, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { ApprovalState, KeyThumbprint } from '@countersign/contracts/governance-kernel';
import {
  findAccessKey,
  findAccessKeyById,
  findLastUse,
  listAccessKeys,
  recordKeyUses,
} from '../src/store/access-key-store.ts';
import { getApproval, listApprovals, listOverdueApprovals } from '../src/store/approval-store.ts';
import { challengeStore, forgetChallenges } from '../src/store/challenge-store.ts';
import { findLiveKey, findRevocations, isRevoked, listIdentities, showIdentity } from '../src/store/identity-store.ts';
import { findPasskey, listLivingPasskeys, listWaitingPasskeys } from '../src/store/passkey-store.ts';
import { stopsIn } from '../src/store/stops-in.ts';
import { instant, minute, openTestStore, ulid, type TestStore } from './_store-rows.ts';

const tenant = 'acme' as TenantId;
const umbrella = 'umbrella' as TenantId;
const of = (name: string) => name as PrincipalId;
const keyId = (nth: number) => `key_${ulid(nth)}` as AccessKeyId;
const aprId = (nth: number) => `apr_${ulid(nth)}` as ApprovalId;
const kid = (name: string) => name as KeyThumbprint;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  const ended = (nth: number) => ({ revoked_at: instant(nth), revoked_by: 'operator' });
  await store.insert(
    'identities',
    { ulid: ulid(1), principal_id: 'both', kind: 'agent', ...ended(1) },
    { ulid: ulid(2), principal_id: 'both', kind: 'operator', ...ended(2) },
    { ulid: ulid(3), principal_id: 'well' },
    { ulid: ulid(4), principal_id: 'well', kind: 'operator' },
    { ulid: ulid(5), principal_id: 'well', tenant_id: 'umbrella', ...ended(5) },
    { ulid: ulid(6), principal_id: 'bare' },
  );
  await store.insert(
    'access_keys',
    { key_id: keyId(1), secret_hash: 'agent', principal_id: 'both' },
    { key_id: keyId(2), secret_hash: 'approver', principal_id: 'both', kind: 'approver' },
    { key_id: keyId(3), secret_hash: 'before', principal_id: 'both', revoked_at: instant(3) },
    { key_id: keyId(4), secret_hash: 'well', principal_id: 'well', last_used_at: instant(4) },
    { key_id: keyId(5), secret_hash: 'nobody', principal_id: 'nobody' },
    { key_id: keyId(6), secret_hash: 'others', principal_id: 'well', tenant_id: 'umbrella' },
  );
  await store.insert(
    'identity_keys',
    { kid: 'late', principal_id: 'well', created_at: instant(9) },
    { kid: 'b', principal_id: 'well', created_at: instant(8) },
    { kid: 'a', principal_id: 'well', created_at: instant(8) },
    { kid: 'c', principal_id: 'well', created_at: instant(8) },
    { kid: 'gone', principal_id: 'well', ...ended(9) },
    { kid: 'both', principal_id: 'both' },
    { kid: 'nobody', principal_id: 'nobody' },
    { kid: 'foreign', principal_id: 'well', tenant_id: 'umbrella' },
  );
});
afterAll(() => store.close());

describe('an access key', () => {
  it('returns its own revocation time, or else the revocation time of the identity that holds it', async () => {
    const { reader } = store.database;
    const ends = async (hash: string) => (await findAccessKey(reader, hash))?.revokedAtMs ?? null;
    expect(await Promise.all(['agent', 'approver', 'before', 'well', 'nobody', 'others'].map(ends))).toEqual([
      ...[1, 2, 3].map((nth) => minute(nth).getTime()),
      ...[null, null, minute(5).getTime()],
    ]);
    expect((await findAccessKeyById(reader, keyId(2)))?.revokedAtMs).toBe(minute(2).getTime());
    const page = { limit: 10 };
    const listed = await listAccessKeys(reader, tenant, {
      page,
      item: (key, usedMs) => [key.id, key.revokedAtMs, usedMs],
    });
    expect(listed.data).toEqual([
      [keyId(5), null, null],
      [keyId(4), null, minute(4).getTime()],
      ...[3, 2, 1].map((nth) => [keyId(nth), minute(nth).getTime(), null]),
    ]);
  });

  it('is not found when it is unknown', async () => {
    expect(await findAccessKey(store.database.reader, 'none')).toBeNull();
    expect(await findAccessKeyById(store.database.reader, keyId(99))).toBeNull();
  });

  it('returns its last use only to its own tenant', async () => {
    const { reader } = store.database;
    expect(await findLastUse(reader, { tenant, id: keyId(4) })).toEqual(minute(4));
    expect(await findLastUse(reader, { tenant, id: keyId(5) })).toBeNull();
    expect(await findLastUse(reader, { tenant: umbrella, id: keyId(4) })).toBeNull();
  });

  it('is marked as used in the order of key IDs, together with other keys', async () => {
    const marked = { tenant_id: 'marking', principal_id: 'marked' };
    await store.insert(
      'access_keys',
      ...[11, 12, 13, 15].map((nth) => ({ ...marked, key_id: keyId(nth), secret_hash: `marked-${nth}` })),
    );
    const uses = new Map([15, 13, 11, 12].map((nth) => [keyId(nth), minute(50 + nth)]));
    await store.database.transaction((tx) => recordKeyUses(tx, uses));
    const { rows } = await store.client.query<{ key_id: string; last_used_at: Date }>(
      `SELECT key_id, last_used_at FROM access_keys WHERE last_used_at > $1 ORDER BY cmin::text::int`,
      [minute(50)],
    );
    expect(rows).toEqual([11, 12, 13, 15].map((nth) => ({ key_id: keyId(nth), last_used_at: minute(50 + nth) })));
  });
});

describe('an identity', () => {
  it('is returned with its live keys, oldest first; an operator has none', async () => {
    const { reader } = store.database;
    const kidsOf = async (kind: 'agent' | 'operator') => {
      const item = ({ principal }: { principal: string }, live: readonly { kid: string }[]) => [
        principal,
        live.map((key) => key.kid),
      ];
      return (await listIdentities(reader, { tenant, kind }, { page: { limit: 9 }, item })).data;
    };
    expect(await kidsOf('agent')).toEqual([
      ['bare', []],
      ['well', ['a', 'b', 'c', 'late']],
      ['both', ['both']],
    ]);
    expect(await kidsOf('operator')).toEqual([
      ['well', []],
      ['both', []],
    ]);
    const shown = (kind: 'agent' | 'operator') => showIdentity(reader, { tenant, kind, principal: of('well') });
    expect((await shown('agent')).keys.map((key) => key.kid)).toEqual(['a', 'b', 'c', 'late']);
    expect((await shown('operator')).keys).toEqual([]);
    const missing = showIdentity(reader, { tenant, kind: 'operator', principal: of('bare') });
    await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('has a live key only while neither the identity nor the key is revoked', async () => {
    const { reader } = store.database;
    const live = async (name: string) => (await findLiveKey(reader, { tenant, kid: kid(name) }))?.kid ?? null;
    expect(await Promise.all(['late', 'gone', 'both', 'nobody', 'foreign', 'none'].map(live))).toEqual([
      ...['late', null, null, null, null, null],
    ]);
  });

  it('is revoked only for its kind and in its tenant', async () => {
    const { reader } = store.database;
    const revoked = (principal: string, at = tenant) =>
      isRevoked(reader, { tenant: at, kind: 'agent', principal: of(principal) });
    expect(await Promise.all([revoked('both'), revoked('well'), revoked('well', umbrella), revoked('none')])).toEqual([
      ...[true, false, true, false],
    ]);
    const principals = [of('both'), of('well')];
    const found = await findRevocations(reader, { tenant, kind: 'operator', principals });
    expect([...found]).toEqual([['both', minute(2)]]);
    expect([...(await findRevocations(reader, { tenant, kind: 'agent', principals: [of('well')] }))]).toEqual([]);
  });
});

describe('a caller', () => {
  it('is revoked with its identity, its access key or its signing key', async () => {
    const { isRevokedCaller } = stopsIn(store.database.reader, () => minute(100));
    const reportOf = (caller: { principal?: string; accessKey?: AccessKeyId; agentKey?: KeyThumbprint }) =>
      isRevokedCaller({ tenant, ...caller, principal: of(caller.principal ?? 'well') } as never);
    expect(await reportOf({})).toBe(false);
    expect(await reportOf({ principal: 'both' })).toBe(true);
    expect(await reportOf({ accessKey: keyId(4) })).toBe(false);
    expect(await reportOf({ accessKey: keyId(3) })).toBe(true);
    expect(await reportOf({ accessKey: keyId(99) })).toBe(true);
    expect(await reportOf({ agentKey: kid('late') })).toBe(false);
    expect(await reportOf({ agentKey: kid('gone') })).toBe(true);
    const later = stopsIn(store.database.reader, () => minute(600));
    expect(await later.isRevokedCaller({ tenant, principal: of('well'), accessKey: keyId(4) } as never)).toBe(true);
  });
});

describe('passkeys', () => {
  it('are listed newest first: those of an owner that are not revoked, and the waiting ones of a tenant', async () => {
    const rows = [1, 2, 3].map((nth) => ({ ulid: ulid(nth), credential_id: `c${nth}`, created_at: instant(nth) }));
    await store.insert(
      'passkeys',
      ...rows,
      { ulid: ulid(4), credential_id: 'c4', created_at: instant(4), revoked_at: instant(5) },
      { ulid: ulid(5), credential_id: 'c5', created_at: instant(5), activated_at: instant(5) },
      { ulid: ulid(6), credential_id: 'c6', created_at: instant(6), principal_id: 'q' },
      { ulid: ulid(7), credential_id: 'c7', created_at: instant(7), tenant_id: 'umbrella' },
    );
    const { reader } = store.database;
    const nths = (found: readonly { ulid: string }[]) => found.map((row) => Number(row.ulid));
    const owner = { tenant, principal: of('p') };
    expect(nths(await listLivingPasskeys(reader, owner, 9))).toEqual([5, 3, 2, 1]);
    expect(nths(await listLivingPasskeys(reader, owner, 2))).toEqual([5, 3]);
    const waiting = (since: number, limit: number) => ({ tenant, sinceMs: minute(since).getTime(), limit });
    expect(nths(await listWaitingPasskeys(reader, waiting(1, 9)))).toEqual([6, 3, 2]);
    expect(nths(await listWaitingPasskeys(reader, waiting(0, 2)))).toEqual([6, 3]);
    expect((await findPasskey(reader, { tenant, id: 'c4' as never }))?.ulid).toBe(ulid(4));
    expect(await findPasskey(reader, { tenant, id: 'c7' as never })).toBeNull();
  });
});

describe('a passkey challenge', () => {
  const place = { tenant, principal: of('p'), purpose: 'approval', subject: 'a' } as const;
  const ask = (id: string, nth = 5) =>
    ({ ...place, id, challenge: `of ${id}`, statement: { for: id }, expiresAtMs: minute(nth).getTime() }) as never;

  it('is consumed once, and replaces an earlier one for the same purpose', async () => {
    const { put, take } = challengeStore(store.database.transaction);
    await put(ask('first'));
    await put(ask('second'));
    const second = { ...place, subject: 'b' };
    expect(await take(second)).toBeNull();
    expect(await take(place)).toEqual(ask('second'));
    expect(await take(place)).toBeNull();
  });

  it('is consumed by only one of several concurrent calls', async () => {
    const { put, take } = challengeStore(store.database.transaction);
    for (let nth = 0; nth < 10; nth += 1) {
      await put(ask(`race-${nth}`));
      const taken = await Promise.all([take(place), take(place), take(place)]);
      expect(taken.filter((challenge) => challenge !== null)).toHaveLength(1);
    }
  });

  it('is deleted after it expires', async () => {
    const { put, take } = challengeStore(store.database.transaction);
    await put(ask('kept', 6));
    await store.database.transaction((tx) => forgetChallenges(tx, new Date(minute(6).getTime() - 1)));
    expect(await take(place)).not.toBeNull();
    await put(ask('over', 6));
    await store.database.transaction((tx) => forgetChallenges(tx, minute(6)));
    expect(await take(place)).toBeNull();
  });
});

describe('approvals', () => {
  const now = minute(30);
  const listed = async (
    filter: { state?: ApprovalState; session?: string; id?: ApprovalId },
    limit = 20,
    of = 'many',
  ) => {
    const request = { tenant: of as TenantId, ...filter, session: filter.session as SessionId | undefined };
    const item = ({ id, argsEncrypted }: { id: string; argsEncrypted: string | null }) => [
      Number(id.slice(4)),
      argsEncrypted?.length ?? null,
    ];
    const { data, next_cursor } = await listApprovals(store.database.reader, request, { page: { limit }, now, item });
    const next = next_cursor === null ? null : Number(Buffer.from(next_cursor, 'base64url').toString().slice(4));
    return { nths: data.map(([nth]) => nth), sizes: data.map(([, size]) => size), next };
  };

  beforeAll(() =>
    store.insert(
      'approvals',
      ...[
        { nth: 1, state: 'pending', expires_at: instant(30) },
        { nth: 2, state: 'expired', session_id: 't' },
        { nth: 3, state: 'pending', expires_at: instant(31), session_id: 't' },
        { nth: 4, state: 'consumed' },
        { nth: 5, state: 'pending', expires_at: instant(29) },
        { nth: 6, state: 'pending', tenant_id: 'umbrella', expires_at: instant(28) },
      ].map(({ nth, ...row }) => ({ tenant_id: 'many', ...row, approval_id: aprId(nth) })),
    ),
  );

  it('are listed by their current state, newest first', async () => {
    expect((await listed({})).nths).toEqual([5, 4, 3, 2, 1]);
    expect((await listed({ state: 'pending' })).nths).toEqual([3]);
    expect((await listed({ state: 'expired' })).nths).toEqual([5, 2, 1]);
    expect(await listed({ state: 'expired' }, 2)).toMatchObject({ nths: [5, 2], next: 2 });
    expect((await listed({ state: 'consumed' })).nths).toEqual([4]);
    expect((await listed({ session: 't' })).nths).toEqual([3, 2]);
    expect((await listed({ id: aprId(4) })).nths).toEqual([4]);
    expect((await listed({ id: aprId(6) })).nths).toEqual([]);
    const key = { tenant: 'many' as TenantId, id: aprId(6) };
    await expect(getApproval(store.database.reader, key)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('of all tenants are listed as overdue from their expiry on, earliest expiry first', async () => {
    const overdue = (limit: number) => listOverdueApprovals(store.database.reader, now, limit);
    const key = (nth: number, at: string) => ({ tenant: at, id: aprId(nth), session: 's' });
    expect(await overdue(9)).toEqual([key(6, 'umbrella'), key(5, 'many'), key(1, 'many')]);
    expect(await overdue(2)).toEqual([key(6, 'umbrella'), key(5, 'many')]);
  });

  it('are returned with their arguments up to the size limit of an answer, but always at least one', async () => {
    const sizes = [500_000, 200_000, 200_000, 1, 1];
    const rows = sizes.map((size, at) => ({
      ...{ tenant_id: 'large', session_id: 'big', approval_id: aprId(100 + at) },
      args_encrypted: 'x'.repeat(size),
    }));
    await store.insert('approvals', ...rows);
    const without = { tenant_id: 'large', session_id: 'big', approval_id: aprId(105), state: 'denied' };
    await store.insert('approvals', without);
    expect(await listed({ session: 'big' }, 20, 'large')).toEqual({
      nths: [105, 104, 103, 102],
      sizes: [null, 1, 1, 200_000],
      next: 102,
    });
    expect(await listed({ session: 'big' }, 4, 'large')).toEqual({
      nths: [105, 104, 103, 102],
      sizes: [null, 1, 1, 200_000],
      next: 102,
    });
    expect(await listed({ session: 'big', id: aprId(100) }, 20, 'large')).toEqual({
      nths: [100],
      sizes: [500_000],
      next: null,
    });
  });

  it('fill a page from several reads, up to the size limit of an answer', async () => {
    const rows = Array.from({ length: 20 }, (_, at) => ({
      ...{ tenant_id: 'large', session_id: 'long', approval_id: aprId(200 + at) },
      args_encrypted: 'x'.repeat(20_000),
    }));
    await store.insert('approvals', ...rows);
    const down = (from: number, count: number) => Array.from({ length: count }, (_, at) => from - at);
    expect(await listed({ session: 'long' }, 20, 'large')).toMatchObject({ nths: down(219, 20), next: null });
    expect(await listed({ session: 'long' }, 9, 'large')).toMatchObject({ nths: down(219, 9), next: 211 });
  });
});
