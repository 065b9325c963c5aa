import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { leastWorkMs } from '@countersign/testkit/worked';
import { movableClock } from './_caller.ts';
import { adminKey, serviceKey, startTestKernel, type TestKernel } from './_kernel.ts';
import { change } from './_relations.ts';

type Case = {
  id: string;
  level: string;
  path: string;
  body?: object;
  text?: string;
  status: number;
  headers?: Record<string, string>;
  times?: number;
  expect?: object;
  include?: object[];
  length?: number;
};

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const { cases } = JSON.parse(read('contracts/vectors/authzen/cases.json')) as { cases: Case[] };

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({
    overrides: { clock: time.clock },
    env: { GOV_PUBLIC_URL: 'https://pdp.example.com/' },
  });
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(read('docs/relations.md')) ?? [];
  const env = {
    ...process.env,
    KERNEL_URL: test.kernel.url,
    GOV_SERVICE_API_KEY: serviceKey,
    GOV_ADMIN_API_KEY: adminKey,
  };
  await promisify(execFile)('sh', ['-ec', commands], { cwd: root, env });
});
afterAll(() => test.close());

let tenants = 0;
const newTenant = () => `asked-${(tenants += 1)}`;

type Sent = Pick<Case, 'path' | 'body' | 'text' | 'headers'>;
async function send({ path, body, text, headers }: Sent, tenant: string | null = 'acme') {
  const response = await fetch(`${test.kernel.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      ...(tenant === null ? {} : { 'x-gov-tenant-id': tenant }),
      'content-type': 'application/json',
      ...headers,
    },
    body: text ?? JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

const alice = { type: 'user', id: 'alice' };
const record = { type: 'record', id: 'record-1' };
const evaluation = { subject: alice, action: { name: 'read' }, resource: record };

async function evaluated(body: object, tenant?: string) {
  return (await send({ path: '/access/v1/evaluation', body }, tenant)).body;
}

async function putModel(tenant: string, permissions: object) {
  const body = { types: { record: { permissions } } };
  await test.system.putPermissionModel({ params: { tenant }, body } as never); // branded by the schema
}

/**
 * Creates an access key for these routes. It identifies the tenant, because clients of the standard send only a bearer
 * token.
 */
async function keyOfApplication(doors: string[] = ['authzen']): Promise<string> {
  const body = { kind: 'agent', principal_id: 'pep', doors } as never; // branded and defaulted by the schema
  return (await test.as('acme').createAccessKey({ body })).body.key;
}

describe.each(['the operator and a tenant', 'a key of an application alone'])(
  'the certification scenario, by %s',
  (by) => {
    const isOperator = by === 'the operator and a tenant';
    let statement: Record<string, string> = {};
    beforeAll(async () => {
      if (!isOperator) statement = { authorization: `Bearer ${await keyOfApplication()}` };
    });
    it.each(cases)('$level: $id', async ({ times = 1, ...sent }) => {
      for (let sending = 0; sending < times; sending += 1) {
        const { status, headers, body } = await send(
          { ...sent, headers: { ...statement, ...sent.headers } },
          isOperator ? 'acme' : null,
        );
        expect([status, headers.get('content-type')]).toEqual([sent.status, 'application/json; charset=utf-8']);
        if (sent.status !== 200) expect(typeof body).toBe('string');
        const values = sent.headers?.['x-request-id'];
        if (values !== undefined) expect(headers.get('x-request-id')).toBe(values);
        if (sent.expect !== undefined) expect(body).toMatchObject(sent.expect);
        const { results, evaluations } = body as { results?: object[]; evaluations?: { decision: unknown }[] };
        for (const result of sent.include ?? []) expect(results).toContainEqual(result);
        if (sent.length !== undefined) expect(evaluations ?? results).toHaveLength(sent.length);
        for (const { decision } of evaluations ?? []) expect(typeof decision).toBe('boolean');
      }
    });
  },
);

describe('the certification scenario', () => {
  it('has the discovery document of section 6.3', async () => {
    const response = await fetch(`${test.kernel.url}/.well-known/authzen-configuration`);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({
      policy_decision_point: 'https://pdp.example.com',
      access_evaluation_endpoint: 'https://pdp.example.com/access/v1/evaluation',
      access_evaluations_endpoint: 'https://pdp.example.com/access/v1/evaluations',
      search_subject_endpoint: 'https://pdp.example.com/access/v1/search/subject',
      search_resource_endpoint: 'https://pdp.example.com/access/v1/search/resource',
      search_action_endpoint: 'https://pdp.example.com/access/v1/search/action',
    });
  });
});

describe('an access evaluation', () => {
  it('requires a key for access evaluations, and accepts no other agent key', async () => {
    const ask = async (key: string) =>
      (await send({ path: '/access/v1/evaluation', body: evaluation, headers: { authorization: `Bearer ${key}` } }))
        .status;
    const [made, ordinary] = [await keyOfApplication(), await keyOfApplication(['evaluate', 'chat', 'mcp'])];
    expect([await ask(made), await ask(ordinary)]).toEqual([200, 403]);
    const decision = { action: 'tool.call', tool: 'lookup', session_id: 'pep' };
    const headers = { authorization: `Bearer ${made}` };
    expect((await send({ path: '/api/v1/evaluate', body: decision, headers })).status).toBe(403);
  });

  it('without a credential is refused with a challenge and a text', async () => {
    const sent = { path: '/access/v1/evaluation', body: evaluation, headers: { authorization: '' } };
    const { status, headers, body } = await send(sent);
    expect([status, headers.get('www-authenticate'), typeof body]).toEqual([401, 'Bearer', 'string']);
  });

  it('answers false, with the reason, without a model and with stale or missing relations', async () => {
    const stale = { decision: false, context: { reason_code: 'AUTHZ_SNAPSHOT_STALE' } };
    const tenant = newTenant();
    expect(await evaluated(evaluation, tenant)).toEqual(stale);
    await change(test, tenant, { writes: ['record:record-1#owner@user:alice'] });
    const withoutModel = { decision: false, context: { reason_code: 'PERMISSION_MODEL_MISSING' } };
    expect(await evaluated(evaluation, tenant)).toEqual(withoutModel);
    await putModel(tenant, { read: 'relations.owner' });
    expect(await evaluated(evaluation, tenant)).toEqual({ decision: true });
    time.advance(86_400_001);
    expect(await evaluated(evaluation, tenant)).toEqual(stale);
    const search = { path: '/access/v1/search/subject', body: { ...evaluation, subject: { type: 'user' } } };
    expect((await send(search, tenant)).body).toEqual({ results: [], page: { next_token: '' } });
    time.advance(-86_400_001);
  });

  it('answers false for names outside the model, and for names that no tuple can contain', async () => {
    const unknown = { decision: false, context: { reason_code: 'PERMISSION_UNKNOWN' } };
    expect(await evaluated({ ...evaluation, action: { name: 'fly' } })).toEqual(unknown);
    expect(await evaluated({ ...evaluation, action: { name: 'constructor' } })).toEqual(unknown);
    expect(await evaluated({ ...evaluation, resource: { type: '__proto__', id: 'x' } })).toEqual(unknown);
    for (const id of ['alice#member', 'alice\u0000', ' alice', '*'])
      expect(await evaluated({ ...evaluation, subject: { type: 'user', id } })).toEqual({ decision: false });
  });

  it('uses only the model and the tuples of its tenant', async () => {
    const [tenant, neighbour] = [newTenant(), newTenant()];
    for (const each of [tenant, neighbour])
      await putModel(each, { read: 'relations.owner && resource.properties.open == true' });
    const open = (properties: object | null) => ({ entities: [{ entity: 'record:record-1', properties }] });
    await change(test, tenant, { writes: ['record:record-1#owner@user:alice'], ...open({ open: true }) });
    await change(test, neighbour, { ...open({ open: true }) });
    expect([await evaluated(evaluation, tenant), await evaluated(evaluation, neighbour)]).toEqual([
      { decision: true },
      { decision: false },
    ]);
    const closed = { ...evaluation, resource: { ...record, properties: { open: false } } };
    expect(await evaluated(closed, tenant)).toEqual({ decision: false });
    await change(test, tenant, open(null));
    expect(await evaluated(evaluation, tenant)).toEqual({ decision: false });
  });

  it('reports the faults of each batch item, and an item with its own action inherits no properties', async () => {
    const body = {
      subject: alice,
      action: { name: 'delete', properties: { soft: true } },
      resource: record,
      evaluations: [{}, { action: { name: 'delete' } }, { subject: 'alice' }, 7],
    };
    const { body: answer } = await send({ path: '/access/v1/evaluations', body });
    expect(answer).toMatchObject({
      evaluations: [
        { decision: true },
        { decision: false },
        { decision: false, context: { error: { status: 400, message: expect.stringContaining('subject') } } },
        { decision: false },
      ],
    });
    const many = { ...body, evaluations: Array.from({ length: 201 }, () => ({})) };
    expect(await send({ path: '/access/v1/evaluations', body: many })).toMatchObject({ status: 400 });
  });
});

describe('a large request', () => {
  /** The CPU time of this thread for the request, client included, in ms of the reference machine. */
  const workMs = (sent: Sent, tenant: string) =>
    leastWorkMs(async () => expect(await send(sent, tenant)).toMatchObject({ status: 200 }), { tries: 5 });
  const path = '/access/v1/evaluations';
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`a${index}`, 1]));
  const items = Array.from({ length: 200 }, () => ({}));

  it.each([
    ['a context', { ...evaluation, context: many, evaluations: items }],
    ['properties', { ...evaluation, subject: { ...alice, properties: many }, evaluations: items }],
  ])('reads %s once when all of its items share it', async (_, body) => {
    const tenant = newTenant();
    await putModel(tenant, { read: 'relations.owner && has(context.a1)' });
    await change(test, tenant, { writes: ['record:record-1#owner@user:alice'] });
    // About 20 ms on an idle machine. Reading the value for each item took more than a second.
    expect(await workMs({ path, body }, tenant)).toBeLessThan(250);
  });

  it('compiles only the permissions that it queries', async () => {
    const tenant = newTenant();
    const long = Array.from({ length: 200 }, (_, index) => `relations.r${index}`).join(' || ');
    const others = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`p${index}`, long]));
    await putModel(tenant, { ...others, read: 'relations.owner' });
    const denied = async () => expect(await evaluated(evaluation, tenant)).toEqual({ decision: false });
    // A few milliseconds. Compiling the whole model took half a second.
    expect(await leastWorkMs(denied)).toBeLessThan(250);
  });

  it('queries many relations of many items', async () => {
    const tenant = newTenant();
    await putModel(tenant, { read: Array.from({ length: 200 }, (_, index) => `relations.r${index}`).join(' || ') });
    await change(test, tenant, { writes: ['record:7#r150@group:all#member', 'group:all#member@user:8'] });
    const evaluations = Array.from({ length: 40 }, (_, index) => ({
      subject: { type: 'user', id: `${(index + 1) % 40}` },
      resource: { type: 'record', id: `${index}` },
    }));
    const { body } = await send({ path, body: { action: { name: 'read' }, evaluations } }, tenant);
    const { evaluations: decisions } = body as { evaluations: { decision: boolean }[] };
    expect(decisions.flatMap(({ decision }, index) => (decision ? [index] : []))).toEqual([7]);
  });
});

describe('a search', () => {
  it('accepts zero and every positive integer as its limit', async () => {
    const ask = (limit: unknown) =>
      send({ path: '/access/v1/search/subject', body: { ...evaluation, subject: { type: 'user' }, page: { limit } } });
    expect((await ask(0)).body).toEqual({ results: [], page: { next_token: '' } });
    expect((await ask(1_000_000)).body).toMatchObject({ results: [{ id: 'alice' }, { id: 'bob' }] });
    for (const limit of [-1, 1.5, '1', null]) expect(await ask(limit)).toMatchObject({ status: 400 });
  });

  it('reads all entities of a type, page by page, and ends', async () => {
    const tenant = newTenant();
    await putModel(tenant, { read: 'relations.reader' });
    const people = Array.from({ length: 1_500 }, (_, index) => `group:all#member@user:${index}`);
    await change(test, tenant, {
      writes: [...people, 'record:record-1#reader@group:all#member', 'a:1#r@user:outside'],
    });
    const found: string[] = [];
    let token = '';
    do {
      const body = { ...evaluation, subject: { type: 'user' }, page: { limit: 400, token } };
      const answer = await send({ path: '/access/v1/search/subject', body }, tenant);
      const { results, page } = answer.body as { results: { id: string }[]; page: { next_token: string } };
      found.push(...results.map(({ id }) => id));
      token = page.next_token;
    } while (token !== '' && found.length < 2_000);
    expect(found).toHaveLength(1_500);
    expect(new Set(found).size).toBe(1_500);
    expect(found).not.toContain('outside');
  });

  it('refuses a page token that it did not issue', async () => {
    for (const token of ['%%', 'AA', 'YWxpY2U='])
      expect(
        await send({
          path: '/access/v1/search/subject',
          body: { ...evaluation, subject: { type: 'user' }, page: { token } },
        }),
      ).toMatchObject({ status: 400 });
  });
});
