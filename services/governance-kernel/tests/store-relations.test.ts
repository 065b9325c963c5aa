import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Digest, TenantId } from '@countersign/contracts';
import { listEntities, listProperties } from '../src/store/entity-store.ts';
import {
  findBundle,
  findBundleOfHash,
  findInForce,
  findSignature,
  getActivationTime,
  listFreshHeads,
  listStoredPolicies,
} from '../src/store/policy-store.ts';
import { listRegisteredTools } from '../src/store/registered-tools.ts';
import {
  confirmSnapshot,
  findRelationHead,
  findSnapshot,
  findSnapshotWithChanges,
} from '../src/store/relation-store.ts';
import { relationStores } from '../src/store/relation-stores.ts';
import { listTrustKeys, recordSigningKeys } from '../src/store/trust-key-store.ts';
import { listTuples, listTuplesOf, listTuplesOfSubject, loadTuples } from '../src/store/tuple-store.ts';
import { depthMax } from '../src/controls/relations/relation-graph.ts';
import { digest, instant, minute, openTestStore, type TestStore } from './_store-rows.ts';

const tenant = 'acme' as TenantId;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.empty());
afterAll(() => store.close());

/** Parses `object#relation@subject`. */
const tupleOf = (text: string) => {
  const [node = '', subject = ''] = text.split('@');
  const [object = '', relation = ''] = node.split('#');
  return { object, relation, subject };
};
const textOf = ({ object, relation, subject }: ReturnType<typeof tupleOf>) => `${object}#${relation}@${subject}`;
const tuple = (text: string, more: object = {}) => ({
  ...tupleOf(text),
  is_userset: tupleOf(text).subject.includes('#'),
  ...more,
});
const sorted = (tuples: readonly object[]) => tuples.map((found) => textOf(found as ReturnType<typeof tupleOf>)).sort();

