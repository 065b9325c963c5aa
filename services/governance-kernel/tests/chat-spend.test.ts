import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { reaching } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

// A token of `scripted` costs one minor unit, so that amounts and tokens can be compared.
const prices = {
  // The price of hosted models for a million tokens: three units of money for input, and fifteen for output.
  large: {
    input_per_million_minor: 300,
    output_per_million_minor: 1_500,
    output_tokens_max: 64_000,
    input_tokens_max: 200_000,
  },

  scripted: { input_per_million_minor: 1_000_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 },
};
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_MODEL_PRICES: JSON.stringify(prices) });
});
afterAll(() => upstreams.close());
beforeEach(() => upstreams.model.follow(followDirectives));

const request = { model: 'scripted', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };

async function setBudget(tenant: string, spendLimitMinor: number, bytesMax: number | null = null): Promise<void> {
  await upstreams.test.as(tenant).putBudget({
    params: { budget_id: 'models' },
    body: {
      subject: 'tenant',
      window: 'total',
      currency: 'EUR',
      spend_limit_minor: spendLimitMinor,
      tool_call_limit: null,
      egress_limit_bytes: bytesMax,
      write_limit: null,
      approval_required_above_minor: null,
    },
  });
}

async function budgetOf(tenant: string) {
  const [budget] = (await upstreams.test.as(tenant).listBudgets()).body.data;
  return { used: budget?.used.spend_minor, reserved: budget?.reserved.spend_minor };
}

/** Waits until nothing is reserved in the budget. Returns the budget. */
const settledBudgetOf = (tenant: string) =>
  reaching(
    () => budgetOf(tenant),
    ({ reserved }) => reserved === 0,
  );

