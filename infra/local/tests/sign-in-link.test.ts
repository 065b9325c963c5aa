import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { serveSignInLink } from '../src/sign-in-link.ts';

let link: Awaited<ReturnType<typeof serveSignInLink>>;
beforeAll(async () => {
  // Sign-in is impossible without a gateway: a valid request is answered 503.
  link = await serveSignInLink({ consoleUrl: 'http://localhost:3000' } as never);
});
afterAll(() => link.close());

type Asked = { url?: string; method?: string };

function statusOf(headers: Record<string, string>, { url = link.url, method = 'GET' }: Asked = {}) {
  return new Promise<number | undefined>((resolve, reject) => {
    const req = request(url, { method, headers }, (res) => resolve(res.resume().statusCode));
    req.once('error', reject).end();
  });
}

it('signs no one in for a foreign page, nor under another path or method', async () => {
  expect(await statusOf({})).toBe(503);
  expect(await statusOf({ origin: 'http://localhost:3000' })).toBe(503);
  expect(await statusOf({ host: 'rebound.example:3000' })).toBe(404);
  expect(await statusOf({ origin: 'https://elsewhere.example' })).toBe(404);
  expect(await statusOf({}, { url: `${link.url}x` })).toBe(404);
  expect(await statusOf({}, { method: 'POST' })).toBe(404);
});

it('runs beside a model that foreign pages cannot call', async () => {
  const model = await startScriptedModel();
  const url = `${model.url}/models`;
  expect(await statusOf({}, { url })).toBe(200);
  expect(await statusOf({ host: 'rebound.example' }, { url })).toBe(403);
  expect(await statusOf({ origin: 'https://elsewhere.example' }, { url })).toBe(403);
  expect(model.requests).toHaveLength(1);
  await model.close();
});
