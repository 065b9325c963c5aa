import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createLogger } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { clientOf, starterPolicy, startTestKernel, type KernelClient, type TestKernel } from './_kernel.ts';
import { judged, wholePeriod } from './_revoked.ts';
import { newSession, seal } from './_seal.ts';

let test: TestKernel;
const lines: string[] = [];
const stream = new Writable({
  write: (line: Buffer, _encoding, done) => {
    lines.push(line.toString());
    done();
  },
});

beforeAll(async () => {
  // No checkpoint is written unless a test requests it.
  const log = createLogger({ service: 'test', layout: 'json', stream });
  test = await startTestKernel({ env: { GOV_CHECKPOINT_INTERVAL: '1h' }, overrides: { log } });
  await test.activate('*', starterPolicy);
  await test.kernel.context.checkpoints.create(); // the first is due at once
});
afterAll(() => test.close());

let published: { key_id: string; valid_from: Date }[];
beforeEach(async () => {
  published = (await test.pool.query('SELECT key_id, valid_from FROM trust_keys')).rows as typeof published; // the selected columns
  lines.length = 0;
});
afterEach(mend);

const keyIdOf = (purpose: KeyPurpose) => test.kernel.context.signers[purpose].keyId;

async function change(keyId: string, set: string): Promise<void> {
  await asAdministrator(test, `UPDATE trust_keys SET ${set} WHERE key_id = $1`, [keyId]);
}

/** Restores all keys. */
async function mend(): Promise<void> {
  for (const { key_id, valid_from } of published)
    await change(key_id, `revoked_at = NULL, valid_until = NULL, valid_from = '${valid_from.toISOString()}'`);
}

/** The faults of a key, with the error text of each. */
const faults: [string, string][] = [
  ['revoked_at = now()', 'is revoked'],
  [`revoked_at = now() + interval '1 day'`, 'is revoked'],
  ['valid_until = now()', 'has ended'],
];
const purposes: [KeyPurpose, string][] = [
  ['receipts', 'GOV_SIGNING_KEY'],
  ['policies', 'GOV_POLICY_KEY'],
  ['log', 'GOV_LOG_KEY'],
];

