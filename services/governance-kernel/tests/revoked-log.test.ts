import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { formatCheckpoint, signNote } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { generateSigningKey } from '@countersign/crypto/signing';
import { verifyCheckpoint, verifyInclusion } from '@countersign/verifier';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { endKeys, judged, replaceKeys, rotateKeys, trustNow, wholePeriod } from './_revoked.ts';
import { seal } from './_seal.ts';

let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel({ unverified: 'its keys are revoked' });
  await test.activate('*', starterPolicy);
});
afterEach(() => test.close());

async function storedHeads() {
  const { rows } = await test.pool.query<{ note: string }>('SELECT * FROM checkpoints ORDER BY tree_size');
  return rows;
}

/** Verifies all proofs from the newest checkpoint with the current keys, like a third party. Seals nothing. */
async function expectProven({ receipt_id, record_id }: Awaited<ReturnType<typeof seal>>): Promise<Checkpoint[]> {
  const client = test.as('acme');
  const trust = { trust: await trustNow(test), provider: nodeProvider, origin: test.kernel.context.config.logOrigin };
  const { body: receipt } = await client.getReceipt({ params: { receipt_id } });
  const { body: proof } = await client.getInclusionProof({ query: { receipt_id } });
  const { body: head } = await client.getLatestCheckpoint();
  verifyInclusion({ receipt, proof, checkpoint: proof.checkpoint.note, ...trust });
  verifyCheckpoint(head.note, trust);
  const { body: record } = await client.verifyRecord({ params: { record_id } });
  expect(record.checks.filter(({ passed }) => !passed)).toEqual([]);
  return [proof.checkpoint, head];
}

describe('after the log key was revoked, before anything else is sealed', () => {
  it('proofs verify against the same checkpoint, which the next key signs for the response', async () => {
    const sealed = await seal(test);
    const last = await test.kernel.context.checkpoints.create();
    const before = await storedHeads();
    await replaceKeys(test, ['log']);
    for (const answered of [...(await expectProven(sealed)), await test.kernel.context.checkpoints.create()]) {
      const { note, created_at, ...same } = answered;
      expect(last).toMatchObject(same);
      expect([note === last.note, created_at > last.created_at]).toEqual([false, true]);
    }
    expect(await storedHeads()).toEqual(before);
    expect(await judged(test, wholePeriod())).toBe('VERIFIED');
  });

  it('no different checkpoint is signed for a size that has one', async () => {
    const { receipt_id } = await seal(test);
    await test.kernel.context.checkpoints.create();
    await replaceKeys(test, ['log']);
    await asAdministrator(test, `UPDATE kernel.checkpoints SET root_hash = 'sha256:${'0'.repeat(64)}'`);
    const refused = { code: 'INTERNAL' };
    await expect(test.as('acme').getInclusionProof({ query: { receipt_id } })).rejects.toMatchObject(refused);
  });
});

describe('a log that has a checkpoint', () => {
  it('keeps its name: a kernel with another log name does not start and publishes no key', async () => {
    await seal(test);
    await test.kernel.context.checkpoints.create();
    const { logOrigin } = test.kernel.context.config;
    const sentence = `The log of this database is named ${logOrigin} and cannot be renamed to another.example/log`;
    const renamed = { ...test.env, GOV_LOG_ORIGIN: 'another.example/log' };
    for (const env of [renamed, { ...renamed, GOV_LOG_KEY: generateSigningKey().privateKeyPem }])
      await expect(startKernel(kernelConfigFrom(env))).rejects.toThrow(sentence);
    expect((await test.as('acme').listTrustKeys()).body.keys).toHaveLength(3);
  });

  it('could be renamed before its first checkpoint', async () => {
    const fresh = await startTestKernel({ env: { GOV_CHECKPOINT_INTERVAL: '1h' } });
    await asAdministrator(fresh, 'DELETE FROM kernel.checkpoints');
    fresh.env['GOV_LOG_ORIGIN'] = 'another.example/log';
    await rotateKeys(fresh, ['log']);
    expect((await fresh.kernel.context.checkpoints.create()).note).toMatch(/^another\.example\/log\n/);
    await fresh.close();
  });
});

describe('a checkpoint that the public verifier rejects is not used for proofs', () => {
  it('when its key had already expired', async () => {
    const sealed = await seal(test);
    await test.kernel.context.checkpoints.create();
    await endKeys(test, await rotateKeys(test, ['log']), new Date(0));
    await expectProven(sealed);
  });

  it('when it has another log name', async () => {
    const sealed = await seal(test);
    const { tree_size: size, root_hash: root, created_at: time } = await test.kernel.context.checkpoints.create();
    const { signers, config } = test.kernel.context;
    const origin = 'another.example/log';
    const text = formatCheckpoint({ origin, size, root: Buffer.from(root.slice('sha256:'.length), 'hex'), time });
    const note = signNote(nodeProvider, text, [{ name: origin, signer: signers.log }]);
    await asAdministrator(test, 'UPDATE kernel.checkpoints SET note = $1 WHERE tree_size = $2', [note, size]);
    const [proven] = await expectProven(sealed);
    expect(proven?.note.split('\n', 1)).toEqual([config.logOrigin]);
  });

  it('when its row and its note disagree on the tree', async () => {
    const { receipt_id } = await seal(test);
    const { tree_size } = await test.kernel.context.checkpoints.create();
    await seal(test);
    await asAdministrator(test, 'UPDATE kernel.checkpoints SET tree_size = tree_size + 1');
    await seal(test);
    const { body } = await test.as('acme').getInclusionProof({ query: { receipt_id } });
    expect(body.tree_size).toBe(tree_size + 2);
  });
});