describe('tuples', () => {
  beforeEach(() =>
    store.insert(
      'relation_tuples',
      ...['d:1#viewer@u:1', 'd:1#viewer@g:a#member', 'd:1#viewer@g:b#member', 'd:1#owner@u:2', 'd:2#viewer@u:1'].map(
        (text) => tuple(text),
      ),
      ...['g:a#member@u:3', 'g:a#member@g:c#member', 'g:c#member@u:4', 'g:c#member@d:1#viewer'].map((text) =>
        tuple(text),
      ),
      ...['d:1#viewer@u:9', 'd:1#viewer@g:z#member', 'g:a#member@u:9'].map((text) =>
        tuple(text, { tenant_id: 'umbrella' }),
      ),
    ),
  );

  const load = async (nodes: string[], subjects: string[]) => {
    const { groups, members, isCut } = await loadTuples(store.database.reader, tenant, { nodes, subjects });
    const plain = (of: ReadonlyMap<string, ReadonlySet<string>>) =>
      Object.fromEntries([...of].map(([key, values]) => [key, [...values].sort()]));
    return { groups: plain(groups), members: plain(members), isCut };
  };

  it('are loaded with the nested groups of the requested nodes, and with the memberships of the subjects', async () => {
    expect(await load(['d:1#viewer'], ['u:4', 'u:1', 'u:2', 'u:9', 'g:b#member', 'u:1'])).toEqual({
      groups: {
        'd:1#viewer': ['g:a#member', 'g:b#member'],
        'g:a#member': ['g:c#member'],
        'g:c#member': ['d:1#viewer'],
      },
      members: { 'u:4': ['g:c#member'], 'u:1': ['d:1#viewer'], 'g:b#member': ['d:1#viewer'] },
      isCut: false,
    });
    expect(await load([], ['u:1'])).toEqual({ groups: {}, members: {}, isCut: false });
    const two = await load(['d:2#viewer', 'd:1#viewer'], ['u:1']);
    expect(two.members).toEqual({ 'u:1': ['d:1#viewer', 'd:2#viewer'] });
  });

  it('are followed only to the maximum depth', async () => {
    const chain = Array.from({ length: depthMax + 2 }, (_, nth) => tuple(`l:${nth}#m@l:${nth + 1}#m`));
    await store.insert('relation_tuples', ...chain);
    const { groups, isCut } = await load(['l:0#m'], []);
    expect([Object.keys(groups).length, isCut]).toEqual([depthMax, false]);
  });

  it('are cut at the maximum number of groups, and the cut is reported', async () => {
    const fill = (from: number, to: number) =>
      store.client.query(
        `INSERT INTO relation_tuples (tenant_id, object, relation, is_userset, subject)
         SELECT 'acme', 'w:1', 'm', true, 'x:' || n || '#m' FROM generate_series($1::int, $2::int) n`,
        [from, to],
      );
    await fill(1, 5_000);
    const whole = await load(['w:1#m'], []);
    expect([whole.groups['w:1#m']?.length, whole.isCut]).toEqual([5_000, false]);
    await fill(5_001, 5_002);
    const cut = await load(['w:1#m'], []);
    expect([cut.groups['w:1#m']?.length, cut.isCut]).toEqual([5_000, true]);
  });

  it('are found individually, by object and by subject', async () => {
    const { reader } = store.database;
    const requests = ['d:1#viewer@u:1', 'd:1#viewer@g:a#member', 'd:1#viewer@u:9', 'd:2#owner@u:1'].map(tupleOf);
    expect(sorted(await listTuples(reader, tenant, requests as never))).toEqual([
      'd:1#viewer@g:a#member',
      'd:1#viewer@u:1',
    ]);
    expect(await listTuples(reader, tenant, [])).toEqual([]);
    const of = async (...relations: string[]) =>
      sorted(await listTuplesOf(reader, tenant, { object: 'd:1', relations }));
    expect(await of('owner')).toEqual(['d:1#owner@u:2']);
    expect(await of('owner', 'viewer')).toHaveLength(4);
    const subject = async (limit: number, name = 'u:1') =>
      (await listTuplesOfSubject(reader, tenant, { subject: name, limit })).map(textOf);
    expect(await subject(9)).toEqual(['d:1#viewer@u:1', 'd:2#viewer@u:1']);
    expect(await subject(1)).toEqual(['d:1#viewer@u:1']);
    expect(await subject(9, 'u:9')).toEqual([]);
  });
});

describe('entities', () => {
  it('are found by type and id, and listed by id', async () => {
    const rows = ['b', 'a', 'c'].map((entity_id) => ({ entity_id, properties: { is: entity_id } }));
    await store.insert(
      'relation_entities',
      ...rows,
      { entity_id: 'a', entity_type: 'team' },
      { entity_id: 'd', tenant_id: 'umbrella' },
    );
    const { reader } = store.database;
    const entity = (id: string) => ({ type: 'user', id, properties: { is: id } });
    const requests = [
      { type: 'user', id: 'b' },
      { type: 'user', id: 'd' },
      { type: 'team', id: 'b' },
    ];
    expect(await listProperties(reader, tenant, requests as never)).toEqual([entity('b')]);
    expect(await listProperties(reader, tenant, [])).toEqual([]);
    const list = (after: string | null, limit = 9) => listEntities(reader, tenant, { type: 'user', after, limit });
    expect(await list(null)).toEqual([entity('a'), entity('b'), entity('c')]);
    expect(await list('a')).toEqual([entity('b'), entity('c')]);
    expect(await list('a', 1)).toEqual([entity('b')]);
  });
});

