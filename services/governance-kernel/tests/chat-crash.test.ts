import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { adminKey } from './_kernel.ts';
import { startKernelProcess } from './_kernel-process.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const upstreamTimeoutMs = 45_000;
/**
 * How long the key is kept after the longest possible answer of a model. In this time the kernel judges the calls in
 * the answer (GOV_MCP_TIMEOUT) and seals them.
 */
const marginMs = 32_000;
const dispatchDeadlineMs = 300_000;
const session = 'chat-crashed';

let elapsedMs = 0;
let upstreams: Upstreams;
beforeAll(async () => {
  const overrides = { clock: () => new Date(Date.now() + elapsedMs) };
  const env = { GOV_UPSTREAM_TIMEOUT: `${upstreamTimeoutMs}ms`, GOV_MCP_TIMEOUT: '2s' };
  upstreams = await startUpstreams(env, [], overrides);
});
afterAll(() => upstreams.close());

async function ask(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'content-type': 'application/json',
      'x-gov-session-id': session,
      'idempotency-key': 'chat-crashed',
    },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'hello' }] }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${error?.code ?? ''}`;
}

describe('kill -9 while the model answers', () => {
  verifies(
    'kn.chat.once',
    'keeps the key while the answer may still arrive, then reports an uncertain outcome; the model is called once',
    async () => {
      const { test, model } = upstreams;
      const process = await startKernelProcess(test.env);
      model.follow(() => () => undefined);
      const lost = ask(process.url).catch(() => 'lost');
      await untilReachable(() => Promise.resolve(model.requests.length === 1));
      await process.kill();
      expect(await lost).toBe('lost');
      model.follow(followDirectives);
      expect(await ask(test.kernel.url)).toBe('409 IDEMPOTENCY_IN_FLIGHT');
      elapsedMs = upstreamTimeoutMs;
      expect(await ask(test.kernel.url)).toBe('409 IDEMPOTENCY_IN_FLIGHT');
      elapsedMs = upstreamTimeoutMs + marginMs;
      expect(await ask(test.kernel.url)).toBe('409 OUTCOME_UNCERTAIN');
      elapsedMs = dispatchDeadlineMs + 1_000;
      await test.kernel.workers.reconciler.run();
      expect(await receiptsOf(test, session)).toMatchObject([{ verdict: 'ALLOW' }, { outcome: 'uncertain' }]);
      expect(await ask(test.kernel.url)).toBe('409 OUTCOME_UNCERTAIN');
      expect(model.requests).toHaveLength(1);
    },
  );
});
