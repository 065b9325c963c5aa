import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

function ask(session: string, more: object = {}): Promise<Response> {
  return fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'x-gov-session-id': session,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'go' }], ...more }),
  });
}

/** A model that answers with that many choices, each with that many calls. */
function propose({ choices, calls, name = 'lookup' }: { choices: number; calls: number; name?: string }): void {
  const call = (index: number) => ({ index, id: `c${index}`, type: 'function', function: { name, arguments: '{}' } });
  const tool_calls = Array.from({ length: calls }, (_, index) => call(index));
  const indexes = Array.from({ length: choices }, (_, index) => index);
  const whole = (index: number) => {
    const message = { role: 'assistant', content: null, tool_calls };
    return { index, message, finish_reason: 'tool_calls' };
  };
  const streamed = (index: number) => ({ index, delta: { tool_calls }, finish_reason: 'tool_calls' });
  upstreams.model.follow(({ stream }) => (res: ServerResponse) => {
    if (stream !== true) {
      res.writeHead(200, { 'content-type': 'application/json' });
      return void res.end(JSON.stringify({ id: 'x', choices: indexes.map(whole) }));
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const index of indexes) res.write(`data: ${JSON.stringify({ id: 'x', choices: [streamed(index)] })}\n\n`);
    res.end('data: [DONE]\n\n');
  });
}

const toolReceipts = async (session: string) =>
  (await receiptsOf(upstreams.test, session)).filter(({ action }) => action === 'tool.call').length;

describe('an answer with more than was asked for', () => {
  it('names as many calls in its header as a client can read, and all of them in its body', async () => {
    propose({ choices: 1, calls: 16, name: '名'.repeat(250) });
    const response = await ask(newSession());
    const header = response.headers.get('x-gov-tool-calls') ?? '';
    expect(response.status).toBe(200);
    expect(header.length).toBeGreaterThan(0);
    expect(header.length).toBeLessThan(4_200);
    expect(header).toMatch(/, \.\.\.$/);
    expect((await response.text()).match(/"receipt_id"/g)).toHaveLength(16);
  });

  it('is refused when it has more choices than n, without a receipt for any of their calls', async () => {
    propose({ choices: 2, calls: 1 });
    const session = newSession();
    expect((await ask(session, { n: 1 })).status).toBe(502);
    expect(await toolReceipts(session)).toBe(0);
    expect((await ask(session, { n: 2 })).status).toBe(200);
    expect(await toolReceipts(session)).toBe(2);
  });

  it('ends a stream at the first choice beyond n', async () => {
    propose({ choices: 2, calls: 1 });
    const session = newSession();
    expect(await (await ask(session, { stream: true })).text()).toContain('UPSTREAM_FAILED');
    expect(await toolReceipts(session)).toBe(1);
  });

  it('has at most 128 calls over all its choices, or none of them is decided', async () => {
    propose({ choices: 3, calls: 50 });
    const session = newSession();
    expect((await ask(session, { n: 3 })).status).toBe(502);
    expect(await toolReceipts(session)).toBe(0);
  });
});
