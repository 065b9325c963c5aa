import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { openGatewayDatabase, type GatewayDatabase, type Transaction, type Tx } from '../src/store/database.ts';
import { idempotencyStore } from '../src/store/idempotency.ts';
import { testDatabase } from './_gateway.ts';

let database: TestDatabase;
let opened: GatewayDatabase;
let nowMs = Date.now();
const now = () => new Date(nowMs);

beforeAll(async () => {
  database = await testDatabase();
  opened = openGatewayDatabase(database.url);
});
afterAll(async () => {
  await opened?.close();
  await database?.drop();
});

describe('an idempotency key', () => {
  it('that is given up while a second request looks at it is still taken for that one, and free for the next', async () => {
    const store = idempotencyStore(opened.transaction, now);
    expect(await store.begin('scope', 'key', 'sha256:a')).toEqual({ kind: 'run' });
    const second = idempotencyStore(
      afterTheClaim(() => store.abandon('scope', 'key')),
      now,
    );
    expect(await second.begin('scope', 'key', 'sha256:a')).toEqual({ kind: 'in-flight' });
    expect(await second.begin('scope', 'key', 'sha256:a')).toEqual({ kind: 'run' });
  });

  it('runs one of many equal claims', async () => {
    const store = idempotencyStore(opened.transaction, now);
    const claims = await Promise.all(Array.from({ length: 8 }, () => store.begin('scope', 'raced', 'sha256:a')));
    expect(claims.map(({ kind }) => kind).sort()).toEqual([...Array<string>(7).fill('in-flight'), 'run']);
  });

  it('is free again five minutes after its request was lost, and a day after it was answered', async () => {
    const store = idempotencyStore(opened.transaction, now);
    const claim = () => store.begin('scope', 'aged', 'sha256:a');
    const minuteMs = 60_000;
    await claim();
    nowMs += 5 * minuteMs;
    expect(await claim()).toEqual({ kind: 'in-flight' });
    nowMs += 1;
    expect(await claim()).toEqual({ kind: 'run' });
    const answer = { status: 201, headers: {}, text: '{}' };
    await store.complete('scope', 'aged', answer);
    nowMs += 24 * 60 * minuteMs;
    expect(await claim()).toEqual({ kind: 'replay', answer });
    nowMs += 1;
    expect(await claim()).toEqual({ kind: 'run' });
  });
});

/** Transactions in which something else happens between the claim that came too late and the look at the earlier one. */
function afterTheClaim(happens: () => Promise<void>): Transaction {
  return (work) => opened.transaction((tx) => work(new Proxy(tx, { get: (target, name) => watched(target, name) })));

  function watched(tx: Tx, name: string | symbol): unknown {
    if (name !== 'idempotencyKey') return Reflect.get(tx, name);
    const keys = tx.idempotencyKey;
    const createMany = async (data: Parameters<typeof keys.createMany>[0]) => {
      const claimed = await keys.createMany(data);
      if (claimed.count === 0) await happens();
      return claimed;
    };
    return new Proxy(keys, {
      get: (target, key) => (key === 'createMany' ? createMany : (Reflect.get(target, key) as unknown)),
    });
  }
}
