import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyPrincipal } from '@countersign/contracts';
import { clientOf, signInAs, type Person } from './_gateway.ts';
import { startReportedGateway, type ReportedGateway } from './_reports.ts';

let reported: ReportedGateway;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  reported = await startReportedGateway();
  ({ ada } = reported);
  eve = await signInAs(reported.gateway.url, 'eve@example.org');
});

beforeEach(() => {
  reported.upstream.answer = (_req, res) => res.end('{}');
});

afterAll(() => reported?.stop());

describe('a failed call outside of the workspaces of its caller', () => {
  it('in a workspace of others is stored for its person only', async () => {
    const headers = { ...eve.headers, 'x-workspace-id': ada.workspace.id };
    const { requestId, status } = await reported.send('/api/tasks', { headers });
    expect(status).toBe(404);
    expect(reported.loggedOf(requestId)).toMatchObject({ principal: eve.user.id, status: 404 });
    expect(await reported.reportOf(eve, requestId)).toMatchObject({ workspaceId: null, status: 404 });
    await expect(ada.client.getReport({ params: { requestId } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('by a key, in a request that names another workspace, is stored for the owner of the key only', async () => {
    const both = await reported.memberOf('both@example.org', 'member');
    const client = clientOf(reported.gateway.url, { ...both.headers, 'x-workspace-id': both.workspace.id });
    const { body: key } = await client.createApiKey({
      body: { name: 'own', role: 'member', scopes: ['read'], expiresInDays: 1 },
    });
    const headers = { 'x-api-key': key.key, 'x-workspace-id': ada.workspace.id };
    const { requestId, status } = await reported.send('/api/tasks', { headers });
    expect([status, reported.loggedOf(requestId)['principal']]).toEqual([404, keyPrincipal(key.id)]);
    const found = { workspaceId: null, status: 404, principal: keyPrincipal(key.id) };
    expect(await reported.reportOf(both, requestId)).toMatchObject(found);
    await expect(ada.client.getReport({ params: { requestId } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('without a route or a workspace is stored for its person only', async () => {
    const headers = { authorization: ada.headers['authorization'] ?? '' };
    const calls = ['/no/such-path', '/api/me?odd=1', '/api/auth/sessions?odd=1'].map((path) =>
      reported.send(path, { headers }),
    );
    for (const { requestId, status } of await Promise.all(calls)) {
      const found = { workspaceId: null, status, principal: ada.user.id };
      expect(await reported.reportOf(ada, requestId)).toMatchObject(found);
      await expect(eve.client.getReport({ params: { requestId } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  it('outside of any workspace is visible to its person, and to none of their keys', async () => {
    const { body: key } = await ada.client.createApiKey({
      body: { name: 'looks', role: 'member', scopes: ['read'], expiresInDays: 1 },
    });
    const { requestId } = await reported.send('/no/such-path', {
      headers: { authorization: ada.headers['authorization'] ?? '' },
    });
    await reported.reportOf(ada, requestId);
    const byKey = clientOf(reported.gateway.url, { 'x-api-key': key.key });
    await expect(byKey.getReport({ params: { requestId } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
