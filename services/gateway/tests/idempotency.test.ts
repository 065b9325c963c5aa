import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase, type Database } from '@countersign/database';
import type { TestDatabase } from '@countersign/database/testing';
import { idempotencyStore } from '../src/store/idempotency.ts';
import type { Sql } from '../src/store/sql.ts';
import { testDatabase } from './_gateway.ts';

let database: TestDatabase;
let opened: Database;

beforeAll(async () => {
  database = await testDatabase();
  opened = openDatabase({ url: database.url, schema: 'gateway' });
});
afterAll(async () => {
  await opened?.close();
  await database?.drop();
});

describe('an idempotency key', () => {
  it('that is given up while a second request looks at it is still taken for that one, and free for the next', async () => {
    const store = idempotencyStore(opened.pool);
    expect(await store.begin('scope', 'key', 'sha256:a')).toEqual({ kind: 'run' });
    const second = idempotencyStore(afterTheInsert(() => store.abandon('scope', 'key')));
    expect(await second.begin('scope', 'key', 'sha256:a')).toEqual({ kind: 'in-flight' });
    expect(await second.begin('scope', 'key', 'sha256:a')).toEqual({ kind: 'run' });
  });
});

/** The pool, on which something else happens between the claim that came too late and the look at the earlier one. */
function afterTheInsert(happens: () => Promise<void>): Sql {
  const query = async (text: string, values: unknown[]) => {
    const result = await opened.pool.query(text, values);
    if (text.includes('INSERT INTO idempotency_keys') && result.rowCount === 0) await happens();
    return result;
  };
  return { query } as unknown as Sql; // the store calls nothing else
}
