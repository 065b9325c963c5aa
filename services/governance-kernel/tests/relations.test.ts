import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { explainStatements, recordPlans } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { ledgerOf, movableClock, refusal } from './_caller.ts';
import { clientOf, poolOf, startTestKernel, systemOf, type TestKernel } from './_kernel.ts';
import { change, check } from './_relations.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
const day = 86_400_000;
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let tenants = 0;
const newTenant = () => `related-${(tenants += 1)}`;
const asks = (tenant: string, question: string) => check(test.as(tenant), question);
const write = (tenant: string, ...writes: string[]) => change(test, tenant, { writes });

describe('a check', () => {
  verifies('kn.authz', 'follows tuples through groups, and returns the path', async () => {
    const tenant = newTenant();
    const { snapshot_id, snapshot_hash } = await write(
      tenant,
      'document:42#viewer@group:eng#member',
      'group:eng#member@group:leads#member',
      'group:leads#member@user:ann',
      'document:42#editor@user:bob',
    );
    expect(await asks(tenant, 'document:42#viewer@user:ann')).toEqual({
      decision: true,
      snapshot_id,
      snapshot_hash,
      path: [
        'document:42#viewer@group:eng#member',
        'group:eng#member@group:leads#member',
        'group:leads#member@user:ann',
      ],
      reason: null,
      checked_at: time.clock().toISOString(),
    });
    expect(await asks(tenant, 'document:42#viewer@user:bob')).toMatchObject({
      decision: false,
      path: [],
      reason: null,
    });
    expect(await asks(tenant, 'document:42#viewer@group:leads#member')).toMatchObject({ decision: true });
    expect(await asks(newTenant(), 'document:42#viewer@user:ann')).toMatchObject({
      decision: false,
      snapshot_id: null,
    });
  });

  it('ends even if groups form a cycle, and always returns the same shortest path', async () => {
    const tenant = newTenant();
    await write(
      tenant,
      ...['group:a#member@group:b#member', 'group:b#member@group:c#member', 'group:c#member@group:a#member'],
      ...['group:a#member@group:z#member', 'group:c#member@user:ann', 'group:z#member@user:ann'],
      'group:a#member@group:a#member',
    );
    const paths = await Promise.all([1, 2, 3].map(() => asks(tenant, 'group:a#member@user:ann')));
    for (const { path } of paths) expect(path).toEqual(['group:a#member@group:z#member', 'group:z#member@user:ann']);
    expect(await asks(tenant, 'group:a#member@user:bob')).toMatchObject({ decision: false, reason: null });
  });

  it('finds one member of 10,000 without reading the others', async () => {
    const tenant = newTenant();
    await asAdministrator(
      test,
      `INSERT INTO relation_tuples SELECT $1, 'group:all', 'member', false, 'user:' || n FROM generate_series(1, 10000) n`,
      [tenant],
    );
    await asAdministrator(test, 'ANALYZE relation_tuples'); // query plans depend on the current statistics
    await write(tenant, 'document:42#viewer@group:all#member');
    await explainStatements(test.database);
    const third = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
    const plans = await recordPlans(poolOf(third))
      .during(async () => {
        const asksThird = (question: string) => check(clientOf(third, tenant), question);
        expect(await asksThird('document:42#viewer@user:9999')).toMatchObject({ decision: true });
        expect(await asksThird('document:42#viewer@user:0')).toMatchObject({ decision: false, reason: null });
      })
      .finally(() => third.stop());
    const scans = plans.flatMap((plan) => plan.scans).filter(({ table }) => table === 'relation_tuples');
    const tuplesRead = scans.reduce((total, { rowsRead }) => total + rowsRead, 0);
    expect(scans.length).toBeGreaterThan(0);
    expect(tuplesRead).toBeLessThan(10);
  });

  it('answers WORK_EXCEEDED when groups are nested too deep or are too many', async () => {
    const tenant = newTenant();
    const chain = Array.from({ length: 20 }, (_, index) => `group:${index}#member@group:${index + 1}#member`);
    await write(tenant, ...chain, 'group:16#member@user:near', 'group:17#member@user:far');
    expect(await asks(tenant, 'group:0#member@user:near')).toMatchObject({ decision: true });
    expect(await asks(tenant, 'group:0#member@user:far')).toMatchObject({ decision: false, reason: 'WORK_EXCEEDED' });
    await asAdministrator(
      test,
      `INSERT INTO relation_tuples SELECT $1, 'group:wide', 'member', true, 'group:w' || n || '#member' FROM generate_series(1, 6000) n`,
      [tenant],
    );
    await write(tenant, 'group:w1#member@user:ann');
    expect(await asks(tenant, 'group:wide#member@user:ann')).toMatchObject({ decision: true });
    expect(await asks(tenant, 'group:wide#member@user:bob')).toMatchObject({
      decision: false,
      reason: 'WORK_EXCEEDED',
    });
  });

  it('answers no from stale relations, and uses them again once they are confirmed', async () => {
    const tenant = newTenant();
    await write(tenant, 'document:42#viewer@user:ann');
    time.advance(day + 1);
    expect(await asks(tenant, 'document:42#viewer@user:ann')).toMatchObject({
      decision: false,
      reason: 'AUTHZ_SNAPSHOT_STALE',
    });
    expect((await test.as(tenant).getAuthzHealth({})).body).toMatchObject({
      status: 'stale',
      snapshot: { version: 1 },
    });
    expect(await change(test, tenant, {})).toMatchObject({ confirmed: true, version: 1 });
    expect(await asks(tenant, 'document:42#viewer@user:ann')).toMatchObject({ decision: true });
    expect((await test.as(tenant).getAuthzHealth({})).body.status).toBe('ready');
    expect((await test.as(newTenant()).getAuthzHealth({})).body).toMatchObject({ status: 'missing', snapshot: null });
  });
});

