import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { verifyLedgerEntry } from '@countersign/verifier';
import { asAdministrator } from './_administrator.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { headsIn, judged, replaceKeys, revokeKeys, rotateKeys, trustNow, wholePeriod } from './_revoked.ts';
import { newSession, seal } from './_seal.ts';

let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel();
  await test.activate('acme', starterPolicy);
});
afterEach(() => test.close());

const headNow = async () => (await test.kernel.context.checkpoints.create()).tree_size;

/** The newest entry of a tenant that other services read, as they verify it. */
async function entryOf(receiptId: string) {
  const { body } = await test.system.listLedgerEntries({ params: { tenant: 'acme' }, query: { limit: 50 } });
  const entry = body.data.find(({ receipt }) => receipt.payload.receipt_id === receiptId);
  return verifyLedgerEntry(entry ?? { receipt: null }, await trustNow(test), nodeProvider);
}

describe('what a revoked key has signed between two keys of the log', () => {
  it('is proven by the last head of the key before the revoked one, whenever that one began', async () => {
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
  });

  it('is proven by no head of a key that had ended by then', async () => {
    const session_id = newSession();
    await seal(test, { session_id });
    await headNow();
    const [logKey] = await rotateKeys(test, ['log']);
    await replaceKeys(test, ['receipts']);
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    const ended = 'UPDATE kernel.trust_keys SET valid_until = valid_from WHERE key_id = $1';
    await asAdministrator(test, ended, [logKey]);
    expect(await judged(test, { session_id })).toMatch(/^KEY_REVOKED/);
  });
});

describe('the heads of an export', () => {
  it('are early where a revoked key has signed what is given out, and nowhere else', async () => {
    const [before, after, mixed] = [newSession(), newSession(), newSession()];
    await seal(test, { session_id: before });
    await seal(test, { session_id: mixed });
    const revoked = await rotateKeys(test, ['receipts']);
    await seal(test, { session_id: after });
    await seal(test, { session_id: mixed });
    const early = await headNow();
    await revokeKeys(test, revoked);
    const heads = async (query: Parameters<typeof headsIn>[1]) => (await headsIn(test, query)).includes(early);
    expect(await heads({ session_id: before })).toBe(true);
    expect(await heads({ session_id: mixed })).toBe(true);
    expect(await heads({ session_id: mixed, from_lamport_clock: 2 })).toBe(false);
    expect(await heads({ session_id: mixed, limit: 1 })).toBe(true);
    expect(await heads({ session_id: after })).toBe(false);
    expect(await heads(wholePeriod())).toBe(true);
    const since = (await seal(test)).receipt.payload.issued_at;
    expect(await heads({ ...wholePeriod(), from: since })).toBe(false); // of the same form
    for (const session_id of [before, after, mixed]) expect(await judged(test, { session_id })).toBe('VERIFIED');
  });

  it('are early of a policy key only where its statements are given out', async () => {
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