describe('a snapshot of relations', () => {
  const snapshot = (version: number, more: object = {}) => ({
    ...{ version, snapshot_id: `snp_${version}`, snapshot_hash: digest(version), changes: { of: version } },
    ...more,
  });

  it('is current only if its head and snapshot exist, and is confirmed by its version', async () => {
    const { reader, transaction } = store.database;
    const { standingRelations, permissions } = relationStores(store.database);
    expect([await findRelationHead(reader, tenant), await standingRelations.find(tenant)]).toEqual([null, null]);
    await store.insert('relation_heads', { members_version: 0 }, { tenant_id: 'bare', version: 1, members_version: 0 });
    expect(await standingRelations.find(tenant)).toBeNull();
    await store.insert('relation_snapshots', snapshot(1), snapshot(2, { previous_hash: digest(1) }));
    const head = { tenant, version: 1, hash: digest(1), confirmedAtMs: minute(0).getTime(), membersVersion: 0 };
    const first = { id: 'snp_1', version: 1, hash: digest(1), previousHash: null, tupleCount: 0, modelHash: null };
    const times = { createdAtMs: minute(0).getTime(), confirmedAtMs: minute(0).getTime() };
    expect(await standingRelations.find(tenant)).toEqual({ head, snapshot: { ...first, ...times } });
    const confirm = (version: number, nth: number) =>
      transaction((tx) => confirmSnapshot(tx, tenant, { version, at: minute(nth) }));
    expect([await confirm(2, 8), await confirm(1, 9)]).toEqual([false, true]);
    const confirmedAt = async (version: number) => (await findSnapshot(reader, tenant, version))?.confirmedAtMs;
    expect([await confirmedAt(1), await confirmedAt(2)]).toEqual([minute(9).getTime(), minute(0).getTime()]);
    expect((await findRelationHead(reader, tenant))?.confirmedAtMs).toBe(minute(9).getTime());
    const found = await findSnapshotWithChanges(reader, tenant, 'snp_2' as never);
    expect(found).toMatchObject({ snapshot: { version: 2, previousHash: digest(1) }, changes: { of: 2 } });
    expect(await findSnapshotWithChanges(reader, 'bare', 'snp_2' as never)).toBeNull();
    expect(await permissions.findModel(tenant)).toBeNull();
    await store.client.query(`INSERT INTO permission_models VALUES ('acme', 'hash', 'model')`);
    expect(await permissions.findModel(tenant)).toEqual({ hash: 'hash', text: 'model' });
  });
});

