import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { serveSignInLink } from '../src/sign-in-link.ts';

let link: Awaited<ReturnType<typeof serveSignInLink>>;
beforeAll(async () => {
  // There is no gateway to sign in with, so a valid request gets 503.
  link = await serveSignInLink({ consoleUrl: 'http://localhost:3000' } as never);
});
afterAll(() => link.close());

type Input = { url?: string; method?: string };

function statusOf(headers: Record<string, string>, { url = link.url, method = 'GET' }: Input = {}) {
  return new Promise<number | undefined>((resolve, reject) => {
    const req = request(url, { method, headers }, (res) => resolve(res.resume().statusCode));
    req.once('error', reject).end();
  });
}

it('the sign-in link refuses foreign pages, other paths and other methods', async () => {
  expect(await statusOf({})).toBe(503);
  expect(await statusOf({ origin: 'http://localhost:3000' })).toBe(503);
  expect(await statusOf({ host: 'rebound.example:3000' })).toBe(404);
  expect(await statusOf({ origin: 'https://elsewhere.example' })).toBe(404);
  expect(await statusOf({}, { url: `${link.url}x` })).toBe(404);
  expect(await statusOf({}, { method: 'POST' })).toBe(404);
});

it('the scripted model refuses foreign pages', async () => {
  const model = await startScriptedModel();
  const url = `${model.url}/models`;
  expect(await statusOf({}, { url })).toBe(200);
  expect(await statusOf({ host: 'rebound.example' }, { url })).toBe(403);
  expect(await statusOf({ origin: 'https://elsewhere.example' }, { url })).toBe(403);
  expect(model.requests).toHaveLength(1);
  await model.close();
});
