import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { adminKey } from './_kernel.ts';
import { startKernelProcess, until } from './_kernel-process.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const upstreamTimeoutMs = 45_000;
/** What the key outlives the longest answer of a model by, at most: judging it (GOV_MCP_TIMEOUT) and sealing. */
const marginMs = 32_000;

let elapsedMs = 0;
let upstreams: Upstreams;
beforeAll(async () => {
  const overrides = { clock: () => new Date(Date.now() + elapsedMs) };
  upstreams = await startUpstreams({ GOV_UPSTREAM_TIMEOUT: `${upstreamTimeoutMs}ms` }, [], overrides);
});
afterAll(() => upstreams.close());

async function ask(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'content-type': 'application/json',
      'idempotency-key': 'chat-crashed',
    },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await response.arrayBuffer();
  return response.status;
}

describe('kill -9 while the model answers', () => {
  it('keeps the key of the chat for as long as its answer could still come, and no longer', async () => {
    const { test, model } = upstreams;
    const process = await startKernelProcess(test.env);
    model.follow(() => () => undefined);
    const lost = ask(process.url).catch(() => 'lost');
    await until(() => Promise.resolve(model.requests.length === 1), 10_000);
    await process.kill();
    expect(await lost).toBe('lost');
    model.follow(followDirectives);
    expect(await ask(test.kernel.url)).toBe(409);
    elapsedMs = upstreamTimeoutMs;
    expect(await ask(test.kernel.url)).toBe(409);
    elapsedMs = upstreamTimeoutMs + marginMs;
    expect(await ask(test.kernel.url)).toBe(200);
    expect(model.requests).toHaveLength(2);
  }, 60_000);
});
