import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { Browser } from '@countersign/testkit/browser';
import type { StartedGateway } from '../src/index.ts';
import { startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database));
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

describe('the bare address of the gateway', () => {
  it('says what this is, and leads to what it names', async () => {
    const page = await new Browser(gateway.url).open('/');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Countersign gateway')]);
    const links = [...page.markup.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link ?? '');
    expect(links).toEqual(['/health', '/openapi.json']);
    for (const link of links) expect((await fetch(new URL(link, gateway.url))).ok).toBe(true);
  });

  it('serves the published OpenAPI description, byte by byte', async () => {
    const published = new URL('../../../contracts/openapi/gateway.json', import.meta.url);
    expect(await (await fetch(`${gateway.url}/openapi.json`)).text()).toBe(readFileSync(published, 'utf8'));
  });
});
