import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

// One minor unit for each token, so that amounts and tokens can be compared.
const prices = { scripted: { input_per_million_minor: 1_000_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 } };
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_MODEL_PRICES: JSON.stringify(prices) });
});
afterAll(() => upstreams.close());

const request = { model: 'scripted', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };

async function setBudget(tenant: string, spendLimitMinor: number): Promise<void> {
  await upstreams.test.as(tenant).putBudget({
    params: { budget_id: 'models' },
    body: {
      subject: 'tenant',
      window: 'total',
      currency: 'EUR',
      spend_limit_minor: spendLimitMinor,
      tool_call_limit: null,
      egress_limit_bytes: null,
      write_limit: null,
      approval_required_above_minor: null,
    },
  });
}

async function budgetOf(tenant: string) {
  const [budget] = (await upstreams.test.as(tenant).listBudgets()).body.data;
  return { used: budget?.used.spend_minor, reserved: budget?.reserved.spend_minor };
}

describe('what a model call costs', () => {
  it('is reserved before the call and settled by the tokens that were used', async () => {
    await setBudget('payer', 10_000);
    const answer = await upstreams.openai({ tenant: 'payer' }).chat.completions.create(request);
    expect(await budgetOf('payer')).toEqual({ used: answer.usage?.total_tokens, reserved: 0 });
  });

  it('is refused before the model is asked when the budget cannot hold it', async () => {
    await setBudget('poor', 10);
    const asked = upstreams.model.requests.length;
    const refused = upstreams.openai({ tenant: 'poor' }).chat.completions.create(request);
    await expect(refused).rejects.toMatchObject({ status: 403, error: { reason_code: 'BUDGET_EXCEEDED' } });
    expect(upstreams.model.requests).toHaveLength(asked);
  });

  it('counts as reserved when the model server does not say what was used', async () => {
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
});
