import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import { busy, fillHistory, instantOf } from './_filled.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

/** The number of receipts in the log. The busy tenant has 70 % of them. */
const receipts = 160_000;
let test: TestKernel;

beforeAll(async () => {
  test = await startTestKernel({ twins: false });
  await test.activate('*', starterPolicy);
  await fillHistory(test, { receipts });
  await test.restart();
}, 600_000);
afterAll(() => test.close());

it('refuses to export a period with more receipts than the production limit', async () => {
  const query = { from: instantOf(0), to: instantOf(receipts) } as never; // plain strings instead of branded ones
  const refusal = await test
    .as(busy)
    .exportReceipts({ query })
    .catch((error: unknown) => error);
  expect(isAppError(refusal) && [refusal.code, refusal.message]).toEqual([
    'INVALID_REQUEST',
    'The period has more than 100000 receipts. Request shorter periods',
  ]);
}, 120_000);
