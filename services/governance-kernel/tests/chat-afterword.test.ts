import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const price = { input_per_million_minor: 1_000_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 };
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_MODEL_PRICES: JSON.stringify({ scripted: price }) });
});
afterAll(() => upstreams.close());

const request = { model: 'scripted', messages: [{ role: 'user' as const, content: 'go' }] };
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'scripted' },
  ...{ choices: [{ index: 0, delta, finish_reason: finish }] },
  ...more,
});
const asking = { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'lookup', arguments: '{"id":"a"}' } }] };
const nothing = { role: 'assistant', content: '' };

function streamOf(...chunks: object[]): void {
  upstreams.model.follow(() => (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const one of chunks) res.write(`data: ${JSON.stringify(one)}\n\n`);
    res.end('data: [DONE]\n\n');
  });
}

const completionsOf = (session: string) =>
  upstreams.openai({ tenant: session, headers: { 'x-gov-session-id': session } }).chat.completions;

async function textOf(session: string): Promise<string> {
  return await (
    await completionsOf(session)
      .create({ ...request, stream: true })
      .asResponse()
  ).text();
}

async function openBudget(tenant: string): Promise<() => Promise<number | undefined>> {
  const caller = upstreams.test.as(tenant);
  await caller.putBudget({
    params: { budget_id: 'models' },
    body: {
      ...{ subject: 'tenant', window: 'total', currency: 'EUR', spend_limit_minor: 1_000_000_000 },
      ...{ tool_call_limit: null, egress_limit_bytes: null, write_limit: null, approval_required_above_minor: null },
    } as never, // plain strings instead of branded ones
  });
  return async () => (await caller.listBudgets()).body.data[0]?.used.spend_minor;
}

describe('a stream that repeats a choice after its end', () => {
  it.each<[string, object, string | null]>([
    ['as OpenRouter does', nothing, null],
    ['with an empty delta', {}, null],
    ['with an empty finish reason', nothing, ''],
    ['with its earlier finish reason', { content: null, refusal: null, tool_calls: [] }, 'tool_calls'],
  ])('to report its usage, %s, is charged by that report and read to its end', async (_how, delta, finish) => {
    const session = newSession();
    const spent = await openBudget(session);
    streamOf(chunk({ role: 'assistant', content: 'Hi' }), chunk(asking, 'tool_calls'), chunk(delta, finish, { usage }));
    const stream = completionsOf(session).stream(request);
    const { choices, usage: report } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Hi' } });
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
    expect(report).toEqual(usage);
    expect(await spent()).toBe(7);
  });

  it('keeps all of its calls withheld, and does not reveal their tokens', async () => {
    const withheld = JSON.parse(JSON.stringify(asking).replace('lookup', 'notes__delete_note')) as object;
    const [choice] = chunk(nothing, 'tool_calls').choices;
    const again = { ...choice, logprobs: { content: [{ token: 'spelled' }] } };
    streamOf(chunk(withheld, 'tool_calls'), { ...chunk({}), choices: [again], usage });
    const text = await textOf(newSession());
    expect(text).toContain('"finish_reason":"stop"');
    expect(text).not.toMatch(/"finish_reason":"tool_calls"|spelled/);
    expect(text.trimEnd().endsWith('[DONE]')).toBe(true);
  });

  it.each<[string, object, string | null]>([
    ['more text', { content: 'and' }, null],
    ['a call', asking, null],
    ['a legacy function call', { function_call: { name: 'lookup', arguments: '{}' } }, null],
    ['a refusal', { refusal: 'No' }, null],
    ['more reasoning', { content: '', reasoning: 'Hm' }, ''],
    ['a different finish reason', nothing, 'tool_calls'],
  ])('with %s is broken off, and the repeated choice is neither shown nor decided', async (_what, delta, finish) => {
    const session = newSession();
    streamOf(chunk({ content: 'Hi' }, 'stop'), chunk(delta, finish, { usage }), chunk({}, 'tool_calls'));
    const text = await textOf(session);
    expect(text).toContain('"code":"UPSTREAM_FAILED"');
    expect(text).not.toMatch(/lookup|and"|No"|Hm|\[DONE\]/);
    expect((await receiptsOf(upstreams.test, session)).map(({ action }) => action)).not.toContain('tool.call');
  });
});

describe('a stream with empty finish reasons before the end of a choice', () => {
  it('is read to its end, with its calls', async () => {
    const first = chunk({ role: 'assistant', content: 'Hi' }, '');
    streamOf(first, chunk({ content: '!' }, ''), chunk(asking, ''), chunk({}, 'tool_calls'));
    const session = newSession();
    const text = await textOf(session);
    expect(text).not.toMatch(/"finish_reason":""|"error"/);
    const [choice] = (await completionsOf(session).stream(request).finalChatCompletion()).choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Hi!' } });
    expect(choice?.message.tool_calls).toHaveLength(1);
  });
});
