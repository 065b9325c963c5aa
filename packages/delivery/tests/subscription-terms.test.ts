import { createSecretKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { inTransaction, openDatabase, type Database } from '@countersign/database';
import type { Queryable } from '@countersign/messaging';
import {
  addSubscription,
  announce,
  Courier,
  deliveryTablesSql,
  deliveryTermsSql,
  findBacklog,
  listNotifications,
  type Subscription,
} from '@countersign/delivery';

const databaseUrl = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const schema = `delivery_test_${randomBytes(6).toString('hex')}`;
const now = new Date('2026-11-28T12:00:00.000Z');
const owner = 'wsp_a';

let database: Database;
let posted: string[];
let count = 0;

beforeAll(async () => {
  database = openDatabase({ url: databaseUrl, schema });
  await database.pool.query(`CREATE SCHEMA ${schema}`);
  await database.pool.query(deliveryTablesSql + deliveryTermsSql);
});

beforeEach(async () => {
  posted = [];
  await database.pool.query('TRUNCATE notifications, subscriptions');
});

afterAll(async () => {
  await database.pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await database.close();
});

const transaction = <T>(work: (tx: Queryable) => Promise<T>) => inTransaction(database.pool, work);
const nextId = () => `ntf_${String((count += 1)).padStart(26, '0')}`;
const tell = (data: object) =>
  transaction((tx) => announce(tx, { owner, type: 'app.paid', data, now: () => now, eventId: 'evt_1' }, nextId));
const notificationsOf = ({ id }: Subscription) =>
  transaction((tx) => listNotifications(tx, { owner, subscriptionId: id, before: null, limit: 50 }));

async function subscribe(target: string, over: Partial<Subscription> = {}): Promise<Subscription> {
  const terms = { eventTypes: ['app.paid'], filter: null, pausedAt: null, createdBy: 'ada', createdAt: now, ...over };
  const wanted = { id: `sub_${randomBytes(6).toString('hex')}`, owner, channel: 'webhook' as const, target, ...terms };
  const added = await transaction((tx) => addSubscription(tx, wanted, 20));
  if (added === false) throw new Error('There are too many');
  return added.subscription;
}

function pass(): Promise<number> {
  const courier = new Courier({
    transaction,
    secretKey: createSecretKey(randomBytes(32)),
    post: async ({ url }) => {
      posted.push(url);
      return { kind: 'delivered' };
    },
    mail: async () => 'sent',
    onGivenUp: async () => undefined,
    now: () => now,
  });
  return courier.pass(new AbortController().signal);
}

it('announce writes a notification for active subscriptions whose filter matches the data of the event', async () => {
  const all = await subscribe('https://example.org/all');
  const high = await subscribe('https://example.org/high', { filter: { severity: 'high', open: true } });
  const paused = await subscribe('https://example.org/paused', { pausedAt: now });
  const near = [{ severity: 'high' }, { severity: ['high'], open: true }, { severity: 'high', open: 'true' }, {}];
  for (const data of near) expect(await tell(data)).toBe(1);
  expect(await tell({ severity: 'high', open: true, more: 1 })).toBe(2);
  expect(await notificationsOf(all)).toHaveLength(5);
  expect(await notificationsOf(high)).toMatchObject([{ eventId: 'evt_1' }]);
  expect(await notificationsOf(paused)).toEqual([]);
});

it('the courier sends nothing for a paused subscription, and sends its notifications once it is active again', async () => {
  const wanted = await subscribe('https://example.org/');
  await tell({});
  await subscribe('https://example.org/', { pausedAt: now });
  expect([await pass(), await tell({})]).toEqual([0, 0]);
  expect(await notificationsOf(wanted)).toMatchObject([{ state: 'due', attempts: 0 }]);
  await subscribe('https://example.org/');
  expect(await pass()).toBe(1);
  expect(posted).toEqual(['https://example.org/']);
});

it('findBacklog returns a subscription with many waiting notifications, unless it is paused', async () => {
  const { id } = await subscribe('https://example.org/');
  for (let nth = 0; nth < 3; nth += 1) await tell({});
  const backlog = (max: number, type = 'app.paid') => transaction((tx) => findBacklog(tx, { owner, type, max }));
  expect([await backlog(3), await backlog(4), await backlog(3, 'app.other')]).toEqual([id, null, null]);
  await subscribe('https://example.org/', { pausedAt: now });
  expect(await backlog(3)).toBeNull();
});
