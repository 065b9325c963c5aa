import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { notificationLimits } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { Webhook } from 'standardwebhooks';
import type { StartedGateway } from '../src/index.ts';
import { clientOf, rowsOf, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

type Got = { headers: IncomingHttpHeaders; body: string; path: string };

let database: TestDatabase;
let gateway: StartedGateway;
let receiver: Server;
let url: string;
let got: Got[];
let status: number;
let count = 0;
let ada: Person;

beforeAll(async () => {
  database = await testDatabase();
  receiver = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      const { pathname, searchParams } = new URL(req.url ?? '', url);
      // Requests of an earlier test can still arrive and are ignored.
      if (searchParams.get('test') === String(count)) got.push({ headers: req.headers, body, path: pathname });
      res.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => receiver.once('listening', listening));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`; // it listens on TCP
  gateway = await start();
});

beforeEach(async () => {
  [got, status] = [[], 204];
  ada = await signInAs(gateway.url, `ada-${(count += 1)}@example.org`);
});

afterAll(async () => {
  await gateway?.stop();
  receiver.close();
  await database?.drop();
});

function start(variables: Record<string, string> = {}): Promise<StartedGateway> {
  // Secrets of webhooks are derived from this secret.
  const secret = { GOV_SESSION_SECRET: 'ab'.repeat(32) };
  const reaching = { ...secret, GOV_RUN_WORKERS: '0', GOV_WEBHOOKS_REACH_PRIVATE: '1' };
  return startTestGateway(testConfig(database, { ...reaching, ...variables }));
}

const at = (path: string) => `${url}${path}?test=${count}`;
const params = () => ({ id: ada.workspace.id });
const paid = 'app.order.paid';
const event = (more: object = {}) => ({ type: paid, dedupeKey: 'order-1', data: { orderId: 'o-1' }, ...more });
const emit = async (more: object = {}) => (await ada.client.emitEvent({ params: params(), body: event(more) })).body;
const subscribe = async (more: object = {}) => {
  const body = { channel: 'webhook' as const, target: at('/hook'), eventTypes: [paid], ...more };
  return (await ada.client.createSubscription({ params: params(), body })).body;
};
const deliveries = async () => (await ada.client.listDeliveries({ params: params() })).body.data;
const emitted = () => rowsOf(database, 'SELECT id FROM emitted_events WHERE workspace_id = $1', [ada.workspace.id]);

describe('an event that a caller emits', () => {
  it('is delivered once, signed, to the matching subscriptions, and is audited', async () => {
    const { secret, id } = await subscribe({ filter: { orderId: 'o-1' } });
    await subscribe({ target: at('/other'), filter: { orderId: 'o-2' } });
    await subscribe({ target: at('/platform'), eventTypes: ['run.ended'] });
    const one = await emit();
    expect(one).toMatchObject({ type: paid, dedupeKey: 'order-1', deliveries: 1, emittedBy: ada.user.id });
    await until(async () => (await deliveries())[0]?.state === 'delivered');
    expect(got.map(({ path }) => path)).toEqual(['/hook']);
    const [{ headers, body } = { headers: {} as IncomingHttpHeaders, body: '' }] = got;
    new Webhook(secret ?? '').verify(body, headers as Record<string, string>); // Node joins repeated headers
    expect(JSON.parse(body)).toMatchObject({ type: paid, data: { orderId: 'o-1' }, event_id: one.id });
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ id: headers['webhook-id'], subscriptionId: id, eventId: one.id, attempts: 1 });
    const { data } = (await ada.client.listAudit({ query: { action: 'event.emitted' } })).body;
    expect(data).toMatchObject([{ actor: ada.user.id, subject: one.id, details: { type: paid, deliveries: 1 } }]);
  });

  it('counts once per key, also in fifty simultaneous requests, and never as another event', async () => {
    await subscribe();
    const all = await Promise.all(Array.from({ length: 50 }, () => emit()));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await deliveries()).toHaveLength(1);
    for (const second of [{ data: { orderId: 'o-2' } }, { type: 'app.order.sent' }])
      await expect(emit(second)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await emitted()).toHaveLength(1);
  });

  it('belongs to the workspace of its caller, so the same key elsewhere is another event', async () => {
    const [first, eve] = [await emit(), await signInAs(gateway.url, `eve-${count}@example.org`)];
    const { body } = await eve.client.emitEvent({ params: { id: eve.workspace.id }, body: event() });
    expect(body.id).not.toBe(first.id);
    await subscribe();
    await emit({ dedupeKey: 'order-2' });
    const [delivery] = await deliveries();
    const foreign = { params: { id: eve.workspace.id, deliveryId: delivery?.id ?? '' } };
    await expect(eve.client.redriveDelivery(foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const query = { subscriptionId: delivery?.subscriptionId ?? '' };
    expect((await eve.client.listDeliveries({ params: { id: eve.workspace.id }, query })).body.data).toEqual([]);
  });

  it('needs a type of its own and has limited data', async () => {
    const { dataBytesMax } = notificationLimits;
    const text = (bytes: number) => ({ data: { text: 'x'.repeat(bytes - '{"text":""}'.length) } });
    const refused = [
      ...['run.ended', 'app', 'app.', 'app.Paid', 'app.order..paid', 'APP.order', 'app.order.paid\n'].map((type) => ({
        type,
      })),
      ...[text(dataBytesMax + 1), { data: [] }, { dedupeKey: '' }],
    ];
    for (const body of refused) await expect(emit(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await emitted()).toEqual([]);
    await emit(text(dataBytesMax));
  });

  it('is sent only to webhooks, since our mail contains no text of a caller', async () => {
    const mail = { channel: 'mail', target: ada.user.email };
    await expect(subscribe(mail)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await subscribe({ ...mail, eventTypes: ['run.ended'] });
  });

  it('is limited per minute, and refused while too many events wait for a receiver', async () => {
    const { id } = await subscribe();
    const fill = (many: number, table: string) => rowsOf(database, table, [ada.workspace.id, many, id]);
    const waiting = `INSERT INTO notifications (id, subscription_id, owner, type, body, due_at, created_at)
      SELECT 'ntf_' || $1 || n, $3, $1, 'app.x', '{}', now() + interval '1 day', now() FROM generate_series(1, $2::int) n`;
    await fill(notificationLimits.waitingMax - 1, waiting);
    status = 500;
    await emit();
    const full = expect.objectContaining({
      code: 'RATE_LIMITED',
      details: expect.objectContaining({ subscription_id: id }),
    });
    await expect(emit({ dedupeKey: 'order-2' })).rejects.toEqual(full);
    await subscribe({ status: 'paused' });
    await emit({ dedupeKey: 'order-2' });
    const recent = `INSERT INTO emitted_events SELECT $1, 'k' || n, $3 || n, 'app.x', '', 0, 'x', now() FROM generate_series(1, $2::int) n`;
    await fill(notificationLimits.eventsPerMinute - 2, recent);
    await expect(emit({ dedupeKey: 'order-3' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect((await emit()).dedupeKey).toBe('order-1');
    await rowsOf(
      database,
      `UPDATE emitted_events SET emitted_at = now() - interval '61 seconds' WHERE workspace_id = $1`,
      [ada.workspace.id],
    );
    await emit({ dedupeKey: 'order-3' });
  });

  it('is delivered by another gateway after a crash, and redriven under its id', async () => {
    const { secret } = await subscribe({ target: at('/hook') });
    status = 500;
    const one = await emit();
    await until(async () => (await deliveries())[0]?.lastError === 'status 500');
    await gateway.stop();
    await rowsOf(database, `UPDATE notifications SET due_at = now() WHERE owner = $1`, [ada.workspace.id]);
    status = 204;
    gateway = await start();
    ada = { ...ada, client: clientOf(gateway.url, ada.headers) };
    await until(async () => (await deliveries())[0]?.state === 'delivered');
    const [delivery] = await deliveries();
    const named = { params: { ...params(), deliveryId: delivery?.id ?? '' } };
    const before = got.length;
    expect((await ada.client.redriveDelivery(named)).body).toMatchObject({
      id: delivery?.id,
      state: 'due',
      attempts: 0,
    });
    await until(async () => got.length > before);
    expect(new Set(got.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery?.id]));
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    for (const { headers, body } of got) new Webhook(secret ?? '').verify(body, headers as Record<string, string>); // Node joins repeated headers
    expect((await emit()).id).toBe(one.id);
    expect(await deliveries()).toHaveLength(1);
  });

  it('is never sent to a private address', async () => {
    await gateway.stop();
    gateway = await start({ GOV_WEBHOOKS_REACH_PRIVATE: '0' });
    ada = { ...ada, client: clientOf(gateway.url, ada.headers) };
    for (const target of [at('/hook'), 'https://127.0.0.1/', 'https://[::ffff:10.0.0.1]/', 'https://localhost/'])
      await subscribe({ target });
    expect((await emit()).deliveries).toBe(4);
    await until(async () => (await deliveries()).every(({ lastError }) => lastError !== null));
    expect(got).toEqual([]);
    await gateway.stop();
    gateway = await start();
  });
});

describe('a subscription', () => {
  it('is changed by the next request for its target, and shows its secret once', async () => {
    const made = await subscribe({ filter: { orderId: 'o-1' } });
    const changed = await subscribe({ eventTypes: [paid, 'run.ended'], status: 'paused' });
    expect(changed).toMatchObject({ id: made.id, filter: null, state: 'paused', secret: null });
    expect(made.secret).toMatch(/^whsec_/);
    const { data } = (await ada.client.listSubscriptions({ params: params() })).body;
    expect(data).toMatchObject([{ id: made.id, state: 'paused', eventTypes: [paid, 'run.ended'] }]);
  });
});
