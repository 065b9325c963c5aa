import { createSecretKey, randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inTransaction, openDatabase, type Database } from '@countersign/database';
import type { Queryable } from '@countersign/messaging';
import { Webhook } from 'standardwebhooks';
import {
  addSubscription,
  announce,
  Courier,
  createWebhookPost,
  deliveryTablesSql,
  deliveryTermsSql,
  disableWebhooksOf,
  endSubscription,
  forgetNotifications,
  listNotifications,
  listSubscriptions,
  liveSecrets,
  redrive,
  rotateSecret,
  type Subscription,
} from '@countersign/delivery';

const databaseUrl = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const schema = `delivery_test_${randomBytes(6).toString('hex')}`;
const secretKey = createSecretKey(randomBytes(32));
const hour = 3_600_000;

type Got = { headers: IncomingHttpHeaders; body: string; path: string };

let database: Database;
let receiver: Server;
let url: string;
let got: Got[];
/** The status that the receiver returns. A promise that never settles simulates a hanging receiver. */
let answer: (got: Got) => number | Promise<number>;
let now: Date;
let count: number;
const givenUp: Subscription[] = [];
const mails: { to: string; body: string }[] = [];
let mailWay: () => Promise<'sent' | 'gone'>;

beforeAll(async () => {
  database = openDatabase({ url: databaseUrl, schema });
  await database.pool.query(`CREATE SCHEMA ${schema}`);
  await database.pool.query(deliveryTablesSql + deliveryTermsSql);
  receiver = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => void chunks.push(chunk));
    req.on('end', () => {
      const one = { headers: req.headers, body: Buffer.concat(chunks).toString(), path: req.url ?? '' };
      got.push(one);
      void Promise.resolve(answer(one)).then((status) => res.writeHead(status, { location: '/other' }).end('{}'));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => receiver.once('listening', listening));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`; // a TCP server has this kind of address
});

beforeEach(async () => {
  await database.pool.query('TRUNCATE notifications, subscriptions');
  [got, answer, now, count] = [[], () => 204, new Date('2026-11-22T12:00:00.000Z'), 0];
  [givenUp.length, mails.length, mailWay] = [0, 0, async () => 'sent'];
});

afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await database.pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await database.close();
});

const transaction = <T>(work: (tx: Queryable) => Promise<T>) => inTransaction(database.pool, work);

function newCourier(post = createWebhookPost({ reachesPrivate: true, timeoutMs: 300 })): Courier {
  return new Courier({
    transaction,
    secretKey,
    post,
    mail: async ({ to, body }) => {
      mails.push({ to, body });
      return mailWay();
    },
    onGivenUp: async (_tx, subscription) => void givenUp.push(subscription),
    now: () => now,
    random: () => 0,
  });
}

const pass = (courier = newCourier()) => courier.pass(new AbortController().signal);
const nextId = () => `ntf_${String((count += 1)).padStart(26, '0')}`;

async function subscribe(over: Partial<Subscription> = {}): Promise<Subscription> {
  const wanted = {
    ...{
      id: `sub_${randomBytes(6).toString('hex')}`,
      owner: 'wsp_a',
      channel: 'webhook' as const,
      target: `${url}/hook`,
    },
    ...{ eventTypes: ['run.ended'], filter: null, pausedAt: null, createdBy: 'ada', createdAt: now, ...over },
  };
  const added = await transaction((tx) => addSubscription(tx, wanted, 20));
  if (added === false) throw new Error('There are too many');
  return added.subscription;
}

const tell = (data: object, owner = 'wsp_a', type = 'run.ended') =>
  transaction((tx) => announce(tx, { owner, type, data, now: () => now }, nextId));

async function untilGot(many: number): Promise<void> {
  const giveUpAt = performance.now() + 60_000; // without a limit, this wait could last forever
  while (got.length < many) {
    if (performance.now() > giveUpAt) throw new Error(`Only ${got.length} arrived`); // the limit from above
    await new Promise((resolve) => setTimeout(resolve, 10)); // between two reads of the state
  }
}

async function sentTo({ id, owner }: Subscription) {
  return transaction((tx) => listNotifications(tx, { owner, subscriptionId: id, before: null, limit: 50 }));
}

describe('a notification', () => {
  it('arrives once at each subscriber of its type, signed as Standard Webhooks requires', async () => {
    const wanted = await subscribe();
    const foreign = await subscribe({ owner: 'wsp_b', target: `${url}/b` });
    await subscribe({ target: `${url}/another-type`, eventTypes: ['violation.recorded'] });
    expect(await tell({ runId: 'run_1' })).toBe(1);
    expect(await pass()).toBe(1);
    expect(await pass()).toBe(0);
    expect(got.map(({ path }) => path)).toEqual(['/hook']);
    const [{ headers, body } = { headers: {}, body: '' }] = got;
    expect(JSON.parse(body)).toEqual({ type: 'run.ended', timestamp: now.toISOString(), data: { runId: 'run_1' } });
    const [secret = ''] = liveSecrets(secretKey, wanted, now);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const signed = headers as Record<string, string>; // Node joins repeated headers
    atTime(now, () => expect(new Webhook(secret).verify(body, signed)).toMatchObject({ type: 'run.ended' }));
    const [strange = ''] = liveSecrets(secretKey, foreign, now);
    atTime(now, () => expect(() => new Webhook(strange).verify(body, signed)).toThrow('No matching signature'));
    expect(signed['webhook-id']).toBe('ntf_00000000000000000000000001');
    expect(await sentTo(wanted)).toMatchObject([{ state: 'delivered', attempts: 1, lastError: null, endedAt: now }]);
    expect(await sentTo(foreign)).toEqual([]);
  });

  it('is not delayed by another workspace with thousands of notifications for receivers that hang', async () => {
    let letGo = (_status: number): void => undefined;
    const hanging = new Promise<number>((resolve) => (letGo = resolve));
    answer = ({ path }) => (path === '/b' ? 204 : hanging);
    for (let n = 0; n < 12; n += 1) await subscribe({ target: `${url}/slow` + n });
    for (let count = 0; count < 200; count += 1) await tell({ told: count });
    now = new Date(now.getTime() + 1_000);
    await subscribe({ owner: 'wsp_b', target: `${url}/b` });
    const courier = newCourier(createWebhookPost({ reachesPrivate: true, timeoutMs: 20_000 }));
    const passes = [pass(courier)];
    await untilGot(4);
    await tell({}, 'wsp_b');
    passes.push(pass(courier));
    await untilGot(5);
    now = new Date(now.getTime() + 20_000);
    letGo(204);
    await Promise.all(passes);
    // The slow owner has four rounds at once, and the time limit of a round allows one post in each.
    const served = got.map(({ path }) => path);
    expect([served.length, served.at(-1)]).toEqual([5, '/b']);
    await pass();
    const slow = got.slice(5).map(({ path }) => path);
    expect([slow.length, new Set(slow).size]).toEqual([40, 4]);
    expect(slow.filter((path) => served.includes(path))).toEqual([]);
  });

  it('is not written when the transaction of its event rolls back', async () => {
    const wanted = await subscribe();
    const broken = transaction(async (tx) => {
      await announce(tx, { owner: 'wsp_a', type: 'run.ended', data: {}, now: () => now }, nextId);
      throw new Error('rolled back');
    });
    await expect(broken).rejects.toThrow('rolled back');
    expect(await sentTo(wanted)).toEqual([]);
  });

  it('is tried eight times over two days under one id, and again on request', async () => {
    const wanted = await subscribe();
    await tell({});
    answer = () => 500;
    const waits = [];
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      expect([attempt, await pass(), await pass()]).toEqual([attempt, 1, 0]);
      const [one] = await sentTo(wanted);
      expect(one).toMatchObject({ attempts: attempt, lastError: 'status 500', state: attempt < 8 ? 'due' : 'failed' });
      waits.push(((one?.dueAt.getTime() ?? 0) - now.getTime()) / 1_000);
      now = one?.dueAt ?? now;
    }
    expect(waits).toEqual([5, 60, 600, 3_600, 14_400, 43_200, 86_400, 0]);
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    now = new Date(now.getTime() + hour);
    expect(await pass()).toBe(0);

    answer = () => 200;
    const [{ id } = { id: '' }] = await sentTo(wanted);
    const place = { owner: 'wsp_a', subscriptionId: wanted.id, id, now };
    expect(await transaction((tx) => redrive(tx, { ...place, owner: 'wsp_b' }))).toBeNull();
    expect(await transaction((tx) => redrive(tx, place))).toMatchObject({ id: place.id, state: 'due', attempts: 0 });
    expect(await transaction((tx) => redrive(tx, place))).toBeNull();
    await pass();
    expect(await sentTo(wanted)).toMatchObject([{ id, state: 'delivered', attempts: 1 }]);
  });

  it('is deleted some time after its last attempt, but never while attempts are to come', async () => {
    const wanted = await subscribe();
    for (let nth = 0; nth < 3; nth += 1) await tell({ nth });
    answer = ({ body }) => (nthOf(body) === 0 ? 200 : 500);
    await pass();
    const ended = now;
    await transaction((tx) => forgetNotifications(tx, ended));
    expect(await sentTo(wanted)).toHaveLength(3);
    await transaction((tx) => forgetNotifications(tx, new Date(ended.getTime() + 1)));
    expect((await sentTo(wanted)).map(({ state }) => state)).toEqual(['due', 'due']);
  });

  it('waits behind a failed one, so that an unreachable receiver gets one attempt and not all of them', async () => {
    await subscribe();
    for (let nth = 0; nth < 5; nth += 1) await tell({ nth });
    answer = () => 503;
    expect(await pass()).toBe(1);
    now = new Date(now.getTime() + 5_000);
    answer = () => 200;
    expect(await pass()).toBe(5);
    expect(got.slice(1).map(({ body }) => nthOf(body))).toEqual([0, 1, 2, 3, 4]);
  });

  it('arrives at one receiver while another hangs, and the hanging post is aborted', async () => {
    await subscribe({ target: `${url}/hangs` });
    await subscribe({ target: `${url}/quick` });
    await tell({});
    answer = ({ path }) => (path === '/hangs' ? new Promise<number>(() => undefined) : 200);
    await pass();
    const [hung, quick] = await Promise.all((await transaction((tx) => listSubscriptions(tx, 'wsp_a'))).map(sentTo));
    const states = [hung, quick].map((list) => [list?.[0]?.state, list?.[0]?.lastError]);
    expect(states).toEqual(
      expect.arrayContaining([
        ['delivered', null],
        ['due', 'no answer within 300 ms'],
      ]),
    );
  });

  it('is delivered by one of several processes, and by another when that process dies', async () => {
    await subscribe();
    await tell({});
    let release: (status: number) => void = () => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    const slow = newCourier(createWebhookPost({ reachesPrivate: true }));
    const first = pass(slow);
    await untilGot(1);
    expect(await pass()).toBe(0);
    now = new Date(now.getTime() + 181_000);
    answer = () => 200;
    expect(await pass()).toBe(1);
    release(200);
    await first;
    expect(got.map(({ headers }) => headers['webhook-id'])).toEqual(Array(2).fill('ntf_00000000000000000000000001'));
  });
});

describe('a subscription', () => {
  it('is given up after a 410, or after five days without a delivery, and its owner gets one notice', async () => {
    const gone = await subscribe({ target: `${url}/gone` });
    const dead = await subscribe({ target: `${url}/dead` });
    answer = ({ path }) => (path === '/gone' ? 410 : 500);
    await tell({});
    await tell({});
    await pass();
    expect(givenUp.map(({ id }) => id)).toEqual([gone.id]);
    expect(await sentTo(gone)).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
    for (let day = 0; day < 6; day += 1) {
      now = new Date(now.getTime() + 24 * hour);
      await tell({ day });
      await pass();
    }
    expect(givenUp.map(({ id }) => id)).toEqual([gone.id, dead.id]);
    const listed = await transaction((tx) => listSubscriptions(tx, 'wsp_a'));
    expect(listed.map(({ disabledReason }) => disabledReason).toSorted()).toEqual([
      'status 500',
      'the receiver accepts no more notifications (status 410, or an address without a member)',
    ]);
    expect(await tell({})).toBe(0);

    answer = () => 200;
    const again = await subscribe({ target: dead.target });
    expect(again).toMatchObject({ id: dead.id, disabledAt: null, failingSince: null });
    await tell({ back: true });
    await pass();
    expect((await sentTo(dead))[0]).toMatchObject({ state: 'delivered' });
  });

  it("gets no more notifications after its creator's webhooks are disabled, and a new secret when another creator adds it", async () => {
    const hers = await subscribe();
    const his = await subscribe({ target: `${url}/his`, createdBy: 'bob' });
    const foreign = await subscribe({ owner: 'wsp_b' });
    const mailbox = await subscribe({ channel: 'mail', target: 'ada@example.org' });
    let release: (status: number) => void = () => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    await tell({});
    const slow = newCourier(createWebhookPost({ reachesPrivate: true }));
    const attempt = pass(slow);
    await untilGot(2);
    const reason = 'she went';
    const disable = () => transaction((tx) => disableWebhooksOf(tx, { owner: 'wsp_a', createdBy: 'ada', reason, now }));
    expect((await disable()).map(({ id }) => id)).toEqual([hers.id]);
    expect(await disable()).toEqual([]);
    release(500);
    release = () => undefined;
    receiver.closeAllConnections();
    await attempt;
    const listed = await transaction((tx) => listSubscriptions(tx, 'wsp_a'));
    const reasonOf = (one: Subscription) => listed.find(({ id }) => id === one.id)?.disabledReason;
    expect([hers, his, mailbox].map(reasonOf)).toEqual([reason, null, null]);
    expect(await sentTo(hers)).toMatchObject([{ state: 'failed' }]);
    expect((await transaction((tx) => listSubscriptions(tx, foreign.owner)))[0]?.disabledAt).toBeNull();
    const again = await subscribe({ createdBy: 'bob' });
    expect(again).toMatchObject({ id: hers.id, createdBy: 'bob', disabledAt: null, rotatedAt: null });
    expect(liveSecrets(secretKey, again, now)).not.toEqual(expect.arrayContaining(liveSecrets(secretKey, hers, now)));
    expect(liveSecrets(secretKey, await subscribe({ createdBy: 'cara' }), now)).toEqual(
      liveSecrets(secretKey, again, now),
    );
  });

  it('also signs with the previous secret for a day after a rotation', async () => {
    const before = await subscribe();
    const [old = ''] = liveSecrets(secretKey, before, now);
    const rotated = await transaction((tx) => rotateSecret(tx, { owner: 'wsp_a', id: before.id, now }));
    expect(await transaction((tx) => rotateSecret(tx, { owner: 'wsp_b', id: before.id, now }))).toBeNull();
    const verifiesWith = async (secret: string) => {
      got.length = 0;
      await tell({});
      await pass();
      const [{ headers, body } = { headers: {}, body: '' }] = got;
      return atTime(now, () => {
        try {
          new Webhook(secret).verify(body, headers as Record<string, string>); // Node joins repeated headers
          return true;
        } catch {
          return false;
        }
      });
    };
    const [fresh = ''] = rotated === null ? [] : liveSecrets(secretKey, rotated, now);
    expect(fresh).not.toBe(old);
    expect([await verifiesWith(old), await verifiesWith(fresh)]).toEqual([true, true]);
    now = new Date(now.getTime() + 24 * hour);
    expect([await verifiesWith(old), await verifiesWith(fresh)]).toEqual([false, true]);
  });

  it('exists once for each target of an owner, up to a limit that parallel callers cannot exceed', async () => {
    const target = `${url}/same`;
    const [first, second] = [await subscribe({ target }), await subscribe({ target, eventTypes: ['other'] })];
    expect([second.id, second.eventTypes]).toEqual([first.id, ['other']]);
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        transaction((tx) => addSubscription(tx, { ...first, id: `sub_${nth}`, target: `${url}/${nth}` }, 5)),
      ),
    );
    expect(made.filter(Boolean)).toHaveLength(4);
    expect(await transaction((tx) => endSubscription(tx, { owner: 'wsp_b', id: first.id }))).toBe(false);
    expect(await transaction((tx) => endSubscription(tx, { owner: 'wsp_a', id: first.id }))).toBe(true);
  });

  it('of a mailbox sends mail, retries a refused mail, and ends when the mailbox is gone', async () => {
    const wanted = await subscribe({ channel: 'mail', target: 'ada@example.org' });
    await tell({ runId: 'run_1' });
    mailWay = () => Promise.reject(new Error('the mail server is away'));
    await pass();
    const lastError = 'the mail server did not accept the mail';
    expect(await sentTo(wanted)).toMatchObject([{ state: 'due', lastError }]);
    now = new Date(now.getTime() + 5_000);
    mailWay = async () => 'gone';
    await pass();
    expect(givenUp.map(({ id }) => id)).toEqual([wanted.id]);
    expect(mails).toHaveLength(2);
    expect(mails[0]).toMatchObject({ to: 'ada@example.org' });
  });
});

function nthOf(body: string): unknown {
  const { data } = JSON.parse(body) as { data: { nth: unknown } }; // tell() wrote it
  return data.nth;
}

/** Sets the clock of the process, which the verifying library uses. */
function atTime<T>(at: Date, work: () => T): T {
  const real = Date.now;
  Date.now = () => at.getTime();
  try {
    return work();
  } finally {
    Date.now = real;
  }
}
