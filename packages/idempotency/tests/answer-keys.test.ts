import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inTransaction, openDatabase, type Database } from '@countersign/database';
import { AnswerKeys } from '@countersign/idempotency';
import { idempotencyContract } from '@countersign/testkit/idempotency-contract';

const schema = `keys_test_${randomBytes(6).toString('hex')}`;
const runningMsMax = 600_000;
const keys = new AnswerKeys((scope) => ({ owner: '', scope }));
const answer = { status: 201, headers: {}, text: '{}' };
let database: Database;
let agedMs = 0;

beforeAll(async () => {
  const url = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  database = openDatabase({ url, schema });
  await database.pool.query(`CREATE SCHEMA ${schema}`);
  await database.pool.query(`
    CREATE TABLE idempotency_keys (owner text, scope text, key text, fingerprint text NOT NULL, state text NOT NULL,
      status int, answer text, headers jsonb, created_at timestamptz(3) NOT NULL, PRIMARY KEY (owner, scope, key))`);
});
afterAll(async () => {
  await database?.pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await database?.close();
});

type Client = Parameters<Parameters<typeof inTransaction>[1]>[0];
const commit = <T>(work: (tx: Client) => Promise<T>): Promise<T> => inTransaction(database.pool, work);
const begin = (key: string, now = new Date()) =>
  commit((tx) => keys.begin(tx, { scope: 'scope', key, fingerprint: 'x', now, runningMsMax }));

describe('AnswerKeys', () => {
  idempotencyContract(() => ({
    store: {
      begin: (scope, key, fingerprint) => {
        const claim = { scope, key, fingerprint, now: new Date(Date.now() + agedMs), runningMsMax };
        return commit((tx) => keys.begin(tx, claim));
      },
      complete: async (scope, key, kept) => void (await commit((tx) => keys.complete(tx, { scope, key }, kept))),
      abandon: (scope, key) => commit((tx) => keys.free(tx, { scope, key }, { state: 'running' })),
    },
    age: async (ms) => void (agedMs += ms),
    runningMsMax,
  }));

  it('completes and releases only the claim of the caller, and never a later one', async () => {
    const place = { scope: 'scope', key: 'lost' };
    const lost = new Date(Date.now() - runningMsMax - 60_000);
    await begin('lost', lost);
    expect(await begin('lost')).toEqual({ kind: 'run' });
    await commit((tx) => keys.free(tx, place, { begunAt: lost, state: 'running' }));
    const lostRow = { begunAt: lost, state: 'running' } as const;
    expect(await commit((tx) => keys.complete(tx, place, answer, lostRow))).toBe(false);
    expect(await begin('lost')).toEqual({ kind: 'in-flight' });
  });

  it('waits for an equal claim that is not committed, and replays its answer', async () => {
    const now = new Date();
    const claim = { scope: 'scope', key: 'waiting', fingerprint: 'x', now, runningMsMax };
    const first = commit(async (tx) => {
      await keys.begin(tx, claim);
      const second = begin('waiting');
      await keys.complete(tx, claim, answer);
      return { second };
    });
    expect(await (await first).second).toEqual({ kind: 'replay', answer });
  });

  it('removes answers after a day, and not earlier', async () => {
    const now = new Date();
    await begin('old', new Date(now.getTime() - 86_400_001));
    await begin('young', new Date(now.getTime() - 86_399_000));
    await commit((tx) => keys.forget(tx, now));
    const { rows } = await database.pool.query(`SELECT key FROM idempotency_keys WHERE key IN ('old', 'young')`);
    expect(rows).toEqual([{ key: 'young' }]);
  });
});
