import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { startTestGateway, testConfig, testDatabase } from './_gateway.ts';
import { Upstream } from './_upstream.ts';

const upstream = new Upstream();
let database: TestDatabase;
let gateway: StartedGateway;

beforeAll(async () => {
  database = await testDatabase();
  const limits = { GOV_RATE_LIMITS: '1', GOV_RATE_LIMIT_WEBHOOK: '3', GOV_RATE_LIMIT_PUBLIC: '1000' };
  const commercial = { GOV_COMMERCIAL_URL: await upstream.start(), GOV_RUN_WORKERS: '0' };
  gateway = await startTestGateway(testConfig(database, { ...commercial, ...limits }));
});
afterAll(async () => {
  await gateway?.stop();
  await upstream.stop();
  await database?.drop();
});

const body = '{\n  "id": "evt_1",\n  "amount" : 1.0, "name": "Zo\\u00eb"\n}';
const signature = `t=1767225600,v1=${createHmac('sha256', 'whsec').update(`1767225600.${body}`).digest('hex')}`;

it('the gateway forwards a payment event unchanged with its signature, without any credential, and within a separate limit', async () => {
  upstream.answer = (_req, res) => res.end('{"applied":true}');
  const send = () =>
    fetch(new URL('/api/billing/webhooks/stripe', gateway.url), {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
        ...{ authorization: 'Bearer of-a-stranger', cookie: 'session=1', 'x-api-key': 'hp_1', 'x-unheard-of': '1' },
      },
      body,
    });
  expect((await send()).status).toBe(200);
  expect(upstream.last).toMatchObject({ url: '/api/billing/webhooks/stripe', body });
  expect(upstream.last.headers).toMatchObject({ 'stripe-signature': signature });
  for (const name of ['authorization', 'cookie', 'x-api-key', 'x-unheard-of'])
    expect(upstream.last.headers).not.toHaveProperty(name);
  const statuses = [await send(), await send(), await send()].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 429]);
  const status = await fetch(new URL('/api/commercial/status', gateway.url), {
    headers: { 'stripe-signature': signature },
  });
  expect(status.status).toBe(200);
  expect(upstream.last.headers).not.toHaveProperty('stripe-signature');
});
