import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

// An output token costs one minor unit, and an input token a tenth.
const price = { input_per_million_minor: 100_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 };
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_MODEL_PRICES: JSON.stringify({ scripted: price }) });
});
afterAll(() => upstreams.close());

const request = { model: 'scripted', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };
let tenants = 0;
const newTenant = () => `user-${(tenants += 1)}`;

/** The charged costs of two answers with this usage, in minor units: of a whole answer and of a streamed one. */
async function countedFor(usage: object, message: object = { content: 'Hi' }): Promise<number[]> {
  upstreams.model.follow(({ stream }) => (res: ServerResponse) => {
    if (stream !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }];
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices, usage }));
      return;
    }
    const choices = [{ index: 0, delta: message, finish_reason: 'stop' }];
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [{ choices }, { choices: [], usage }])
      res.write(`data: ${JSON.stringify({ id: 'x', ...event })}\n\n`);
    res.end('data: [DONE]\n\n');
  });
  return [await spentOn(false), await spentOn(true)];
}

async function spentOn(stream: boolean): Promise<number> {
  const tenant = newTenant();
  const caller = upstreams.test.as(tenant);
  await caller.putBudget({
    params: { budget_id: 'models' },
    body: {
      ...{ subject: 'tenant', window: 'total', currency: 'EUR', spend_limit_minor: 1_000_000_000 },
      ...{ tool_call_limit: null, egress_limit_bytes: null, write_limit: null, approval_required_above_minor: null },
    } as never, // plain strings instead of branded ones
  });
  const { completions } = upstreams.openai({ tenant }).chat;
  await (await completions.create({ ...request, stream } as typeof request).asResponse()).text();
  const [budget] = (await caller.listBudgets()).body.data;
  expect(budget?.reserved.spend_minor).toBe(0);
  return budget?.used.spend_minor ?? NaN;
}

const twice = (minor: number) => [minor, minor];
const report = { prompt_tokens: 10, completion_tokens: 5 };
const reasoned = (reasoning_tokens: unknown) => ({ completion_tokens_details: { reasoning_tokens } });

describe('the tokens that are charged for an answer', () => {
  it.each<[string, object, number]>([
    ['are those of its completion', { ...report, total_tokens: 15 }, 6],
    ['include its reasoning once', { ...report, total_tokens: 15, ...reasoned(4) }, 6],
    ['include its reasoning once if it is the whole completion', { ...report, total_tokens: 15, ...reasoned(5) }, 6],
    ['are not reduced by a smaller total', { ...report, total_tokens: 3 }, 6],
    ['are counted without details', { ...report, total_tokens: null, completion_tokens_details: null }, 6],
    ['are counted without reasoning', { ...report, total_tokens: 15, ...reasoned(null) }, 6],
  ])('%s', async (_what, usage, minor) => {
    expect(await countedFor(usage)).toEqual(twice(minor));
  });

  verifies('kn.budget', 'include reasoning that is only in the total or only in the details', async () => {
    const hidden = { ...report, total_tokens: 60_015 };
    expect(await countedFor({ ...hidden, ...reasoned(60_000) })).toEqual(twice(60_006));
    expect(await countedFor(hidden)).toEqual(twice(60_006));
    expect(await countedFor({ ...report, ...reasoned(60_000) })).toEqual(twice(60_006));
    expect(await countedFor({ ...report, ...reasoned(4) })).toEqual(twice(10));
    expect(await countedFor({ ...report, total_tokens: 15, ...reasoned(60_000) })).toEqual(twice(60_006));
  });

  verifies('kn.budget', 'are the reserved ones when an answer with content reports no output tokens', async () => {
    const nothing = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 };
    const answered = [
      { content: 'Hi' },
      { content: null, reasoning_content: 'Hm' },
      { content: null, refusal: 'No' },
      { content: null, tool_calls: [{ index: 0, id: 'c', function: { name: 'lookup', arguments: '{}' } }] },
    ];
    for (const message of answered)
      for (const minor of await countedFor(nothing, message)) expect(minor).toBeGreaterThanOrEqual(100);
    expect(await countedFor(nothing, { role: 'assistant', content: '', tool_calls: [] })).toEqual(twice(1));
    expect(await countedFor({ ...nothing, total_tokens: 12 })).toEqual(twice(3));
  });

  it.each<[string, object]>([
    ['a negative total', { ...report, total_tokens: -1 }],
    ['a total above the limit', { ...report, total_tokens: 1e15 }],
    ['a fraction of a token', { ...report, total_tokens: 15.5 }],
    ['a total that is a text', { ...report, total_tokens: 'all' }],
    ['reasoning that is a text', { ...report, ...reasoned('much') }],
    ['negative reasoning', { ...report, ...reasoned(-5) }],
    ['details that are not an object', { ...report, completion_tokens_details: 7 }],
    ['a sum above the limit', { prompt_tokens: 1, completion_tokens: 600_000_000, ...reasoned(600_000_000) }],
  ])('are the reserved ones after %s', async (_what, usage) => {
    for (const minor of await countedFor(usage)) {
      expect(minor).toBeGreaterThanOrEqual(100);
      expect(minor).toBeLessThan(1_000);
    }
  });
});
