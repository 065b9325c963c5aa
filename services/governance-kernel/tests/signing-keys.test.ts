import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExportedReceipt } from '@countersign/contracts/governance-kernel';
import { formatVkey, noteKey, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { generateSigningKey } from '@countersign/crypto/signing';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { signedActivation } from './_policies.ts';
import { newSession, seal } from './_seal.ts';

let test: TestKernel;
const clock = { stepMs: 0 };
beforeEach(async () => {
  clock.stepMs = 0;
  test = await startTestKernel({ overrides: { clock: () => new Date(Date.now() + clock.stepMs) } });
  await test.activate('*', starterPolicy);
});
afterEach(() => test.close());

describe('the three keys of a kernel', () => {
  it('are published with their purpose, and the receipts key signs the receipts', async () => {
    const { signers, config } = test.kernel.context;
    const { body } = await test.as('acme').listTrustKeys();
    const published = Object.fromEntries(body.keys.map((key) => [key.purpose, key]));
    expect(body.keys).toHaveLength(3);
    expect(published['receipts']).toMatchObject({ kid: signers.receipts.keyId, log_origin: null });
    expect(published['policies']).toMatchObject({ kid: signers.policies.keyId, log_origin: null });
    expect(published['log']).toMatchObject({ kid: signers.log.keyId, log_origin: config.logOrigin });
    expect(body.log_vkey).toBe(formatVkey(noteKey(nodeProvider, config.logOrigin, signers.log.publicKey)));
    const reply = await seal(test);
    expect(reply.receipt.signature.key_id).toBe(signers.receipts.keyId);
  });

  it('cannot replace each other: the receipts key and the log key cannot activate a policy', async () => {
    const { context } = test.kernel;
    const activate = async (signer: Signer) => {
      const request = { tenant: 'acme', bundle: starterPolicy, epoch: 1, signer };
      return await context.policies.activate(signedActivation(test.kernel, request));
    };
    for (const signer of [context.signers.receipts, context.signers.log])
      await expect(activate(signer)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(activate(context.signers.policies)).resolves.toMatchObject({ move: 'activate' });
  });

  it.each(['GOV_POLICY_KEY', 'GOV_LOG_KEY'])(
    'must differ: a kernel does not start when %s is the receipts key',
    async (name) => {
      const env = { ...test.env, [name]: test.env['GOV_SIGNING_KEY'] ?? '' };
      await expect(startKernel(kernelConfigFrom(env))).rejects.toThrow('three different signing keys');
    },
  );

  it('keep their purpose: a kernel does not start with the log key for another origin or for receipts', async () => {
    const { GOV_LOG_KEY: logKey = '' } = test.env;
    const start = (change: object) => startKernel(kernelConfigFrom({ ...test.env, ...change }));
    const swapped = { GOV_SIGNING_KEY: logKey, GOV_LOG_KEY: generateSigningKey().privateKeyPem };
    await expect(start(swapped)).rejects.toThrow('for another purpose');
    // The log may be renamed only before its first checkpoint, and only together with a new key.
    await expect(start({ GOV_LOG_ORIGIN: 'another.example/log' })).rejects.toThrow(/another log|cannot be renamed/);
  });
});

describe('a new key', () => {
  const keysOf = async () => (await test.as('acme').listTrustKeys()).body.keys;

  it('ends only the previous key of its purpose, with a margin for clock differences', async () => {
    const before = await keysOf();
    const publishedMs = Date.now();
    test.env['GOV_SIGNING_KEY'] = generateSigningKey().privateKeyPem;
    await test.restart();
    const startedMs = Date.now();
    const now = new Map((await keysOf()).map((key) => [key.kid, key]));
    for (const { kid, purpose, ...key } of before) {
      const { valid_until: until = null } = now.get(kid) ?? {};
      if (purpose !== 'receipts') expect(now.get(kid)).toEqual({ kid, purpose, ...key });
      else {
        // The previous key ends 40 s after the restart, by the clock of the database.
        const endedMs = Date.parse(until ?? '') - 40_000;
        expect(endedMs).toBeGreaterThan(publishedMs - 1_000);
        expect(endedMs).toBeLessThan(startedMs + 1_000);
      }
    }
    const newest = now.get(test.kernel.context.signers.receipts.keyId);
    expect(newest).toMatchObject({ valid_until: null });
    // No key may be dated back by more than the allowed clock difference.
    expect(publishedMs - Date.parse(newest?.valid_from ?? '')).toBeLessThan(41_000);
  });

  it('prevents a return to the previous key once that key has ended', async () => {
    const { GOV_SIGNING_KEY: had = '' } = test.env;
    test.env['GOV_SIGNING_KEY'] = generateSigningKey().privateKeyPem;
    await test.restart();
    const later = { clock: () => new Date(Date.now() + 60_000) };
    const back = startKernel(kernelConfigFrom({ ...test.env, GOV_SIGNING_KEY: had }), later);
    await expect(back).rejects.toThrow('has ended');
  });
});

describe('a clock that steps back', () => {
  it('never creates a chain that goes back in time, in this process or in the next one', async () => {
    const session_id = newSession();
    const first = await seal(test, { session_id });
    clock.stepMs = -30_000;
    await seal(test, { session_id });
    await test.restart();
    const third = await seal(test, { session_id });
    expect(third.receipt.payload.issued_at).toBe(first.receipt.payload.issued_at);
    const { body } = await test.as('acme').exportReceipts({ query: { session_id } });
    const lines = body.map((line) => JSON.stringify(line));
    const trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
    const { fault, receipts } = verifyExport(lines, { trust, provider: nodeProvider, require: ['integrity'] });
    expect([fault, receipts]).toEqual([null, 3]);
    const line = body.at(-1) as ExportedReceipt; // the last line is a receipt
    expect(line.record?.created_at).toBe(line.receipt.payload.issued_at);
  });
});
