import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { workspaceParamOf, type AnyRoute } from '@countersign/contracts';
import { forwarding, gatewayRoutes } from '@countersign/contracts/routes';
import { minimalBody } from '@countersign/contracts/testing';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  contentOf,
  putMember,
  rowsOf,
  signInAs,
  serviceKey,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
let eve: Person;
let adasTask: string;

const all: AnyRoute[] = Object.values(gatewayRoutes);
const isOfWorkspace = ({ auth }: AnyRoute) => ['member', 'partner', 'owner'].includes(auth);
const workspaceRoutes = all.filter(isOfWorkspace);
/** Routes that are forwarded to the kernel after their workspace is determined. */
const passedOn: AnyRoute[] = forwarding.map(({ route }) => route);
const contextRoutes = [...all, ...passedOn].filter(isOfWorkspace);
const unknownObject = 'inv_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const unknownId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** Members that no schema describes: a run is started for a new or for an existing task. */
const chosen: Record<string, object> = { 'start-run': { title: 'A task' } };

/** A valid body, so that only the workspace can be wrong. The gateway does not parse the body of a forwarded request. */
const bodyOf = (route: AnyRoute) =>
  passedOn.includes(route) ? {} : minimalBody(route, { ...chosen[route.operation] });

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(
    testConfig(database, { GOV_RUN_WORKERS: '0', GOV_CONTROL_PLANE_URL: 'http://127.0.0.1:9' }),
  );
  ada = await signInAs(gateway.url, 'ada@example.org');
  eve = await signInAs(gateway.url, 'eve@example.org');
  adasTask = (await ada.client.createTask({ body: { title: 'Secret', description: '' } })).body.id;
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

type Place = 'path' | 'header' | 'query' | 'body';
type Call = {
  route: AnyRoute;
  names: Partial<Record<Place, string>>;
  as?: Person;
  /** A credential that replaces the session of a person. */
  credential?: string;
  objectId?: string;
  text?: string;
};

