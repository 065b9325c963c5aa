import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kernelConfigFrom } from '../src/config.ts';
import { Caller, refusal } from './_caller.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const scripted = { input_per_million_minor: 1_000, output_per_million_minor: 1_000, output_tokens_max: 4_096 };
const prices = JSON.stringify({ scripted });
const request = { model: 'scripted', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hello' }] };

let site: Upstreams;
beforeAll(async () => {
  site = await startUpstreams({ GOV_MODEL_PRICES: prices, GOV_CURRENCY: 'EUR' });
});
afterAll(() => site.close());

const terms = (currency: string | null, more: object = {}) => ({
  ...{ subject: 'tenant', window: 'total' as const, currency, tool_call_limit: null, egress_limit_bytes: null },
  ...{ write_limit: null, spend_limit_minor: 1_000_000, approval_required_above_minor: null, ...more },
});
const setBudget = (tenant: string, body: ReturnType<typeof terms>) =>
  site.test.as(tenant).putBudget({ params: { budget_id: 'models' }, body });
const setCeiling = (tenant: string, body: ReturnType<typeof terms>) =>
  site.test.system.putCeiling({
    params: { tenant, budget_id: 'ceiling.llm_month' },
    body: { version: 1, ...body },
  });

async function ask(tenant: string): Promise<string> {
  const answer: unknown = await site
    .openai({ tenant })
    .chat.completions.create(request)
    .then(() => 'ALLOWED', String);
  return answer as string; // `ALLOWED`, or the error as text
}

describe('a budget in a different currency than the model prices', () => {
  it.each([
    ['a budget of a tenant', setBudget],
    ['a ceiling of a workspace', setCeiling],
  ])('is refused as %s, and the error names both currencies', async (_door, set) => {
    const refused = set('apart', terms('USD'));
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'currency' });
    await expect(set('apart', terms('USD'))).rejects.toThrow(
      '`currency` is USD, and the prices of models are in EUR. Set the budget in EUR',
    );
    const threshold = { spend_limit_minor: null, approval_required_above_minor: 5 };
    expect(await refusal(set('apart', terms('USD', threshold)))).toMatch(/INVALID_REQUEST/);
    expect((await site.test.as('apart').listBudgets()).body.data).toEqual([]);
    await expect(set('together', terms('EUR'))).resolves.toMatchObject({ body: { currency: 'EUR' } });
    await expect(set('moneyless', terms(null, { spend_limit_minor: null }))).resolves.toMatchObject({
      body: { currency: null },
    });
  });

  it('denies each model call if it was set before the price currency, until its currency is changed', async () => {
    delete site.test.env['GOV_CURRENCY'];
    await site.test.restart();
    await setBudget('earlier', terms('USD'));
    expect(await ask('earlier')).toBe('ALLOWED');
    site.test.env['GOV_CURRENCY'] = 'EUR';
    await site.test.restart();
    const requestCount = site.model.requests.length;
    expect(await ask('earlier')).toContain('Budget models is in USD, and the prices of models are in EUR.');
    expect(site.model.requests).toHaveLength(requestCount);
    const headers = { 'if-match': '"1"' };
    await site.test.as('earlier').putBudget({ params: { budget_id: 'models' }, body: terms('EUR'), headers });
    expect(await ask('earlier')).toBe('ALLOWED');
    const verdict = await new Caller(site.test, 'earlier').decide({ tool: 'files.read', effect_level: 'E1' });
    expect(verdict).not.toMatchObject({ reason_code: 'PRICE_UNKNOWN' });
  });
});

describe('the configured currency of prices', () => {
  it('must match the ceiling of all tenants, and is required in production when prices are set', () => {
    const { env } = site.test;
    expect(() => kernelConfigFrom({ ...env, GOV_CURRENCY: 'EUR', GOV_MODEL_SPEND_LIMIT: '500 USD' })).toThrow(
      'GOV_MODEL_SPEND_LIMIT is in USD, and the prices of models are in EUR (GOV_CURRENCY)',
    );
    const strong = (nth: number) => `k${nth}-${'9f2c7a1e'.repeat(5)}`;
    const secrets = { GOV_ADMIN_API_KEY: strong(1), GOV_SERVICE_API_KEY: strong(2), GOV_TENANT_SALT_SECRET: strong(3) };
    const production = { ...env, ...secrets, NODE_ENV: 'production', GOV_MCP_STDIO: '1' };
    const limited = { ...production, GOV_MODEL_SPEND_LIMIT: '500 EUR', GOV_LOG_ORIGIN: 'example.org/log' };
    expect(kernelConfigFrom({ ...limited, GOV_CURRENCY: 'EUR' }).priceCurrency).toBe('EUR');
    expect(() => kernelConfigFrom({ ...limited, GOV_CURRENCY: '' })).toThrow('GOV_CURRENCY is missing');
    expect(kernelConfigFrom({ ...limited, GOV_CURRENCY: '', GOV_MODEL_PRICES: '{}' }).priceCurrency).toBeNull();
  });
});
