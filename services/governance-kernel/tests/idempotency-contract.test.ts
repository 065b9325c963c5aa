import { afterAll, beforeAll, describe } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { idempotencyContract } from '@countersign/testkit/idempotency-contract';
import { openKernelDatabase, type KernelDatabase } from '../src/store/database.ts';
import { idempotencyStore } from '../src/store/idempotency-store.ts';
import { serviceDir } from './_service-dir.ts';

let database: TestDatabase;
let opened: KernelDatabase;
let agedMs = 0;
const runningMsMax = 600_000;

beforeAll(async () => {
  database = await createTestDatabase({ serviceDir, schema: 'kernel' });
  opened = openKernelDatabase(database.url);
});
afterAll(async () => {
  await opened?.close();
  await database?.drop();
});

describe('the idempotency keys of the kernel', () => {
  idempotencyContract(() => ({
    store: idempotencyStore(opened, { databaseNow: async () => new Date(Date.now() + agedMs), runningMsMax }),
    age: async (ms) => void (agedMs += ms),
    runningMsMax,
  }));
});
