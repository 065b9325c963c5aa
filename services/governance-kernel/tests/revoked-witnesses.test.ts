import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ReceiptId } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { verifyInclusion, verifyLedgerEntry } from '@countersign/verifier';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import {
  after,
  endKeys,
  headsIn,
  judged,
  replaceKeys,
  revokeKeys,
  rotateKeys,
  trustNow,
  wholePeriod,
} from './_revoked.ts';
import { newSession, seal } from './_seal.ts';

let test: TestKernel;
let skewMs = 0;
const clock = () => new Date(Date.now() + skewMs);
beforeEach(async () => {
  skewMs = 0;
  test = await startTestKernel({ unverified: 'its keys are revoked', overrides: { clock, machineClock: clock } });
  await test.activate('acme', starterPolicy);
});
afterEach(() => test.close());

const headNow = async () => (await test.kernel.context.checkpoints.create()).tree_size;

/** Verifies the ledger entry of a receipt, like the services that read the ledger. */
async function entryOf(receiptId: string) {
  const { body } = await test.system.listLedgerEntries({ params: { tenant: 'acme' }, query: { limit: 50 } });
  const entry = body.data.find(({ receipt }) => receipt.payload.receipt_id === receiptId);
  return verifyLedgerEntry(entry ?? { receipt: null }, await trustNow(test), nodeProvider);
}

/** Verifies the inclusion proof of one receipt, like `countersign-verify`. */
async function provenNow(receiptId: ReceiptId) {
  const client = test.as('acme');
  const { body: receipt } = await client.getReceipt({ params: { receipt_id: receiptId } });
  const { body: proof } = await client.getInclusionProof({ query: { receipt_id: receiptId } });
  const claim = { receipt, proof, checkpoint: proof.checkpoint.note };
  return verifyInclusion({ ...claim, trust: await trustNow(test), provider: nodeProvider });
}

describe('a receipt of a revoked key, between two log keys', () => {
  it('is proven by the last checkpoint of the log key before the revoked one', async () => {
    const session_id = newSession();
    const { receipt_id, record_id } = await seal(test, { session_id });
    const size = await headNow();
    await rotateKeys(test, ['log']);
    await seal(test);
    await headNow();
    await replaceKeys(test, ['log', 'receipts']);
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    expect(await headsIn(test, { session_id })).toContain(size);
    expect((await test.as('acme').verifyRecord({ params: { record_id } })).body.verified).toBe(true);
    expect(await entryOf(receipt_id)).toMatchObject({ payload: { receipt_id } });
    expect(await provenNow(receipt_id)).toMatchObject({ payload: { receipt_id } });
  });

  it('is proven by a log key that ended after the revocation, but not by one that had ended by then', async () => {
    const session_id = newSession();
    await seal(test, { session_id });
    const counted = await test.kernel.context.checkpoints.create();
    await seal(test);
    await headNow();
    const logKey = await rotateKeys(test, ['log']);
    const revokedAt = after(counted);
    await revokeKeys(test, await rotateKeys(test, ['receipts']), revokedAt);
    await endKeys(test, logKey, after({ created_at: revokedAt.toISOString() }));
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    expect(await headsIn(test, { session_id })).toContain(counted.tree_size);
    await endKeys(test, logKey, revokedAt);
    expect(await judged(test, { session_id })).toMatch(/^KEY_REVOKED/);
  });
});

describe('a receipt of a revoked key, while the clocks of two replicas differed', () => {
  it.each([[[]], [['log'] as const]])(
    'is proven by the largest earlier checkpoint, even of a slow clock (keys rotated in between: %p)',
    async (rotated) => {
      const session_id = newSession();
      await seal(test, { session_id });
      const ahead = await test.kernel.context.checkpoints.create();
      skewMs = -16_000;
      await rotateKeys(test, [...rotated]);
      const { receipt_id } = await seal(test, { session_id });
      const behind = await test.kernel.context.checkpoints.create();
      // Times of checkpoints never decrease with their size, so the slower kernel reuses the time of the previous one.
      expect([behind.tree_size > ahead.tree_size, behind.created_at]).toEqual([true, ahead.created_at]);
      skewMs = 0;
      await revokeKeys(test, await rotateKeys(test, ['receipts']), after(ahead));
      expect(await judged(test, { session_id })).toBe('VERIFIED');
      expect(await headsIn(test, { session_id })).toContain(behind.tree_size);
      expect(await judged(test, wholePeriod())).toBe('VERIFIED');
      expect(await entryOf(receipt_id)).toMatchObject({ payload: { receipt_id } });
      expect(await provenNow(receipt_id)).toMatchObject({ payload: { receipt_id } });
    },
  );
});

describe('the checkpoints of an export', () => {
  it('include an early checkpoint only if a revoked key has signed an exported receipt', async () => {
    const [before, since, mixed] = [newSession(), newSession(), newSession()];
    await seal(test, { session_id: before });
    await seal(test, { session_id: mixed });
    const revoked = await rotateKeys(test, ['receipts']);
    await seal(test, { session_id: since });
    await seal(test, { session_id: mixed });
    const early = await headNow();
    await revokeKeys(test, revoked);
    const heads = async (query: Parameters<typeof headsIn>[1]) => (await headsIn(test, query)).includes(early);
    expect(await heads({ session_id: before })).toBe(true);
    expect(await heads({ session_id: mixed })).toBe(true);
    expect(await heads({ session_id: mixed, from_lamport_clock: 2 })).toBe(false);
    expect(await heads({ session_id: mixed, limit: 1 })).toBe(true);
    expect(await heads({ session_id: since })).toBe(false);
    expect(await heads(wholePeriod())).toBe(true);
    const from = (await seal(test)).receipt.payload.issued_at;
    expect(await heads({ ...wholePeriod(), from })).toBe(false);
    for (const session_id of [before, since, mixed]) expect(await judged(test, { session_id })).toBe('VERIFIED');
  });

  it('do not include an early checkpoint when a revoked key signed only later receipts', async () => {
    const [seen, unseen] = [newSession(), newSession()];
    await seal(test, { session_id: seen });
    const early = await test.kernel.context.checkpoints.create();
    await seal(test);
    await headNow();
    await seal(test, { session_id: unseen });
    await revokeKeys(test, await rotateKeys(test, ['receipts']), after(early));
    expect(await headsIn(test, { session_id: seen })).toContain(early.tree_size);
    expect(await headsIn(test, { session_id: unseen })).not.toContain(early.tree_size);
  });

  it('include an early checkpoint for a revoked policy key only if the statements of that key are exported', async () => {
    const session_id = newSession();
    await seal(test, { session_id });
    const early = await headNow();
    await replaceKeys(test, ['policies']);
    await test.activate('acme', starterPolicy, 2);
    expect(await headsIn(test, { session_id })).not.toContain(early);
    expect(await headsIn(test, { session_id: 'policy' })).toContain(early);
    expect(await headsIn(test, wholePeriod())).toContain(early);
    expect(await judged(test, { session_id: 'policy' })).toBe('VERIFIED');
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    expect(await judged(test, wholePeriod())).toBe('VERIFIED');
  });
});
