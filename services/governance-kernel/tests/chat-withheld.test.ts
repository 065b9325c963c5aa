import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

async function ask(more: object): Promise<string> {
  const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'go' }], ...more }),
  });
  return await response.text();
}
const answerWith = (write: (res: ServerResponse) => void) => upstreams.model.follow(() => write);

/** Calls that `toolPolicy` denies and allows. */
const denied = { id: 'c1', type: 'function', function: { name: 'notes__delete_note', arguments: '{"id":"SECRET"}' } };
const allowed = { id: 'c2', type: 'function', function: { name: 'lookup', arguments: '{}' } };
const logprobs = { content: [{ token: '{"id":"SECRET', logprob: 0, bytes: null, top_logprobs: [] }] };

describe('the tokens of a call that is withheld', () => {
  it.each<[string, object[]]>([
    ['alone', [denied]],
    ['beside a released call', [allowed, denied]],
  ])('are not shown in a whole answer, %s', async (_case, calls) => {
    answerWith((res) => {
      const message = { role: 'assistant', content: null, tool_calls: calls };
      const choices = [{ index: 0, message, logprobs, finish_reason: 'tool_calls' }];
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices }));
    });
    const text = await ask({});
    expect(text).toContain('POLICY_DENIED');
    expect(text).not.toContain('SECRET');
  });

  it.each<[string, object[]]>([
    ['alone', [denied]],
    ['beside a released call', [allowed, denied]],
  ])('are not shown in any chunk of a stream, %s', async (_case, calls) => {
    const chunk = (delta: object, finish_reason: string | null) => ({
      id: 'c',
      choices: [{ index: 0, delta, logprobs, finish_reason }],
    });
    answerWith((res) => {
      const fragments = calls.map((call, index) => ({ index, ...call }));
      const chunks = [
        chunk({ role: 'assistant', tool_calls: fragments }, null),
        chunk({ content: 'Hi' }, null),
        chunk({}, 'tool_calls'),
      ];
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of chunks) res.write(`data: ${JSON.stringify(event)}\n\n`);
      res.end('data: [DONE]\n\n');
    });
    const text = await ask({ stream: true });
    expect(text).toContain('POLICY_DENIED');
    expect(text).toContain('[DONE]');
    expect(text).not.toContain('SECRET');
  });

  it('are shown as usual when every call is released', async () => {
    answerWith((res) => {
      const message = { role: 'assistant', content: null, tool_calls: [allowed] };
      const choices = [{ index: 0, message, logprobs, finish_reason: 'tool_calls' }];
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices }));
    });
    expect(JSON.parse(await ask({}))).toMatchObject({ choices: [{ logprobs }] });
  });
});
