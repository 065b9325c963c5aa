import { afterAll, beforeAll, describe } from '@jest/globals';
import { openDatabase, type Database } from '@countersign/database';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { idempotencyContract } from '@countersign/testkit/idempotency-contract';
import { openPrisma } from '../src/store/prisma.ts';
import { idempotencyStore } from '../src/store/idempotency-store.ts';
import { serviceDir } from './_kernel.ts';

let database: TestDatabase;
let opened: Database;
let agedMs = 0;
const runningMsMax = 600_000;

beforeAll(async () => {
  database = await createTestDatabase({ serviceDir, schema: 'kernel' });
  opened = openDatabase({ url: database.url, schema: 'kernel' });
});
afterAll(async () => {
  await opened?.close();
  await database?.drop();
});

describe('the idempotency keys of the kernel', () => {
  idempotencyContract(() => ({
    store: idempotencyStore(openPrisma(opened), { clock: () => new Date(Date.now() + agedMs), runningMsMax }),
    age: async (ms) => void (agedMs += ms),
    runningMsMax,
  }));
});