describe('the cost of a model call', () => {
  it('is reserved before the call and settled by the tokens that were used', async () => {
    await setBudget('payer', 10_000);
    const answer = await upstreams.openai({ tenant: 'payer' }).chat.completions.create(request);
    expect(await budgetOf('payer')).toEqual({ used: answer.usage?.total_tokens, reserved: 0 });
  });

  it('is refused before the model is called when the budget has no room', async () => {
    await setBudget('poor', 10);
    const requestCount = upstreams.model.requests.length;
    const refused = upstreams.openai({ tenant: 'poor' }).chat.completions.create(request);
    await expect(refused).rejects.toMatchObject({ status: 403, error: { reason_code: 'BUDGET_EXCEEDED' } });
    expect(upstreams.model.requests).toHaveLength(requestCount);
  });

  it('includes the bytes of its body: a ceiling of bytes refuses it before the model is called', async () => {
    const bytes = Buffer.byteLength(JSON.stringify(request));
    await setBudget('talker', 10_000, bytes + 1);
    const ask = () => upstreams.openai({ tenant: 'talker' }).chat.completions.create(request);
    await ask();
    const { data } = (await upstreams.test.as('talker').listBudgets()).body;
    expect(data[0]?.used.egress_bytes).toBe(bytes);
    await expect(ask()).rejects.toMatchObject({ status: 403, error: { reason_code: 'BUDGET_EXCEEDED' } });
  });

  it('is the reserved amount when the model server reports no usage', async () => {
    await setBudget('blind', 10_000);
    upstreams.model.follow(() => (res) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices }));
    });
    await upstreams.openai({ tenant: 'blind' }).chat.completions.create(request);
    const { used, reserved } = await budgetOf('blind');
    expect(reserved).toBe(0);
    expect(used).toBeGreaterThanOrEqual(100);
  });

  verifies('kn.budget', 'of 50 parallel calls of 64,000 tokens never exceeds the budget of 250', async () => {
    await setBudget('crowd', 250);
    upstreams.model.follow(() => answerOf({ prompt_tokens: 100, completion_tokens: 64_000 }));
    const calls = Array.from({ length: 50 }, () =>
      upstreams.openai({ tenant: 'crowd' }).chat.completions.create({ ...request, model: 'large', max_tokens: 64_000 }),
    );
    const settled = await Promise.allSettled(calls);
    const refused = settled.flatMap((call) => (call.status === 'rejected' ? [call.reason as unknown] : []));
    for (const reason of refused)
      expect(reason).toMatchObject({ status: 403, error: { reason_code: 'BUDGET_EXCEEDED' } });
    expect(settled.length - refused.length).toBe(2); // each call reserves a little more than 96 of 250
    const { used, reserved } = await budgetOf('crowd');
    expect(reserved).toBe(0);
    expect(used).toBeGreaterThan(190);
    expect(used).toBeLessThanOrEqual(250);
  });

  verifies(
    'kn.budget',
    'is reserved for the larger of two token limits, for each answer, or for all tokens of the model without a limit',
    async () => {
      const reservedBy = async (query: object) => {
        const tenant = newTenant();
        await setBudget(tenant, 1_000_000);
        let reserved: number | undefined = 0;
        upstreams.model.follow(() => (res) => {
          void budgetOf(tenant).then((budget) => {
            reserved = budget.reserved;
            answerOf({ prompt_tokens: 1, completion_tokens: 1 })(res);
          });
        });
        const { max_tokens: _, ...plain } = request;
        await upstreams.openai({ tenant }).chat.completions.create({ ...plain, ...query });
        return (reserved ?? 0) - JSON.stringify({ ...plain, ...query }).length;
      };
      expect(await reservedBy({ max_tokens: 10, max_completion_tokens: 700 })).toBe(700);
      expect(await reservedBy({ max_tokens: 700, max_completion_tokens: 10 })).toBe(700);
      expect(await reservedBy({ max_tokens: 10, max_output_tokens: 700 })).toBe(700);
      expect(await reservedBy({ max_tokens: 700, max_completion_tokens: 10, n: 3 })).toBe(2_100);
      expect(await reservedBy({ n: 2 })).toBe(2 * 4_096);
      expect(await reservedBy({ max_tokens: null })).toBe(4_096);
    },
  );

  it.each([0, -1, 1.5, '64000', 1e12, { tokens: 1 }])(
    'is refused with an invalid token limit: %p',
    async (max_tokens) => {
      const call = { ...request, max_tokens: max_tokens as number };
      const requestCount = upstreams.model.requests.length;
      await expect(upstreams.openai({ tenant: newTenant() }).chat.completions.create(call)).rejects.toMatchObject({
        status: 400,
      });
      expect(upstreams.model.requests).toHaveLength(requestCount);
    },
  );

  verifies(
    'kn.budget',
    'with an image is reserved for all input that the model can read, and refused when that is unknown',
    async () => {
      const content = [{ type: 'image_url' as const, image_url: { url: 'https://example.org/large.png' } }];
      const showing = { ...request, messages: [{ role: 'user' as const, content }] };
      const tenant = newTenant();
      await setBudget(tenant, 1_000_000);
      const unbounded = upstreams.openai({ tenant }).chat.completions.create(showing);
      await expect(unbounded).rejects.toMatchObject({ status: 403, error: { reason_code: 'PRICE_UNKNOWN' } });
      const seeing = { ...showing, model: 'large', max_tokens: 1 };
      await upstreams.openai({ tenant }).chat.completions.create(seeing);
      await setBudget('short', 59); // a call reserves 60 for 200,000 input tokens
      const refused = upstreams.openai({ tenant: 'short' }).chat.completions.create(seeing);
      await expect(refused).rejects.toMatchObject({ status: 403, error: { reason_code: 'BUDGET_EXCEEDED' } });
    },
  );

  verifies(
    'kn.budget',
    'is refused as PRICE_UNKNOWN when a budget counts money and the model has no price',
    async () => {
      const tenant = newTenant();
      const unpriced = { ...request, model: 'countersign-scripted-model' };
      const answer = await upstreams.openai({ tenant }).chat.completions.create(unpriced);
      expect(answer.choices).toHaveLength(1);
      await setBudget(tenant, 1_000_000);
      const requestCount = upstreams.model.requests.length;
      const refused = upstreams.openai({ tenant }).chat.completions.create(unpriced);
      const message = expect.stringContaining('no price for "countersign-scripted-model"');
      await expect(refused).rejects.toMatchObject({ status: 403, error: { reason_code: 'PRICE_UNKNOWN', message } });
      expect(upstreams.model.requests).toHaveLength(requestCount);
    },
  );

  const sound = [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }];
  it.each<[string, object, string]>([
    ['a service tier', { service_tier: 'priority' }, 'service_tier'],
    ['an audio answer', { modalities: ['text', 'audio'] }, 'modalities'],
    ['a voice', { audio: { voice: 'alloy', format: 'wav' } }, 'audio'],
    ['a prediction', { prediction: { type: 'content', content: 'x' } }, 'prediction'],
    ['a search at the provider', { web_search_options: {} }, 'web_search_options'],
    ['a tool at the provider', { tools: [{ type: 'code_interpreter' }] }, 'code_interpreter'],
    ['data at the provider', { data_sources: [] }, 'data_sources'],
    ['an unknown member', { models: ['dearer'] }, 'models'],
    ['audio input', { messages: [{ role: 'user', content: sound }] }, 'input_audio'],
    ['audio that the provider stores', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, 'audio'],
  ])(
    'is refused with %s, which the price table does not cover, when a budget counts money',
    async (_what, more, named) => {
      const tenant = newTenant();
      await setBudget(tenant, 1_000_000);
      const requestCount = upstreams.model.requests.length;
      const call = { ...request, model: 'large', ...more };
      const refused = upstreams.openai({ tenant }).chat.completions.create(call);
      const message = expect.stringContaining(`the price table does not cover ${named}.`);
      await expect(refused).rejects.toMatchObject({ status: 403, error: { reason_code: 'PRICE_UNKNOWN', message } });
      expect(upstreams.model.requests).toHaveLength(requestCount);
    },
  );

  it('is not reported when it is unknown, whatever tokens were used', async () => {
    const { response } = await upstreams
      .openai({ tenant: newTenant() })
      .chat.completions.create({ ...request, service_tier: 'priority' })
      .withResponse();
    expect(response.headers.get('x-gov-spend-micros')).toBeNull();
  });

  it.each([202, 500, 502, 504])(
    'is the reserved amount after status %p, because the model may have answered',
    async (status) => {
      const tenant = newTenant();
      await setBudget(tenant, 100_000);
      upstreams.model.follow(() => (res) => void res.writeHead(status).end());
      await upstreams
        .openai({ tenant })
        .chat.completions.create(request)
        .catch(() => null);
      const { used, reserved } = await budgetOf(tenant);
      expect([reserved, (used ?? 0) >= 100]).toEqual([0, true]);
    },
  );

  it.each([307, 400, 401, 429, 503])('is nothing after status %p, because no model was called', async (status) => {
    const tenant = newTenant();
    await setBudget(tenant, 100_000);
    upstreams.model.follow(() => (res) => void res.writeHead(status).end());
    await upstreams
      .openai({ tenant })
      .chat.completions.create(request)
      .catch(() => null);
    expect(await budgetOf(tenant)).toEqual({ used: 0, reserved: 0 });
  });

  it('is the reported amount when a caller leaves after the last event', async () => {
    const tenant = newTenant();
    await setBudget(tenant, 100_000);
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    const last = { id: 'x', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }], usage };
    upstreams.model.follow(() => (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`data: ${JSON.stringify(last)}\n\n`);
    });
    const stream = await upstreams.openai({ tenant }).chat.completions.create({ ...request, stream: true });
    for await (const { choices } of stream) if (choices.length > 0) break; // hangs up
    expect(await settledBudgetOf(tenant)).toEqual({ used: 7, reserved: 0 });
  });

  it('is the reserved amount when a stream breaks off, whatever usage it reported before', async () => {
    const tenant = newTenant();
    await setBudget(tenant, 100_000);
    const chunk = { id: 'x', choices: [], usage: { prompt_tokens: 1, completion_tokens: 0 } };
    const text = { id: 'x', choices: [{ index: 0, delta: { content: 'Once upon a time' }, finish_reason: null }] };
    upstreams.model.follow(() => (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [chunk, text]) res.write(`data: ${JSON.stringify(event)}\n\n`);
    });
    const stream = await upstreams.openai({ tenant }).chat.completions.create({ ...request, stream: true });
    for await (const { choices } of stream) if (choices.length > 0) break; // hangs up
    const { used } = await settledBudgetOf(tenant);
    expect(used).toBeGreaterThanOrEqual(100);
  });

  verifies(
    'kn.budget',
    'is counted exactly: a hundred calls of a little more than a tenth of a minor unit cost eleven',
    async () => {
      await setBudget('frugal', 1_000);
      upstreams.model.follow(() => answerOf({ prompt_tokens: 0, completion_tokens: 67 }));
      for (let calls = 0; calls < 100; calls += 1)
        await upstreams.openai({ tenant: 'frugal' }).chat.completions.create({ ...request, model: 'large' });
      expect((await budgetOf('frugal')).used).toBe(11);
    },
  );
});

let tenants = 0;
const newTenant = () => `spender-${(tenants += 1)}`;

function answerOf(usage: { prompt_tokens: number; completion_tokens: number }) {
  return (res: ServerResponse) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices, usage }));
  };
}