describe('a batch', () => {
  it('creates a snapshot whose hash covers all changes up to it', async () => {
    const tenant = newTenant();
    const first = await write(tenant, 'a:1#r@u:1', 'a:1#r@u:2', 'a:1#r@u:1');
    const next = await change(test, tenant, {
      writes: ['a:1#r@u:2', 'a:1#r@u:3'],
      deletes: ['a:1#r@u:1', 'a:1#r@u:9'],
    });
    expect([first.written, first.tuple_count, first.previous_hash, first.version]).toEqual([2, 2, null, 1]);
    expect([next.written, next.deleted, next.tuple_count, next.version]).toEqual([1, 1, 2, 2]);
    expect(next.previous_hash).toBe(first.snapshot_hash);
    let previous: string | null = null;
    for (const { snapshot_id } of [first, next]) {
      const { body } = await test.as(tenant).getRelationSnapshot({ params: { snapshot_id } });
      const stated = parsePlainJson({ previous, version: body.version, changes: body.changes });
      expect(digestOf(nodeProvider, canonicalBytes(stated))).toBe(body.snapshot_hash);
      previous = body.snapshot_hash;
    }
    const { data } = (await test.as(tenant).listRelationSnapshots({ query: { limit: 1 } })).body;
    expect(data.map(({ version }) => version)).toEqual([2]);
  });

  it('that changes nothing confirms the snapshot, or creates the first one', async () => {
    const tenant = newTenant();
    expect(await change(test, tenant, {})).toMatchObject({ version: 1, tuple_count: 0, confirmed: false });
    await write(tenant, 'a:1#r@u:1');
    time.advance(1_000);
    const again = await write(tenant, 'a:1#r@u:1');
    expect(again).toMatchObject({ version: 2, confirmed: true, confirmed_at: time.clock().toISOString() });
    expect(Date.parse(again.fresh_until) - Date.parse(again.confirmed_at)).toBe(day);
  });

  it('from either of two concurrent writers raises the version by one, and no write is lost', async () => {
    const tenant = newTenant();
    const systems = [test.kernel.url, second.url].map(systemOf);
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const system = systems[index % 2];
        if (system === undefined) throw new Error('there are two');
        return change({ system }, tenant, { writes: [`a:1#r@u:${index}`, 'a:1#r@u:shared'] });
      }),
    );
    expect(written.map(({ version }) => version).sort((left, right) => left - right)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(written.reduce((sum, { written: count }) => sum + count, 0)).toBe(21);
    const { data } = (await test.as(tenant).listRelationSnapshots({})).body;
    data.slice(0, -1).forEach(({ previous_hash }, index) => expect(previous_hash).toBe(data[index + 1]?.snapshot_hash));
    expect(data[0]).toMatchObject({ version: 20, tuple_count: 21 });
  });

  it('is written whole or not at all, and only if its preconditions hold', async () => {
    const tenant = newTenant();
    await write(tenant, 'a:1#r@u:1');
    const there = { object: 'a:1', relation: 'r', subject: 'u:1', exists: true };
    const tried = (more: object) => refusal(change(test, tenant, { writes: ['a:1#r@u:2'], ...more }));
    expect(await tried({ preconditions: [{ ...there, exists: false }] })).toBe('PRECONDITION_FAILED');
    expect(await tried({ preconditions: [there, { ...there, subject: 'u:7' }] })).toBe('PRECONDITION_FAILED');
    expect(await tried({ expected_version: 0 })).toBe('PRECONDITION_FAILED');
    expect(await tried({ deletes: ['a:1#r@u:2'] })).toBe('INVALID_REQUEST');
    const twice = [
      { entity: 'a:1', properties: {} },
      { entity: 'a:1', properties: null },
    ];
    expect(await tried({ entities: twice })).toBe('INVALID_REQUEST');
    expect(await asks(tenant, 'a:1#r@u:2')).toMatchObject({ decision: false });
    const existing = { preconditions: [there], expected_version: 1 };
    expect(await change(test, tenant, { writes: ['a:1#r@u:2'], ...existing })).toMatchObject({ version: 2 });
  });

  it('with a property that PostgreSQL cannot store is rejected', async () => {
    for (const properties of [{ t: 'a\u0000b' }, { 'a\u0000': 1 }, { in: [{ it: '\u0000' }] }])
      expect(await refusal(change(test, newTenant(), { entities: [{ entity: 'a:1', properties }] }))).toBe(
        'INVALID_REQUEST',
      );
    const literal = { entities: [{ entity: 'a:1', properties: { t: '\\u0000' } }] };
    expect(await change(test, newTenant(), literal)).toMatchObject({ version: 1 });
  });

  it('that changes something is sealed with its writer and the hash of its snapshot', async () => {
    const tenant = newTenant();
    const made = await write(tenant, 'a:1#r@u:1', 'a:1#r@u:2');
    await write(tenant, 'a:1#r@u:1');
    const changed = await change(test, tenant, {
      deletes: ['a:1#r@u:1'],
      entities: [{ entity: 'a:1', properties: { x: 1 } }],
    });
    const model = { types: { a: { permissions: { read: 'relations.r' } } } };
    const put = () => test.system.putPermissionModel({ params: { tenant }, body: model });
    const ruled = (await put()).body;
    await put();
    const sealed = (await ledgerOf(test, 'relations')).filter(({ payload }) => payload.tenant_id === tenant);
    const counts = (written: number, deleted: number, entities: number) => ({ written, deleted, entities });
    const setting = ({ version, snapshot_hash, previous_hash, model_hash }: typeof ruled) => ({
      ...{ version, snapshot_hash, previous_hash, model_hash },
    });
    expect(sealed.map(({ payload, record }) => [payload.principal_id, payload.resource, record?.intent.facts])).toEqual(
      [
        ['service', `relations:${made.snapshot_id}`, { ...setting(made), ...counts(2, 0, 0) }],
        ['service', `relations:${changed.snapshot_id}`, { ...setting(changed), ...counts(0, 1, 1) }],
        ['service', `relations:${ruled.snapshot_id}`, { ...setting(ruled), ...counts(0, 0, 0) }],
      ],
    );
  });

  it('for an entity counts as a change only when a property changes', async () => {
    const tenant = newTenant();
    const entities = (properties: object | null) => ({ entities: [{ entity: 'a:1', properties }] });
    expect(await change(test, tenant, entities({ x: 1, y: 2 }))).toMatchObject({ version: 1 });
    expect(await change(test, tenant, entities({ y: 2, x: 1 }))).toMatchObject({ version: 1, confirmed: true });
    expect(await change(test, tenant, entities({ x: 2 }))).toMatchObject({ version: 2 });
    expect(await change(test, tenant, entities(null))).toMatchObject({ version: 3 });
    expect(await change(test, tenant, entities(null))).toMatchObject({ version: 3, confirmed: true });
  });

  it('of the largest size is written, and a larger one is rejected', async () => {
    const tenant = newTenant();
    const long = 'x'.repeat(240);
    const tuples = (count: number) =>
      Array.from({ length: count }, (_, index) => `document:${long}#viewer@user:${long}${index}`);
    expect(await write(tenant, ...tuples(2_000))).toMatchObject({ written: 2_000, tuple_count: 2_000 });
    expect(await refusal(write(tenant, ...tuples(2_001)))).toBe('INVALID_REQUEST');
    const gone = await change(test, tenant, { deletes: tuples(2_000) });
    expect(gone).toMatchObject({ deleted: 2_000, tuple_count: 0 });
  });

  it('keeps the last 256 snapshots', async () => {
    const tenant = newTenant();
    await write(tenant, 'a:1#r@u:1');
    await asAdministrator(
      test,
      `INSERT INTO relation_snapshots
       SELECT tenant_id, n, 'snp_' || n, snapshot_hash, previous_hash, '{}', 1, NULL, created_at, confirmed_at
         FROM relation_snapshots, generate_series(2, 300) n WHERE tenant_id = $1 AND version = 1`,
      [tenant],
    );
    await asAdministrator(test, `UPDATE relation_heads SET version = 300 WHERE tenant_id = $1`, [tenant]);
    await write(tenant, 'a:1#r@u:2');
    const { rows } = await test.pool.query<{ kept: number; oldest: number }>(
      'SELECT count(*)::int AS kept, min(version) AS oldest FROM relation_snapshots WHERE tenant_id = $1',
      [tenant],
    );
    expect(rows).toEqual([{ kept: 256, oldest: 46 }]);
  });
});

