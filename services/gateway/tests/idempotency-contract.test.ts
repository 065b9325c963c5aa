import { afterAll, beforeAll, describe } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { idempotencyContract } from '@countersign/testkit/idempotency-contract';
import { openGatewayDatabase, type GatewayDatabase } from '../src/store/database.ts';
import { idempotencyStore } from '../src/store/idempotency.ts';
import { testDatabase } from './_gateway.ts';

let database: TestDatabase;
let opened: GatewayDatabase;
let agedMs = 0;

beforeAll(async () => {
  database = await testDatabase();
  opened = openGatewayDatabase(database.url);
});
afterAll(async () => {
  await opened?.close();
  await database?.drop();
});

describe('the idempotency keys of the gateway', () => {
  idempotencyContract(() => ({
    store: idempotencyStore(opened.transaction, () => new Date(Date.now() + agedMs)),
    age: async (ms) => void (agedMs += ms),
    runningMsMax: 300_000,
  }));
});
