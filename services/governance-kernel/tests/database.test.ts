import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TenantId } from '@countersign/contracts';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { listBudgets } from '../src/store/budget-store.ts';
import { openKernelDatabase, type KernelDatabase, type Reader, type Tx } from '../src/store/database.ts';
import { serviceDir } from './_service-dir.ts';

let scratch: TestDatabase;
let database: KernelDatabase;
beforeAll(async () => {
  scratch = await createTestDatabase({ serviceDir, schema: 'kernel' });
  database = openKernelDatabase(scratch.url);
});
afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

describe('the store', () => {
  it('throws when a filter is undefined, instead of leaving it out', async () => {
    const mistake = undefined as unknown as TenantId; // what a caller with a type error passes
    const listed = listBudgets(database.reader, mistake, { page: { limit: 10 }, item: ({ row }) => row });
    await expect(listed).rejects.toThrow('undefined');
  });

  it('reports a rollback when the work swallowed an error', async () => {
    const work = database.transaction((tx) => tx.$executeRaw`SELECT 1 / 0`.catch(() => 0));
    await expect(work).rejects.toThrow(/was rolled back/);
  });
});

type WritingMethod = `${'create' | 'update' | 'delete' | 'upsert'}${string}`;
type IsNever<Type> = [Type] extends [never] ? true : false;
type Sql = '$queryRaw';

it('a reader has no write methods, can use SQL only with $queryRaw, and is not accepted as a transaction', () => {
  // The compiler tests this: each line compiles only if its type is `true`.
  const hasNoWriter: IsNever<Extract<keyof Reader[Exclude<keyof Reader, Sql>], WritingMethod>> = true;
  const onlyAsks: IsNever<Exclude<Extract<keyof Reader, `$${string}`>, Sql>> = true;
  const isNoTransaction: Reader extends Tx ? false : true = true;
  const isReadOfTransaction: Tx extends Reader ? true : false = true;
  expect([hasNoWriter, onlyAsks, isNoTransaction, isReadOfTransaction]).not.toContain(false);
});