describe('a name', () => {
  it.each([
    ['an object without a type', { object: '42' }],
    ['an object that is a group', { object: 'group:eng#member' }],
    ['a type in capitals', { object: 'Document:42' }],
    ['a type without an ID', { object: 'document:' }],
    ['a wildcard', { subject: 'user:*' }],
    ['a wildcard group', { subject: 'group:*#member' }],
    ['two relations', { subject: 'group:eng#member#viewer' }],
    ['a relation with a separator', { relation: 'viewer@user' }],
    ['invisible characters', { subject: 'user:ann\u200b' }],
    ['a direction mark', { subject: 'user:\u202eann' }],
    ['a control character', { subject: 'user:a\nb' }],
    ['NUL', { subject: 'user:a\u0000' }],
    ['a trailing space', { subject: 'user:ann ' }],
    ['more bytes than an index accepts', { subject: `user:${'\u{1F512}'.repeat(128)}` }],
    ['an unknown member', { note: 'x' }],
  ])('is rejected when it contains %s', async (_, piece) => {
    const tuple = { object: 'document:42', relation: 'viewer', subject: 'user:ann', ...piece };
    const body = { tenant_id: newTenant(), writes: [tuple] } as never; // rejected by the schema
    expect(await refusal(test.system.writeRelationships({ body }))).toMatch(/^(INVALID_REQUEST|UNKNOWN_MEMBER)$/);
  });

  it('may contain any other character, and is matched exactly', async () => {
    const tenant = newTenant();
    const names = ["user:o'neil@example.org", 'user:a:b/c%_\\', 'user:日本', 'user:{}', 'user:$1'];
    await write(tenant, ...names.map((name) => `document:4@2#viewer@${name}`));
    for (const name of names)
      expect(await asks(tenant, `document:4@2#viewer@${name}`)).toMatchObject({ decision: true });
    expect(await asks(tenant, 'document:4@2#viewer@user:a:b/cXX\\')).toMatchObject({ decision: false });
  });
});

