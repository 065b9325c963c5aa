import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import { busy, fillHistory, instantOf } from './_filled.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

/** Seven of ten are the busy tenant's. */
const receipts = 160_000;
let test: TestKernel;

beforeAll(async () => {
  test = await startTestKernel({ twins: false });
  await test.activate('*', starterPolicy);
  await fillHistory(test, { receipts });
  await test.restart();
}, 600_000);
afterAll(() => test.close());

it('refuses the export of a period with more receipts than a kernel of production allows', async () => {
  const query = { from: instantOf(0), to: instantOf(receipts) } as never; // instants
  const refusal = await test
    .as(busy)
    .exportReceipts({ query })
    .catch((error: unknown) => error);
  expect(isAppError(refusal) && [refusal.code, refusal.message]).toEqual([
    'INVALID_REQUEST',
    'The period has more than 100000 receipts: ask for shorter ones',
  ]);
}, 120_000);
