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

type Proposed = { choices: number; calls: number; name?: string; args?: object };

/** Makes the model answer with this number of choices, each with this number of calls. */
function propose({ choices, calls, name = 'lookup', args = {} }: Proposed): void {
  const called = { name, arguments: JSON.stringify(args) };
  const call = (index: number) => ({ index, id: `c${index}`, type: 'function', function: called });
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

const numbers = (length: number) => Array.from({ length }, (_, index) => index);

const toolReceipts = async (session: string) =>
  (await receiptsOf(upstreams.test, session)).filter(({ action }) => action === 'tool.call').length;

describe('an answer with more than was requested', () => {
  it('lists as many calls in its header as the size limit of the header permits, and all of them in its body', async () => {
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

  it.each<[string, Proposed]>([
    ['a mebibyte in one call', { choices: 1, calls: 1, args: { text: 'x'.repeat(1_048_576) } }],
    ['a mebibyte in all of its calls', { choices: 1, calls: 3, args: { text: 'x'.repeat(400_000) } }],
    ['a mebibyte in the calls of two choices', { choices: 2, calls: 1, args: { text: 'é'.repeat(300_000) } }],
    ['fifty thousand values in all of its calls', { choices: 1, calls: 6, args: { list: numbers(9_000) } }],
    ['fifty thousand values in the calls of two choices', { choices: 2, calls: 3, args: { list: numbers(9_000) } }],
  ])(
    'is refused with arguments of more than %s, whole or streamed, and the last choice is not decided',
    async (_, all) => {
      propose(all);
      const decided = all.choices === 1 ? 0 : all.calls;
      for (const [stream, count] of [
        [false, 0],
        [true, decided],
      ] as const) {
        const session = newSession();
        expect(await (await ask(session, { n: 2, stream })).text()).toContain('UPSTREAM_FAILED');
        expect(await toolReceipts(session)).toBe(count);
      }
    },
  );

  it('may have arguments just below the limits, whole or streamed', async () => {
    for (const args of [{ text: 'x'.repeat(520_000) }, { list: numbers(9_900), text: 'x'.repeat(400_000) }]) {
      propose({ choices: 2, calls: 1, args });
      for (const stream of [false, true]) {
        const session = newSession();
        expect(await (await ask(session, { n: 2, stream })).text()).not.toContain('UPSTREAM_FAILED');
        expect(await toolReceipts(session)).toBe(2);
      }
    }
  });

  it('has at most 128 calls over all of its choices, or none of them is decided', async () => {
    propose({ choices: 3, calls: 50 });
    const session = newSession();
    expect((await ask(session, { n: 3 })).status).toBe(502);
    expect(await toolReceipts(session)).toBe(0);
  });
});
