import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { generateSigningKey } from '@countersign/crypto/signing';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { asAdministrator } from './_administrator.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal } from './_seal.ts';

type Query = NonNullable<Parameters<ReturnType<TestKernel['as']>['exportReceipts']>[0]>['query'];

/** What a stranger says of an export who has the keys as they are published now. */
async function judged(test: TestKernel, query: Query): Promise<string> {
  const client = test.as('acme');
  const { body } = await client.exportReceipts({ query });
  const trust = parseKeySet((await client.listTrustKeys()).body);
  const lines = body.map((line) => JSON.stringify(line));
  const { fault, verdict } = verifyExport(lines, { trust, provider: nodeProvider });
  return fault === null ? verdict : `${fault.code}: ${fault.message}`;
}

const wholePeriod = () => ({ from: '2026-01-01T00:00:00.000Z', to: new Date().toISOString() }) as Query;

/** Takes other keys from now on; those it had count no more. */
async function replaceKeys(test: TestKernel, names: ('log' | 'receipts' | 'policies')[]): Promise<void> {
  const variables = { log: 'GOV_LOG_KEY', receipts: 'GOV_SIGNING_KEY', policies: 'GOV_POLICY_KEY' };
  const had = names.map((name) => test.kernel.context.signers[name].keyId);
  for (const name of names) test.env[variables[name]] = generateSigningKey().privateKeyPem;
  await test.restart();
  const statement = 'UPDATE kernel.trust_keys SET revoked_at = $2 WHERE key_id = $1';
  const at = new Date();
  for (const keyId of had) await asAdministrator(test, statement, [keyId, at]);
}

describe('what is exported after a key was revoked', () => {
  it('verifies under the key of the log that took the place of a revoked one', async () => {
    const test = await startTestKernel();
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

  it('verifies when both the receipts and the log have other keys, for what was sealed since', async () => {
    const test = await startTestKernel();
    await test.activate('*', starterPolicy);
    await seal(test);
    await test.kernel.context.checkpoints.create();
    await replaceKeys(test, ['log', 'receipts']);
    const session_id = newSession();
    await seal(test, { session_id });
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    await test.close();
  });

  it('verifies where a revoked key has signed a policy, by the checkpoint that had seen it before', async () => {
    const test = await startTestKernel();
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