async function readiness({ healthUrl }: StartedKernel = test.kernel) {
  const response = await fetch(`${healthUrl}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, string> }; // an answer of the kernel
  return { status: response.status, signer: checks['signer'], clock: checks['clock'], database: checks['database'] };
}
const isReady = { status: 200, signer: 'up', clock: 'up', database: 'up' };

/** The row counts of the tables that a call or a checkpoint writes. */
async function written() {
  const count = (table: string) => `(SELECT count(*)::int FROM ${table}) AS ${table}`;
  const tables = ['ledger', 'outbox', 'approvals', 'session_heads', 'checkpoints', 'policy_heads'];
  return (await test.pool.query(`SELECT ${tables.map(count).join(', ')}`)).rows[0] as Record<string, number>;
}

/** Expects the error RECEIPT_STORE_UNAVAILABLE with a message that names the key, and no new rows. */
async function expectRefused(work: () => Promise<unknown>, purpose: KeyPurpose, what: string): Promise<void> {
  const before = await written();
  const error = await work().catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error('it was not refused', { cause: error });
  expect([error.code, error.status]).toEqual(['RECEIPT_STORE_UNAVAILABLE', 503]);
  const key = `The key ${keyIdOf(purpose)} of this kernel for ${purpose}`;
  expect(error.message).toBe(`${key} ${what}, so nothing is signed, and nothing was executed`);
  expect(await written()).toEqual(before);
}

const reportOf = () =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ event }) => /^key\./.test(String(event)));

describe('a kernel that seals receipts', () => {
  verifies('kn.chain', 'seals no decision and no export while its key has a fault', async () => {
    const session_id = newSession();
    await seal(test, { session_id });
    for (const [set, what] of [...faults, [`valid_from = now() + interval '1 hour'`, 'is not valid yet']] as const) {
      await change(keyIdOf('receipts'), set);
      await expectRefused(() => seal(test, { session_id }), 'receipts', what);
      // An escalation emits an event, so it is decided under locks.
      await expectRefused(() => seal(test, { session_id, tool: 'pay.send' }), 'receipts', what);
      await expectRefused(() => judged(test, { session_id }), 'receipts', what);
      await expectRefused(() => judged(test, wholePeriod()), 'receipts', what);
      await mend();
    }
    expect((await seal(test, { session_id })).verdict).toBe('ALLOW');
    expect(await judged(test, { session_id })).toBe('VERIFIED');
  });

  it('seals nothing with an unpublished key', async () => {
    const { keyId } = test.kernel.context.signers.receipts;
    await asAdministrator(test, `UPDATE trust_keys SET key_id = 'hidden' WHERE key_id = $1`, [keyId]);
    try {
      await expectRefused(() => seal(test), 'receipts', 'is not published');
      expect(await readiness()).toEqual({ ...isReady, status: 503, signer: 'down' });
    } finally {
      await asAdministrator(test, `UPDATE trust_keys SET key_id = $1 WHERE key_id = 'hidden'`, [keyId]);
    }
  });

  it('still seals with a key whose end is in the future', async () => {
    await change(keyIdOf('receipts'), `valid_until = now() + interval '1 hour'`);
    expect((await seal(test)).verdict).toBe('ALLOW');
    expect(await readiness()).toEqual(isReady);
  });

  it('logs a fault of its key once, however many calls fail, and logs the end of the fault once', async () => {
    await change(keyIdOf('receipts'), 'revoked_at = now()');
    const calls = Array.from({ length: 20 }, () => seal(test));
    expect(new Set((await Promise.allSettled(calls)).map(({ status }) => status))).toEqual(new Set(['rejected']));
    const refused = { event: 'key.refused', purpose: 'receipts', key_id: keyIdOf('receipts'), fault: 'revoked' };
    expect(reportOf()).toMatchObject([refused]);
    await change(keyIdOf('receipts'), 'revoked_at = NULL');
    for (let nth = 0; nth < 3; nth += 1) await seal(test);
    expect(reportOf()).toMatchObject([refused, { event: 'key.counts_again', purpose: 'receipts' }]);
  });
});

describe('a kernel whose log key is no longer valid', () => {
  it.each(faults)('signs no checkpoint and returns none: %s', async (set, what) => {
    const session_id = newSession();
    const { receipt_id } = await seal(test, { session_id });
    const { checkpoints } = test.kernel.context;
    await checkpoints.create();
    await change(keyIdOf('log'), set.replace('now()', `now() - interval '1 day'`));
    const client: KernelClient = test.as('acme');
    const requests = [
      () => checkpoints.create(),
      () => client.createCheckpoint(),
      () => client.getLatestCheckpoint(),
      () => client.getInclusionProof({ query: { receipt_id } }),
    ];
    for (const ask of requests) await expectRefused(ask, 'log', what);
    await seal(test, { session_id });
    await expectRefused(() => checkpoints.create(), 'log', what);
    await expect(judged(test, { session_id })).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
    await expect(judged(test, wholePeriod())).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
  });
});

describe('a kernel whose policy key is no longer valid', () => {
  it.each(faults)('activates no bundle: %s', async (set, what) => {
    await change(keyIdOf('policies'), set);
    const before = await written();
    await expect(test.activate('acme', starterPolicy, 2)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      reasonCode: 'POLICY_SIGNATURE_INVALID',
      message: `The activation is signed by the policy key ${keyIdOf('policies')}, which ${what}`,
    });
    expect(await written()).toEqual(before);
    expect(await seal(test)).toMatchObject({ verdict: 'ALLOW', policy_epoch: 1 });
  });
});

describe.each(purposes)('when the key for %s is no longer valid', (purpose) => {
  it.each(faults)('a kernel is not ready, and no kernel starts with the key: %s', async (set, what) => {
    expect(await readiness()).toEqual(isReady);
    await change(keyIdOf(purpose), set);
    expect(await readiness()).toEqual({ ...isReady, status: 503, signer: 'down' });
    const env = { ...test.env, GOV_SIGNING_KEY: test.env['GOV_SIGNING_KEY'] ?? '' };
    const sentence = `The key ${keyIdOf(purpose)} for ${purpose} ${what}: this kernel needs another key`;
    await expect(startKernel(kernelConfigFrom(env))).rejects.toThrow(sentence);
    const others = purposes.filter(([of]) => of !== purpose).map(([, name]) => name);
    // All other keys of this kernel are new ones. The refused start must publish none of them.
    for (const name of others) env[name as keyof typeof env] = generateSigningKey().privateKeyPem;
    await expect(startKernel(kernelConfigFrom(env))).rejects.toThrow(sentence);
    expect((await test.as('acme').listTrustKeys()).body.keys).toHaveLength(published.length);
  });
});

describe('a replica that still uses a revoked key', () => {
  verifies('kn.chain', 'allows nothing that cannot be proven, while the other replicas continue', async () => {
    const env = { ...test.env, GOV_SIGNING_KEY: generateSigningKey().privateKeyPem };
    const second = await startKernel(kernelConfigFrom(env));
    try {
      const session_id = newSession();
      await seal(test, { session_id });
      await test.kernel.context.checkpoints.create();
      await change(keyIdOf('receipts'), 'revoked_at = now()');
      await expectRefused(() => seal(test, { session_id }), 'receipts', 'is revoked');
      const call = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id } as never; // the rest has defaults
      expect((await clientOf(second, 'acme').evaluate({ body: call })).body.verdict).toBe('ALLOW');
      expect(await readiness(second)).toEqual(isReady);
      expect(await readiness()).toMatchObject({ status: 503, signer: 'down' });
    } finally {
      await second.stop();
    }
  });
});