async function call({
  route,
  names,
  as,
  credential = as?.token,
  objectId,
  text,
}: Call): Promise<{ status: number; text: string }> {
  const isWorkspacePath = workspaceParamOf(route) !== undefined;
  const path = route.path
    .replace(/\{\w+\}/, isWorkspacePath ? (names.path ?? '-') : (objectId ?? adasTask))
    .replace(/\{\w+\}/, objectId ?? unknownObject);
  const query = names.query === undefined ? '' : `?workspaceId=${encodeURIComponent(names.query)}`;
  const body =
    route.body === undefined
      ? undefined
      : { ...bodyOf(route), ...(names.body === undefined ? {} : { workspaceId: names.body }) };
  const headers = {
    'x-request-id': 'the-same-request',
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
    ...(names.header === undefined ? {} : { 'x-workspace-id': names.header }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const sent = body === undefined ? {} : { body: text ?? JSON.stringify(body) };
  const response = await fetch(gateway.url + path + query, { method: route.method, headers, ...sent });
  return { status: response.status, text: await response.text() };
}

/** Returns one value, in turn by `nth`, so that each value of a second axis is tested without all combinations. */
function inTurn<Value>(nth: number, values: [Value, ...Value[]]): Value {
  return values[nth % values.length] ?? values[0];
}

function placesOf(route: AnyRoute): Place[] {
  if (workspaceParamOf(route) !== undefined) return ['path'];
  // The gateway does not parse the body of a forwarded request.
  return route.body === undefined || passedOn.includes(route) ? ['header', 'query'] : ['header', 'query', 'body'];
}

describe('the workspace of a request', () => {
  verifies(
    'gw.tenancy.404',
    'that is missing, unknown, malformed or foreign gives the same bytes on every route, wherever it is named',
    async () => {
      const before = await contentOf(database);
      const answers = new Set<string>();
      let places = 0;
      for (const route of contextRoutes) {
        for (const place of placesOf(route)) {
          for (const name of [ada.workspace.id, inTurn(places, [unknownId, 'nonsense', "' OR 1=1 --"])]) {
            const { status, text } = await call({ route, names: { [place]: name }, as: eve });
            expect([route.operation, place, name, status, text]).toEqual([route.operation, place, name, 404, text]);
            answers.add(text);
          }
          places += 1;
        }
        if (!route.path.startsWith('/api/workspace/')) answers.add((await call({ route, names: {}, as: eve })).text);
      }
      expect(places).toBeGreaterThan(100);
      expect([...answers]).toHaveLength(1);
      expect(await contentOf(database)).toEqual(before);
    },
  );

  verifies(
    'gw.tenancy.404',
    'has no objects of other workspaces: they are not found, like objects that do not exist',
    async () => {
      const before = await contentOf(database);
      const withObject = workspaceRoutes.filter(
        ({ path }) => path.includes('{') && !path.startsWith('/api/workspace/'),
      );
      const answers = new Set<string>();
      for (const route of withObject) {
        for (const objectId of [
          adasTask,
          'tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV',
          'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV',
          '%00',
          'x',
        ])
          answers.add((await call({ route, names: { header: eve.workspace.id }, as: eve, objectId })).text);
      }
      expect([...answers]).toHaveLength(1);
      expect([...answers][0]).toContain('"code":"NOT_FOUND"');
      expect(await contentOf(database)).toEqual(before);
    },
  );

  it('opens each route to the role in its contract, and to no lower role', async () => {
    const guest = await signInAs(gateway.url, 'guest@example.org');
    const workspaceId = ada.workspace.id;
    const ranks = ['member', 'partner', 'owner'] as const;
    for (const route of workspaceRoutes.filter(({ auth }) => auth !== 'member')) {
      const answers = [];
      for (const role of ranks) {
        await putMember(database, { workspaceId, userId: guest.user.id, role });
        const isWorkspacePath = route.path.startsWith('/api/workspace/');
        const names: Call['names'] = { [isWorkspacePath ? 'path' : 'header']: workspaceId };
        const { status, text } = await call({ route, names, as: guest });
        answers.push(status === 403 ? errorOf(text)['details'] : 'let in');
      }
      const least = ranks.findIndex((role) => role === route.auth);
      const expected = ranks.map((role, rank) => (rank < least ? { needed: route.auth, role } : 'let in'));
      expect([route.operation, answers]).toEqual([route.operation, expected]);
    }
    await rowsOf(database, 'DELETE FROM workspace_members WHERE user_id = $1 AND workspace_id = $2', [
      guest.user.id,
      workspaceId,
    ]);
  });

  verifies(
    'gw.tenancy.404',
    'is refused on every route, for every caller, when two places name different ones, and a repeated name counts as one',
    async () => {
      const before = await contentOf(database);
      const { key } = await keyOf(eve);
      let calls = 0;
      for (const route of contextRoutes) {
        const own = placesOf(route).includes('path') ? (['path', 'header', 'query'] as const) : placesOf(route);
        const pairs = own.flatMap((one, at) => own.slice(at + 1).map((candidate) => [one, candidate] as const));
        for (const [one, neighbour] of pairs) {
          const credential = inTurn(calls, [eve.token, key]);
          const mixed = { [one]: eve.workspace.id, [neighbour]: ada.workspace.id };
          const { status, text } = await call({ route, names: mixed, credential });
          expect([route.operation, one, neighbour, status]).toEqual([route.operation, one, neighbour, 400]);
          expect(errorOf(text)['code']).toBe('WORKSPACE_CONTEXT_CONFLICT');
          const path = placesOf(route).includes('path') ? { path: ada.workspace.id } : {};
          const foreign = { ...path, [one]: ada.workspace.id, [neighbour]: ada.workspace.id };
          const unseen = await call({ route, names: foreign, credential });
          expect([route.operation, one, neighbour, unseen.status]).toEqual([route.operation, one, neighbour, 404]);
          calls += 1;
        }
      }
      expect(calls).toBeGreaterThan(100);
      const { api_keys: _, audit_entries: _entries, ...after } = await contentOf(database);
      expect(before).toMatchObject(after);
    },
  );

  verifies(
    'gw.tenancy.404',
    'is not found on any route by a key of another one, with the bytes for a missing object',
    async () => {
      const { key } = await keyOf(eve);
      const answers = new Set<string>();
      let places = 0;
      for (const route of contextRoutes)
        for (const place of placesOf(route)) {
          for (const name of [ada.workspace.id, inTurn(places, [unknownId, 'nonsense'])]) {
            const { status, text } = await call({ route, names: { [place]: name }, credential: key });
            expect([route.operation, place, name, status]).toEqual([route.operation, place, name, 404]);
            answers.add(text);
          }
          places += 1;
        }
      const missing = await fetch(new URL(`/api/runs/run_01ARZ3NDEKTSV4RRFFQ69G5FAV`, gateway.url), {
        headers: { 'x-api-key': key, 'x-request-id': 'the-same-request' },
      });
      answers.add(await missing.text());
      expect([...answers]).toHaveLength(1);
    },
  );

  it('is refused when header and body name different ones, and accepted when all places name the same', async () => {
    const [route] = workspaceRoutes.filter(({ operation }) => operation === 'create-task');
    if (route === undefined) throw new Error('create-task is gone');
    const refused = await call({ route, names: { header: ada.workspace.id, body: eve.workspace.id }, as: ada });
    expect([refused.status, errorOf(refused.text)['code']]).toEqual([400, 'WORKSPACE_CONTEXT_CONFLICT']);
    const accepted = await call({
      route,
      names: { header: ada.workspace.id, query: ada.workspace.id, body: ada.workspace.id },
      as: ada,
    });
    expect(accepted.status).toBe(201);
  });

  verifies(
    'gw.auth.401',
    'is closed to missing, malformed, unknown and foreign credentials, with the error envelope, on every route that is not public',
    async () => {
      const ended = await endedCredentials();
      const before = await contentOf(database);
      const credentials: [string, ...string[]] = [
        ...ended,
        'Bearer',
        'Bearer x',
        `Bearer cs_${'A'.repeat(43)}`,
        `Basic ${ada.token}`,
        'Bearer hp_x',
      ];
      const guarded = [...all, ...passedOn].filter(({ auth }) => auth !== 'public');
      expect(guarded.length).toBeGreaterThan(credentials.length);
      for (const [nth, route] of guarded.entries()) {
        for (const authorization of [undefined, inTurn(nth, credentials), inTurn(nth + 3, credentials)]) {
          const path = route.path.replaceAll(/\{\w+\}/g, ada.workspace.id);
          const headers = {
            'x-workspace-id': ada.workspace.id,
            ...(authorization === undefined ? {} : { authorization }),
          };
          const response = await fetch(new URL(path, gateway.url), { method: route.method, headers });
          const { error } = (await response.json()) as { error: { type?: string; data?: { code: string } } };
          const isTold = error.type === 'authentication_error' || error.data?.code.startsWith('CREDENTIALS_') === true;
          expect([route.operation, response.status, isTold]).toEqual([route.operation, 401, true]);
        }
      }
      expect(await contentOf(database)).toEqual(before);
    },
  );
});

async function keyOf({ client }: Person) {
  return (await client.createApiKey({ body: { role: 'partner' } as never })).body; // its other members have defaults
}

/** Returns an ended session and an expired key. */
async function endedCredentials(): Promise<[string, string]> {
  const former = await signInAs(gateway.url, 'former@example.org');
  const { key, id } = (await former.client.createApiKey({ body: {} as never })).body;
  await rowsOf(database, 'UPDATE api_keys SET expires_at = now() WHERE id = $1', [id]);
  await rowsOf(database, 'UPDATE sessions SET expires_at = now() WHERE user_id = $1', [former.user.id]);
  return [`Bearer ${former.token}`, `Bearer ${key}`];
}

describe('a hostile request', () => {
  const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`;
  const cases: [string, string, number][] = [
    ['text that is not JSON', '{', 400],
    ['two values', '{}{}', 400],
    ['an array', '[]', 400],
    ['a string', '"x"', 400],
    ['null', 'null', 400],
    ['an unknown member', '{"surprise":1}', 400],
    ['a duplicate member', '{"title":"a","title":"b"}', 400],
    ['a lone surrogate', '{"title":"\\ud800"}', 400],
    ['__proto__', '{"__proto__":{"admin":true}}', 400],
    ['numbers instead of texts', '{"title":1,"status":1,"mode":1,"policyConfig":1,"email":1,"code":1}', 400],
    ['NaN', '{"title":NaN}', 400],
    ['a number over the range of binary64', '{"title":1e999}', 400],
    ['a body with too many levels', deep, 400],
    ['a body over the size limit', JSON.stringify({ title: 'x'.repeat(1_100_000) }), 413],
    [
      'NUL',
      '{"title":"a\\u0000b","description":"\\u0000","status":"\\u0000","mode":"\\u0000","email":"\\u0000","code":"\\u0000"}',
      400,
    ],
  ];
  const withBody = all.filter(({ body }) => body !== undefined);

  it.each(cases)(
    'with %s is refused on every route with the error envelope, and nothing is written',
    async (_name, text, status) => {
      const before = await contentOf(database);
      for (const route of withBody) {
        const answer = await call({
          route,
          names: { path: ada.workspace.id, header: ada.workspace.id },
          as: ada,
          ...(route.auth === 'service_internal' ? { credential: serviceKey } : {}),
          text,
        });
        const error = errorOf(answer.text);
        expect([route.operation, answer.status]).toEqual([route.operation, status]);
        expect(error).toMatchObject({
          code: expect.any(String),
          request_id: 'the-same-request',
          message: expect.any(String),
          retryable: false,
        });
      }
      expect(await contentOf(database)).toEqual(before);
    },
  );

  it('with hostile values in its query causes no server error', async () => {
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=x',
      'cursor=%00',
      'cursor=zzz',
      'surprise=1',
      'action=%00',
      'actor=%27',
      'from=yesterday',
      'a=1&a=2',
      '%ff',
    ]) {
      for (const path of [
        '/api/audit',
        '/api/tasks',
        '/api/runs',
        '/api/audit/approvals',
        '/api/audit/violations',
        '/api/governance/receipts',
      ]) {
        const response = await fetch(new URL(`${path}?${query}`, gateway.url), { headers: ada.headers });
        expect([path, query, response.status < 500]).toEqual([path, query, true]);
      }
    }
  });

  it('to an unknown route gets an answer that differs from that for a wrong method', async () => {
    const unknown = await fetch(new URL('/api/nothing', gateway.url));
    expect([unknown.status, ((await unknown.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      'ROUTE_NOT_FOUND',
    ]);
    const wrongMethod = await fetch(new URL('/api/tasks', gateway.url), { method: 'DELETE' });
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
  });
});

function errorOf(text: string): Record<string, unknown> {
  return (JSON.parse(text) as { error: Record<string, unknown> }).error;
}
