import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { adminKey, startTestKernel } from './_kernel.ts';
import { receiptsOf, startUpstreams, upstreamKey, type SealedReceipt, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_UPSTREAM_TIMEOUT: '6s' });
});
afterAll(() => upstreams.close());

let sessions = 0;
const newSession = () => `hostile-session-${(sessions += 1)}`;
const messages = [{ role: 'user' as const, content: 'go' }];
const client = (session = newSession()) => upstreams.openai({ headers: { 'X-Gov-Session-ID': session } });
const whole = (session?: string) => client(session).chat.completions.create({ model: 'scripted', messages });
const streamText = async (session?: string) => {
  const response = await client(session)
    .chat.completions.create({ model: 'scripted', messages, stream: true })
    .asResponse();
  return await response.text();
};
const answerWith = (write: (res: ServerResponse) => void) => upstreams.model.follow(() => write);
const events = (...data: unknown[]) =>
  answerWith((res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of data) res.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    res.end();
  });
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const fragment = (text: string, index = 0) =>
  chunk({ tool_calls: [{ index, id: 'call_1', function: { name: 'notes__read_note', arguments: text } }] });

/** Waits for the outcome, which is sealed after the stream has ended for its caller. */
async function outcomeOf(session: string): Promise<SealedReceipt> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const outcome = (await receiptsOf(upstreams.test, session)).find(({ kind }) => kind === 'outcome');
    if (outcome !== undefined) return outcome;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('no outcome was sealed');
}

describe('a model server that misbehaves', () => {
  it.each<[string, unknown[]]>([
    ['ends in the middle of a call', [chunk({ content: 'Hi' }), fragment('{"id":')]],
    ['reports its end without finishing its call', [fragment('{"id":"a"}'), '[DONE]']],
    ['sends an event that is not JSON', [chunk({ content: 'Hi' }), '{"choices":[']],
    ['sends a member twice', ['{"choices":[],"choices":[{"index":0,"delta":{"tool_calls":[]}}]}']],
    [
      'gives one call two IDs',
      [
        fragment('{"id":'),
        chunk({ tool_calls: [{ index: 0, id: 'call_2', function: { arguments: '"a"}' } }] }),
        chunk({}, 'tool_calls'),
      ],
    ],
    ['continues after the end of a choice', [chunk({}, 'stop'), fragment('{"id":"a"}'), chunk({}, 'tool_calls')]],
    ['sends a call with an index above the limit', [fragment('{}', 1e6), chunk({}, 'tool_calls')]],
    ['sends an event above the limit', [chunk({ content: 'x'.repeat(1_100_000) })]],
    ['sends endless arguments', Array.from({ length: 12 }, () => fragment('x'.repeat(100_000)))],
    ['reports an error of its own in the stream', [{ error: { message: `key ${upstreamKey} is bad` } }]],
  ])('ends the stream as an error without any call when it %s', async (_case, data) => {
    const session = newSession();
    events(...data);
    const text = await streamText(session);
    expect(text).not.toMatch(/tool_calls"?:\[\{|notes__read_note|\[DONE\]/);
    expect(text).not.toContain(upstreamKey);
    expect(text).toMatch(/data: \{"error":\{.*"code":"UPSTREAM_FAILED"/);
    expect(await outcomeOf(session)).toMatchObject({ action: 'model.call', outcome: 'failed' });
  });

  it('makes the SDK throw on a stream that broke off', async () => {
    events(chunk({ content: 'Hi' }));
    const stream = client().chat.completions.stream({ model: 'scripted', messages });
    await expect(stream.finalContent()).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it.each<[string, string, string]>([
    ['is not JSON', 'application/json', '{"choices":'],
    ['has no choices', 'application/json', '{}'],
    [
      'has tool calls that are not a list',
      'application/json',
      '{"choices":[{"index":0,"message":{"tool_calls":{"0":{}}}}]}',
    ],
    ['is an HTML page', 'text/html', '<html></html>'],
  ])('leads to 502 for an answer that %s', async (_case, type, body) => {
    const session = newSession();
    answerWith((res) => res.writeHead(200, { 'content-type': type }).end(body));
    await expect(whole(session)).rejects.toMatchObject({ status: 502, code: 'UPSTREAM_FAILED' });
    expect(await outcomeOf(session)).toMatchObject({ outcome: 'failed' });
  });

  const ofOurKey = expect.stringMatching(
    /^The model server answered 40[13] to the key of this kernel\. .* GOV_UPSTREAM_API_KEY /,
  );
  it.each<[number, number, unknown, boolean]>([
    [429, 429, 'slow down', true],
    [400, 400, 'slow down', false],
    [503, 503, 'The model server answered 503', true],
    [401, 502, ofOurKey, false],
    [403, 502, ofOurKey, false],
    [302, 502, 'The model server answered 302', true],
  ])(
    'has its status %i returned as %i, and its text about our credential withheld',
    async (status, passed, message, retryable) => {
      const statement = message === ofOurKey ? `Incorrect API key: ${upstreamKey}` : 'slow down';
      answerWith((res) =>
        res
          .writeHead(status, {
            'content-type': 'application/json',
            location: 'http://127.0.0.1:1/',
            'retry-after': '7',
          })
          .end(JSON.stringify({ error: { message: statement } })),
      );
      const error: unknown = await whole().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ status: passed, error: { message, retryable } });
      expect((error as { headers: Headers }).headers.get('x-should-retry')).toBe(message === ofOurKey ? 'false' : null);
      expect(JSON.stringify(error)).not.toContain(upstreamKey);
    },
  );

  it('is aborted at the deadline', async () => {
    answerWith(() => undefined);
    await expect(whole()).rejects.toMatchObject({ status: 502 });
  });

  it('is disconnected when its caller leaves', async () => {
    const hungUp = new Promise<void>((resolve) => {
      answerWith((res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(`data: ${JSON.stringify(chunk({ content: 'Hi' }))}\n\n`);
        void once(res, 'close').then(() => resolve());
      });
    });
    const stream = await client().chat.completions.create({ model: 'scripted', messages, stream: true });
    for await (const piece of stream) {
      expect(piece.choices[0]?.delta.content).toBe('Hi');
      break;
    }
    await hungUp;
  });
});

describe('a kernel without a model server', () => {
  it('refuses at once and seals nothing', async () => {
    const test = await startTestKernel();
    const openai = new OpenAI({
      apiKey: adminKey,
      baseURL: `${test.kernel.url}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'X-Gov-Tenant-ID': 'acme' },
    });
    await expect(openai.chat.completions.create({ model: 'scripted', messages })).rejects.toMatchObject({
      status: 503,
      code: 'UPSTREAM_NOT_CONFIGURED',
    });
    const { rows } = await test.pool.query(`SELECT 1 FROM ledger WHERE kind = 'decision'`);
    await test.close();
    expect(rows).toEqual([]);
  });
});
