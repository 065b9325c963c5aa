import { forwarding } from '@countersign/contracts/routes';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import { Upstream } from './_upstream.ts';

const upstream = new Upstream();
let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;

beforeAll(async () => {
  database = await testDatabase();
  const url = await upstream.start();
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: url, GOV_RUN_WORKERS: '0' }));
  ada = await signInAs(gateway.url, 'ada@example.org');
});

beforeEach(() => {
  upstream.received.length = 0;
});

afterAll(async () => {
  await gateway?.stop();
  await upstream.stop();
  await database?.drop();
});

/** Returns the status of a request with this exact target, which `fetch` would normalise. */
function statusOf(target: string): Promise<number> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const headers = { ...ada.headers, host: '127.0.0.1', connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('data', (data) => resolve(Number(String(data).split(' ')[1])));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });
}

describe('the address of a forwarded request', () => {
  const receipts = '/api/v1/receipts';
  it.each<[string, string, string]>([
    ['an origin in front', `http://evil.example${receipts}?limit=1`, `${receipts}?limit=1`],
    ['a backslash in it', `${receipts}/x\\..\\..\\approvals`, `${receipts}/x%5C..%5C..%5Capprovals`],
    ['a fragment after its path', `${receipts}#/../approvals`, receipts],
    ['a fragment after its query', `${receipts}?limit=1#&tenant_id=x`, `${receipts}?limit=1`],
    ['encoded slashes', `${receipts}/..%2f..%2finternal`, `${receipts}/..%2f..%2finternal`],
    ['encoded dots', `${receipts}/%2e%2e`, `${receipts}/%2e%2e`],
  ])('with %s is the address that the gateway matched', async (_what, target, forwarded) => {
    expect(await statusOf(target)).toBe(200);
    expect(upstream.received.map(({ url }) => url)).toEqual([forwarded]);
  });

  it.each([`//evil.example${receipts}`, '//api/v1/receipts', '/API/v1/receipts', '/api/v1/./receipts', `${receipts}/`])(
    'is not forwarded in another spelling: %s',
    async (target) => {
      expect(await statusOf(target)).toBe(404);
      expect(upstream.received).toEqual([]);
    },
  );
});

describe('a key at the routes of agents', () => {
  it('opens its own workspace, and is refused when the request names another one', async () => {
    const eve = await signInAs(gateway.url, 'eve@example.org');
    const made = await ada.client.createApiKey({
      body: { name: 'agent', role: 'member', scopes: ['agent'], expiresInDays: 1 },
    });
    const [own, foreign] = [ada.workspace.id, eve.workspace.id];
    const doors = forwarding.map(({ route }) => route).filter(({ auth }) => auth === 'agent');
    const attempts: [string, Record<string, string>, number][] = [
      ['', {}, 200],
      [`?workspaceId=${own}`, { 'x-workspace-id': own }, 200],
      [`?workspaceId=${foreign}`, {}, 404],
      ['', { 'x-workspace-id': foreign }, 404],
      [`?workspaceId=${foreign}`, { 'x-workspace-id': own }, 400],
      [`?workspaceId=${own}&workspaceId=${foreign}`, {}, 400],
    ];
    for (const { path, method } of doors)
      for (const [query, named, status] of attempts) {
        const headers = { authorization: `Bearer ${made.body.key}`, 'content-type': 'application/json', ...named };
        const sent = method === 'POST' ? { method, headers, body: '{}' } : { method, headers };
        const answered = await fetch(new URL(`${path}${query}`, gateway.url), sent);
        expect([path, query, named, answered.status]).toEqual([path, query, named, status]);
        await answered.body?.cancel();
      }
    expect(upstream.received).toHaveLength(doors.length * 2);
    expect(upstream.received.filter(({ url }) => url.includes('workspaceId'))).toEqual([]);
  });
});
