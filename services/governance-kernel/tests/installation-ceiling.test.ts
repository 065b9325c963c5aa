import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installationCeiling, type BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { settleAbandoned } from '../src/decision/settle-abandoned.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

// One minor unit per token. A call reserves tokens for its request and for the longest answer.
const scripted = { input_per_million_minor: 1_000_000, output_per_million_minor: 1_000_000, output_tokens_max: 4_096 };
const calls = 10;
const noLimits = {
  subject: 'tenant',
  window: 'total' as const,
  tool_call_limit: null,
  egress_limit_bytes: null,
  write_limit: null,
  approval_required_above_minor: null,
};
let site: Upstreams;
let second: StartedKernel;
/** The reservation of one call, in minor units. */
let reserved: number;
beforeAll(async () => {
  site = await startUpstreams({ GOV_MODEL_PRICES: JSON.stringify({ scripted }) });
  site.model.follow(() => withoutUsage);
  reserved = await heldBefore();
  second = await startWith(`${reserved * calls} EUR`);
});
afterAll(async () => {
  await second?.stop();
  await site.close();
});

/** An answer without usage, so that a call costs what was reserved for it. */
const withoutUsage = (res: ServerResponse) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices }));
};

async function startWith(limit: string, more: Record<string, string> = {}): Promise<StartedKernel> {
  return startKernel(kernelConfigFrom({ ...site.test.env, GOV_MODEL_SPEND_LIMIT: limit, ...more }));
}

type Input = { tenant: string; at?: string; session?: string; model?: string; key?: string };

/**
 * Makes one model call. On a starved machine the kernel may refuse it as retryable, and seals nothing then. The call is
 * repeated in this case.
 */
async function ask({ session = newSession(), ...input }: Input): ReturnType<typeof askOnce> {
  const answer = await askOnce({ session, ...input });
  if (answer.response.status !== 503) return answer;
  expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'RECEIPT_STORE_UNAVAILABLE', retryable: true } });
  expect(await ledgerOf(site.test, session)).toEqual([]);
  return ask({ session, ...input });
}