describe('policies', () => {
  beforeEach(async () => {
    const bundle = (tenant_id: string, epoch: number) => ({
      ...{ tenant_id, epoch, policy_hash: digest(epoch), bundle: JSON.stringify({ of: tenant_id, epoch }) },
      activated_at: instant(epoch),
    });
    await store.insert(
      'policy_bundles',
      ...[bundle('*', 1), bundle('acme', 2), bundle('acme', 4), bundle('acme', 3), bundle('umbrella', 5)],
      ...['t-1', 't-2', 't-3', 'conformance:a'].map((of) => bundle(of, 1)),
    );
    await store.insert(
      'policy_heads',
      ...[1, 2, 3].map((nth) => ({ tenant_id: `t-${nth}`, epoch: 1, confirmed_at: instant(10 + nth) })),
      { tenant_id: '*', epoch: 1, policy_hash: digest(1), confirmed_at: instant(5) },
      { tenant_id: 'acme', epoch: 3, policy_hash: digest(3), confirmed_at: instant(6) },
      { tenant_id: 'conformance:a', confirmed_at: instant(12) },
    );
  });

  it('are listed twice: the active policy of each tenant, and its last activation', async () => {
    const { active, activated } = await listStoredPolicies(store.database.reader, ['*', 'acme', 'umbrella', 'none']);
    const heads = active.map(({ head, bundle }) => [
      head.tenant,
      head.epoch,
      head.confirmedAtMs,
      JSON.parse(bundle) as unknown,
    ]);
    expect(heads.sort()).toEqual([
      ['*', 1, minute(5).getTime(), { of: '*', epoch: 1 }],
      ['acme', 3, minute(6).getTime(), { of: 'acme', epoch: 3 }],
    ]);
    const last = activated.map(({ tenant: of, epoch, confirmedAtMs }) => [of, epoch, confirmedAtMs]);
    expect(last).toEqual([
      ['*', 1, minute(1).getTime()],
      ['acme', 4, minute(4).getTime()],
      ['umbrella', 5, minute(5).getTime()],
    ]);
  });

  it('in force are those of the tenant, or else those of all tenants', async () => {
    const inForce = async (of: string) => {
      const found = await findInForce(store.database.reader, of as TenantId);
      return found === null ? null : [found.bundle, found.head.epoch, found.nextEpoch];
    };
    expect(await inForce('acme')).toEqual([{ of: 'acme', epoch: 3 }, 3, 5]);
    expect(await inForce('umbrella')).toEqual([{ of: '*', epoch: 1 }, 1, 6]);
    expect(await inForce('none')).toEqual([{ of: '*', epoch: 1 }, 1, 1]);
    await store.client.query(`DELETE FROM policy_heads WHERE tenant_id = '*'`);
    expect(await inForce('none')).toBeNull();
    await store.insert('policy_heads', { tenant_id: '*', epoch: 1, policy_hash: digest(1), confirmed_at: instant(5) });
  });

  it('cannot have a head without a bundle', async () => {
    const named = store.client.query(`UPDATE policy_heads SET epoch = 77 WHERE tenant_id = '*'`);
    await expect(named).rejects.toThrow(/foreign key/);
  });

  it('are found by epoch and by hash', async () => {
    const { reader } = store.database;
    expect(await findBundle(reader, tenant, 2)).toEqual({ of: 'acme', epoch: 2 });
    expect(await findBundle(reader, tenant, 5)).toBeNull();
    const ofHash = (nth: number) => findBundleOfHash(reader, tenant, digest(nth) as Digest);
    expect([await ofHash(1), await ofHash(4), await ofHash(5)]).toEqual([
      { of: '*', epoch: 1 },
      { of: 'acme', epoch: 4 },
      null,
    ]);
    expect(await getActivationTime(reader, { tenant, epoch: 4 })).toBe(instant(4));
    const never = getActivationTime(reader, { tenant, epoch: 5 });
    await expect(never).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await findSignature(reader, tenant, 'dec_none' as never)).toBeNull();
  });

  it('of other tenants that were confirmed within a window are listed newest first, without conformance tenants', async () => {
    const fresh = async (from: number, to: number, besides = '*') => {
      const request = { from: minute(from), to: minute(to), besides };
      const { fresh: heads, any } = await listFreshHeads(store.database.reader, request);
      return [heads.map((head) => head.tenant), any];
    };
    expect(await fresh(11, 13)).toEqual([['t-3', 't-2', 't-1'], true]);
    expect(await fresh(12, 12)).toEqual([['t-2'], true]);
    expect(await fresh(0, 10)).toEqual([['acme'], true]);
    expect(await fresh(0, 5, 'acme')).toEqual([['*'], true]);
    expect(await fresh(20, 30)).toEqual([[], true]);
    await store.client.query(`DELETE FROM policy_heads WHERE tenant_id NOT IN ('*', 'conformance:a')`);
    expect(await fresh(0, 99)).toEqual([[], false]);
    await store.client.query(
      `WITH many AS (INSERT INTO policy_bundles SELECT 'many-' || n, 1, 'h', '{}', 'k', 's', $1 FROM generate_series(1, 101) n RETURNING *)
       INSERT INTO policy_heads SELECT tenant_id, epoch, policy_hash, activated_at, key_id, signature FROM many`,
      [instant(50)],
    );
    expect((await fresh(50, 50))[0]).toHaveLength(100);
  });
});