describe('a permission model', () => {
  it('is part of the snapshot, and is stored only if it compiles', async () => {
    const tenant = newTenant();
    const put = (read: string) =>
      test.system.putPermissionModel({
        params: { tenant },
        body: { types: { document: { permissions: { read } } } },
      });
    expect((await put('relations.viewer')).body).toMatchObject({
      version: 1,
      model_hash: expect.stringMatching(/^sha256:/),
    });
    expect((await put('relations.viewer')).body).toMatchObject({ version: 1 });
    expect((await put('relations.owner')).body).toMatchObject({ version: 2 });
    await expect(put('relations.owner +')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(put('principal == "x"')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await write(tenant, 'a:1#r@u:1')).toMatchObject({
      version: 3,
      model_hash: expect.stringMatching(/^sha256:/),
    });
  });
});

describe('a snapshot', () => {
  it('covers all reads of one answer, or the answer fails', async () => {
    const tenant = newTenant();
    await write(tenant, 'a:1#r@u:1');
    const { relations } = test.kernel.context;
    const seen: unknown[] = [];
    const overtaken = async (last: number) => {
      await relations.atOneSnapshot(tenant, async (head) => {
        seen.push(head?.version);
        if (seen.length <= last) await write(tenant, `a:${seen.length}#r@u:2`);
      });
    };
    await overtaken(1);
    expect(seen).toEqual([1, 2]);
    expect(await refusal(overtaken(100))).toBe('STORE_UNAVAILABLE');
    expect(seen).toEqual([1, 2, 2, 3, 4, 5, 6]);
  });

  it('of another tenant is reported as not found, like an unknown one', async () => {
    const { snapshot_id } = await write(newTenant(), 'a:1#r@u:1');
    const stranger = test.as(newTenant());
    const unknown = 'snp_01ARZ3NDEKTSV4RRFFQ69G5FAV' as typeof snapshot_id;
    for (const id of [snapshot_id, unknown])
      expect(await refusal(stranger.getRelationSnapshot({ params: { snapshot_id: id } }))).toBe('NOT_FOUND');
    expect((await stranger.listRelationSnapshots({})).body.data).toEqual([]);
  });
});
