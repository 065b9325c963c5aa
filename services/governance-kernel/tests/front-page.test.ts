import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser } from '@countersign/testkit/browser';
import { reaching } from '@countersign/testkit/until';
import { startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: 'https://kernel.example' } });
});
afterAll(() => test.close());

describe('the kernel', () => {
  it('has a front page on both ports that links to its health and its API description', async () => {
    for (const origin of [test.kernel.url, test.kernel.healthUrl]) {
      const page = await new Browser(origin).open('/');
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('Countersign governance kernel')]);
      const links = [...page.markup.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link ?? '');
      expect(links).toContain('https://kernel.example/openapi.json');
      for (const link of links) {
        const at = link.startsWith('/') ? new URL(link, origin) : new URL(new URL(link).pathname, test.kernel.url);
        // Retries each link, because one of them is readiness, which comes late on a slow machine.
        const status = async () => {
          const answer = await fetch(at);
          await answer.body?.cancel();
          return `${link} ${answer.status}`;
        };
        await reaching(status, (seen) => seen === `${link} 200`);
      }
      expect((await fetch(origin, { method: 'HEAD' })).status).toBe(200);
    }
  });

  it('serves the published OpenAPI description unchanged', async () => {
    const published = new URL('../../../contracts/openapi/governance-kernel.json', import.meta.url);
    const response = await fetch(`${test.kernel.url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe(readFileSync(published, 'utf8'));
  });
});