/** `told` is the status and the reason. */
async function askOnce({
  tenant,
  at = site.test.kernel.url,
  session,
  model = 'scripted',
  key,
}: Input & { session: string }) {
  const response = await fetch(`${at}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      'x-gov-tenant-id': tenant,
      'x-gov-session-id': session,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] }),
  });
  const text = await response.text();
  return { told: `${response.status} ${String(response.headers.get('x-gov-reason-code'))}`, text, response };
}

async function heldBefore(): Promise<number> {
  const session = newSession();
  await ask({ tenant: 'probe', session });
  return Number(BigInt((await recordOf(session)).demand?.spend_micros ?? 0) / 1_000_000n);
}

async function recordOf(session: string): Promise<BoundaryRecord> {
  const record = (await ledgerOf(site.test, session))[0]?.record;
  if (record === null || record === undefined) throw new Error('nothing was recorded');
  return record;
}

type CurrentState = { used: string; reserved: string; limit_minor: string; currency: string; version: number };

/** The row of the ceiling, read directly from the database. */
async function ceiling(): Promise<CurrentState | undefined> {
  const { rows } = await site.test.pool.query<CurrentState>(
    `SELECT used_spend_micros::text AS used, reserved_spend_micros::text AS reserved, spend_limit_minor::text AS limit_minor, currency, version
       FROM budgets WHERE tenant_id = '*'`,
  );
  return rows[0];
}

const micros = (minor: number) => String(BigInt(minor) * 1_000_000n);

// The tests share one ceiling, so each test continues with the usage of the tests before it.
describeStory('the ceiling of the installation', () => {
  verifies(
    'kn.budget',
    'allows exactly 10 of 50 parallel calls of 50 tenants on two replicas when it covers 10',
    async () => {
      const requestCount = site.model.requests.length;
      const places = [site.test.kernel.url, second.url];
      const messages = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => ask({ tenant: `crowd-${nth}`, at: places[nth % 2] ?? '' })),
      );
      const verdicts = messages.map((one) => one.told).sort();
      expect(verdicts).toEqual([
        ...Array.from({ length: calls }, () => '200 ALLOWED'),
        ...Array.from({ length: 40 }, () => '403 BUDGET_EXCEEDED'),
      ]);
      expect(site.model.requests.length - requestCount).toBe(calls);
      expect(await ceiling()).toMatchObject({ used: micros(reserved * calls), reserved: '0' });
    },
  );

  it('is named in the record of the call, but does not show the usage of other tenants', async () => {
    const session = newSession();
    const budget = { ...noLimits, spend_limit_minor: 1, currency: 'EUR' };
    await site.test.as('poor').putBudget({ params: { budget_id: 'zz-own' }, body: budget });
    const { told, text, response } = await ask({ tenant: 'poor', session });
    expect(told).toBe('403 BUDGET_EXCEEDED');
    // When both are exceeded, the answer names the tenant's own budget, which the tenant can change.
    expect(text).toContain('zz-own');
    const record = await recordOf(session);
    expect(record.budgets.map(({ budget_id: id }) => id)).toEqual(['zz-own', installationCeiling]);
    const { budget_id: _, ...remaining } = record.budgets[1] ?? { budget_id: '' };
    expect(new Set(Object.values(remaining))).toEqual(new Set([null]));
    const headers = JSON.stringify([...response.headers]);
    expect(`${text}${headers}`).not.toContain(installationCeiling);
    for (const tenant of ['poor', 'crowd-0'])
      expect(
        (await site.test.as(tenant).listBudgets()).body.data.filter(({ budget_id: id }) => id === installationCeiling),
      ).toEqual([]);
  });

  it('denies a call of unknown cost', async () => {
    const requestCount = site.model.requests.length;
    const session = newSession();
    expect((await ask({ tenant: 'unpriced', model: 'large', session })).told).toBe('403 PRICE_UNKNOWN');
    expect(site.model.requests).toHaveLength(requestCount);
    expect((await recordOf(session)).budgets.map(({ budget_id: id }) => id)).toEqual([installationCeiling]);
  });

  it('does not count calls that a caller executes and pays for', async () => {
    const before = await ceiling();
    const body = { action: 'model.call', resource: 'scripted', demand: { spend_minor: 5 }, session_id: newSession() };
    expect(answerOf((await site.test.as('payer').evaluate({ body: body as never })).body)).toBe('ALLOW ALLOWED');
    expect(await ceiling()).toEqual(before);
  });

  it('cannot be changed by any route, and no other row can apply to all tenants', async () => {
    const before = await ceiling();
    const terms = { ...noLimits, spend_limit_minor: 9_000_000, currency: 'EUR' };
    const id = installationCeiling;
    const { system } = site.test;
    const attempts = [
      system.putCeiling({ params: { tenant: 'acme', budget_id: id }, body: { version: 9, ...terms } }),
      system.putCeiling({ params: { tenant: '*', budget_id: id }, body: { version: 9, ...terms } }),
      system.putCeiling({ params: { tenant: '*', budget_id: 'ceiling.other' }, body: { version: 9, ...terms } }),
      site.test.as('acme').putBudget({ params: { budget_id: id }, body: terms }),
      site.test.as('*').putBudget({ params: { budget_id: 'own' }, body: terms }),
      site.test.as('*').listBudgets(),
    ];
    expect(await Promise.all(attempts.map(refusal))).toEqual(attempts.map(() => 'INVALID_REQUEST'));
    for (const [tenant, name] of [
      ['acme', id],
      ['*', 'other'],
    ])
      await expect(
        site.test.pool.query(
          `INSERT INTO budgets (tenant_id, budget_id, subject, "window", updated_at) VALUES ($1, $2, 'tenant', 'total', now())`,
          [tenant, name],
        ),
      ).rejects.toThrow('budgets_of_everybody');
    expect(await ceiling()).toEqual(before);
  });

  it('applies from the start, is sealed when it changes, and is kept by a kernel without the setting', async () => {
    const before = await ceiling();
    const sealed = async () =>
      (await ledgerOf(site.test, 'budgets')).filter(({ payload }) => payload.tenant_id === 'system');
    const count = (await sealed()).length;
    const same = await startWith(`${before?.limit_minor} EUR`);
    await same.stop();
    expect([await ceiling(), (await sealed()).length]).toEqual([before, count]);
    await site.test.restart();
    expect((await ask({ tenant: 'later' })).told).toBe('403 BUDGET_EXCEEDED');

    const raised = await startWith(`${reserved * (calls + 5)} EUR`);
    await raised.stop();
    expect(await ceiling()).toMatchObject({ used: before?.used, version: (before?.version ?? 0) + 1 });
    expect((await sealed()).at(-1)).toMatchObject({
      payload: { action: 'budget.change', resource: `budget:${installationCeiling}`, principal_id: 'operator' },
      record: { intent: { facts: { spend_limit_minor: reserved * (calls + 5), currency: 'EUR' } } },
    });
    const key = newSession();
    expect((await ask({ tenant: 'later', key })).told).toBe('200 ALLOWED');
    const kept = await site.test.pool.query('SELECT answer::text FROM idempotency_keys WHERE key = $1', [key]);
    expect(kept.rowCount).toBeGreaterThan(0);
    expect(JSON.stringify(kept.rows)).not.toContain(installationCeiling);
  });

  it('can be set in a different currency, which restarts it at zero, but not while calls are running', async () => {
    let refused = '';
    site.model.follow(() => (res) => {
      void startWith('1000000 CHF')
        .catch((error: unknown) => (refused = String(error)))
        .finally(() => withoutUsage(res));
    });
    expect((await ask({ tenant: 'travelling' })).told).toBe('200 ALLOWED');
    expect(refused).toContain('the ceiling of model spend cannot be set while calls are in progress');
    await (await startWith('1000000 CHF')).stop();
    expect(await ceiling()).toMatchObject({ used: '0', currency: 'CHF', limit_minor: '1000000' });
  });

  it('no longer counts the reservations of a dead kernel once any kernel settles them', async () => {
    const { boundary } = site.test.kernel.context;
    const { caller, session } = spawnedAgent({ tenant: 'orphan', session: newSession() });
    const demand = { spend_micros: 70_000_000n };
    const named = { kind: 'model', model: 'scripted', caller, session, args: {}, context: {}, demand } as const;
    const decision = await decideAndDie(boundary, named);
    expect(await ceiling()).toMatchObject({ used: '0', reserved: micros(70) });
    const stranger = await startKernel(kernelConfigFrom(site.test.env));
    const decided = decision.reply.receipt.payload;
    await settleAbandoned(stranger.context.cycle, { decided, reserved: decision.reserved }).finally(() =>
      stranger.stop(),
    );
    expect(await ceiling()).toMatchObject({ used: '0', reserved: '0' });
  });
});

describe('the configuration of the ceiling', () => {
  it('is required in production with a model server, and is parsed strictly', () => {
    const { env } = site.test;
    const strong = (nth: number) => `k${nth}-${'9f2c7a1e'.repeat(5)}`;
    const secrets = { GOV_ADMIN_API_KEY: strong(1), GOV_SERVICE_API_KEY: strong(2), GOV_TENANT_SALT_SECRET: strong(3) };
    const production = {
      ...env,
      ...secrets,
      NODE_ENV: 'production',
      GOV_MCP_STDIO: '1',
      GOV_CURRENCY: 'EUR',
      GOV_LOG_ORIGIN: 'a/log',
    };
    expect(() => kernelConfigFrom(production)).toThrow(
      'GOV_MODEL_SPEND_LIMIT is missing: set what all tenants together',
    );
    expect(kernelConfigFrom({ ...production, GOV_UPSTREAM_URL: '' }).modelSpend).toBeNull();
    const limit = { ...production, GOV_MODEL_SPEND_LIMIT: '500000 EUR' };
    expect(kernelConfigFrom(limit).modelSpend).toEqual({ limitMinor: 500_000, currency: 'EUR', window: 'total' });
    expect(kernelConfigFrom({ ...limit, GOV_MODEL_SPEND_WINDOW: 'month' }).modelSpend?.window).toBe('month');
    for (const wrong of [
      '500000',
      'EUR',
      '5e5 EUR',
      '-1 EUR',
      '1.5 EUR',
      '500000 eur',
      '500000 EUR month',
      '9999999999999 EUR',
    ])
      expect(() => kernelConfigFrom({ ...env, GOV_MODEL_SPEND_LIMIT: wrong })).toThrow(
        'GOV_MODEL_SPEND_LIMIT is malformed',
      );
  });
});
