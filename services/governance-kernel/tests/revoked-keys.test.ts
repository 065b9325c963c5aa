import { describe, expect, it } from '@jest/globals';
import { starterPolicy, startTestKernel } from './_kernel.ts';
import { judged, replaceKeys, wholePeriod } from './_revoked.ts';
import { newSession, seal } from './_seal.ts';

describe('exports after a key was revoked', () => {
  it('verify with the key that replaced a revoked log key', async () => {
    const test = await startTestKernel({ unverified: 'its keys are revoked' });
    await test.activate('*', starterPolicy);
    const [before, after] = [newSession(), newSession()];
    await seal(test, { session_id: before });
    await test.kernel.context.checkpoints.create();
    await replaceKeys(test, ['log']);
    const { record_id } = await seal(test, { session_id: after });
    expect(await judged(test, { session_id: before })).toBe('VERIFIED');
    expect(await judged(test, { session_id: after })).toBe('VERIFIED');
    expect(await judged(test, wholePeriod())).toBe('VERIFIED');
    expect((await test.as('acme').verifyRecord({ params: { record_id } })).body.verified).toBe(true);
    await test.close();
  });

  it('verify for a session that began after the receipts key and the log key were replaced', async () => {
    const test = await startTestKernel({ unverified: 'its keys are revoked' });
    await test.activate('*', starterPolicy);
    await seal(test);
    await test.kernel.context.checkpoints.create();
    await replaceKeys(test, ['log', 'receipts']);
    const session_id = newSession();
    await seal(test, { session_id });
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    await test.close();
  });

  it('verify with a policy that a revoked key signed, because an earlier checkpoint covers it', async () => {
    const test = await startTestKernel({ unverified: 'its keys are revoked' });
    await test.activate('acme', starterPolicy);
    const { body } = await test.as('acme').listReceipts({ query: { limit: 50 } });
    const stated = body.data.find(({ payload }) => payload.kind === 'policy');
    if (stated === undefined) throw new Error('The activation has no receipt');
    await test.kernel.context.checkpoints.create();
    await replaceKeys(test, ['policies']);
    await test.activate('acme', starterPolicy, 2);
    expect(await judged(test, { session_id: stated.payload.session_id })).toBe('VERIFIED');
    expect(await judged(test, wholePeriod())).toBe('VERIFIED');
    await test.close();
  });
});
