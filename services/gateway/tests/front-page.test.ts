import { forwarding, gatewayRoutes } from '@countersign/contracts/routes';
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
  it('describes the gateway, and its links work', async () => {
    const page = await new Browser(gateway.url).open('/');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Countersign gateway')]);
    const links = [...page.markup.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link ?? '');
    expect(links).toEqual(['/health', '/docs', '/openapi.json']);
    for (const link of links) {
      const answer = await fetch(new URL(link, gateway.url));
      await answer.body?.cancel();
      expect(answer.ok).toBe(true);
    }
  });

  it('describes every route on a page that loads and runs nothing', async () => {
    const page = await fetch(`${gateway.url}/docs`);
    const text = await page.text();
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action/,
    );
    expect(text).not.toMatch(/<script|<link|<img|<iframe|https?:\/\/|javascript:| on\w+=/i);
    const routes = [...Object.values(gatewayRoutes), ...forwarding.map(({ route }) => route)];
    for (const { operation } of routes) expect(text).toContain(`<h2 id="${operation}">`);
    const anchors = [...text.matchAll(/<a href="#([^"]+)"/g)].map(([, anchor]) => anchor ?? '');
    expect(anchors.filter((anchor) => !text.includes(` id="${anchor}"`))).toEqual([]);
    expect(anchors.length).toBeGreaterThan(routes.length);
  });

  it('serves the published OpenAPI description unchanged', async () => {
    const published = new URL('../../../contracts/openapi/gateway.json', import.meta.url);
    expect(await (await fetch(`${gateway.url}/openapi.json`)).text()).toBe(readFileSync(published, 'utf8'));
  });
});
