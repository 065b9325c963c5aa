import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
  ada = await signInAs(gateway.url, 'ada@example.org');
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const withoutQuotes = (headers: Headers) => ({ 'if-match': (headers.get('etag') ?? '').replaceAll('"', '') });

describe('an If-Match without quotes', () => {
  it('matches the settings that were read', async () => {
    const params = { id: ada.workspace.id };
    const { headers } = await ada.client.getWorkspaceSettings({ params });
    const written = ada.client.putWorkspaceSettings({ params, body: {}, headers: withoutQuotes(headers) });
    await expect(written).resolves.toMatchObject({ status: 200 });
  });

  it('matches the workspace that was read', async () => {
    const params = { id: ada.workspace.id };
    const { headers } = await ada.client.getWorkspace({ params });
    const written = ada.client.putWorkspace({ params, body: { name: 'Renamed' }, headers: withoutQuotes(headers) });
    await expect(written).resolves.toMatchObject({ status: 200 });
  });
});