describe('the signing keys of a kernel', () => {
  const key = (keyId: string, more: object = {}) =>
    ({ keyId, publicKey: Uint8Array.of(1, 2), purpose: 'receipts', logOrigin: null, ...more }) as never;
  const record = (keys: never[], nth: number) =>
    store.database.transaction((tx) => recordSigningKeys(tx, keys, minute(nth)));

  it('are published once, for one purpose and one log, and end their predecessors', async () => {
    await record([key('b'), key('log', { purpose: 'log', logOrigin: 'o' })], 60);
    await record([key('a')], 120);
    await expect(record([key('b')], 121)).rejects.toThrow('has ended');
    await record([key('a')], 180);
    const { rows } = await store.client.query<{ key_id: string }>('SELECT key_id FROM trust_keys');
    expect(rows).toHaveLength(3);
    await store.client.query(`UPDATE trust_keys SET valid_from = $1 WHERE key_id = 'log'`, [instant(-1)]);
    const listed = await listTrustKeys(store.database.reader);
    const aside = (nth: number, seconds: number) => new Date(minute(nth).getTime() + seconds * 1_000);
    expect(listed.map(({ key_id, valid_from, valid_until }) => [key_id, valid_from, valid_until])).toEqual([
      ['log', minute(-1), null],
      ['b', aside(60, -40), aside(120, 40)],
      ['a', aside(120, -40), null],
    ]);
    await expect(record([key('a', { purpose: 'policies' })], 180)).rejects.toThrow('another purpose');
    await expect(record([key('log', { purpose: 'log', logOrigin: 'p' })], 60)).rejects.toThrow('another log');
    await expect(record([key('log', { purpose: 'log', logOrigin: 'o' })], 60)).resolves.toBeUndefined();
  });

  it('are refused when revoked, expired or not yet valid, and the error states the remedy', async () => {
    const set = (what: string) => store.client.query(`UPDATE trust_keys SET ${what} WHERE key_id = 'b'`);
    await record([key('b')], 60);
    await set(`valid_until = '${instant(61)}'`);
    await expect(record([key('b')], 60)).resolves.toBeUndefined();
    await expect(record([key('b')], 61)).rejects.toThrow(
      'The key b for receipts has ended: this kernel needs another key',
    );
    await set(`valid_until = NULL, revoked_at = '${instant(90)}'`);
    await expect(record([key('b')], 60)).rejects.toThrow(
      'The key b for receipts is revoked: this kernel needs another key',
    );
    await set(`revoked_at = NULL, valid_from = '${instant(60)}'`);
    await expect(record([key('b')], 59)).rejects.toThrow('The key b for receipts is not valid yet');
    await expect(record([key('b')], 60)).resolves.toBeUndefined();
  });
});

describe('a registered tool', () => {
  it('is returned with its pin, its observed definition, and whether the tenant blocks it', async () => {
    const observed = { observed_definition: { name: 'observed' } };
    await store.insert('mcp_servers', { server_id: 's', state: 'quarantined' });
    await store.insert(
      'mcp_tools',
      { server_id: 's', tool_name: 'a', current_hash: digest(1), drifted_at: instant(0), ...observed },
      { server_id: 's', tool_name: 'b', ...observed },
      { server_id: 's', tool_name: 'c', pinned_hash: null },
    );
    const list = async () => {
      const { data } = await listRegisteredTools(store.database.reader, tenant, {
        page: { limit: 9 },
        now: new Date(),
        effectOf: () => 'E4',
      });
      return data.map((of) => [of.tool, of.pin, of.definition, of.observed_definition, of.blocked, of.server_state]);
    };
    const pinned = { name: 'pinned' };
    const state = 'quarantined';
    expect(await list()).toEqual([
      ['s.a', 'drifted', pinned, { name: 'observed' }, false, state],
      ['s.b', 'in_sync', pinned, null, false, state],
      ['s.c', 'unpinned', pinned, null, false, state],
    ]);
    await store.insert('tool_blocks', { tools: ['s.b'] }, { tools: ['s.a'], tenant_id: 'umbrella' });
    expect((await list()).map((row) => row[4])).toEqual([false, true, false]);
  });
});
