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

/** Holds, as a stranger with the keys of now, what rests on the newest head and seals nothing. */
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

describe('while nothing was sealed since the key of the log was revoked', () => {
  it('all that rests on its last head verifies under the same head, which its next key signs for the answer', async () => {
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

  it('no other head is signed for a size that has one', async () => {
    const { receipt_id } = await seal(test);
    await test.kernel.context.checkpoints.create();
    await replaceKeys(test, ['log']);
    await asAdministrator(test, `UPDATE kernel.checkpoints SET root_hash = 'sha256:${'0'.repeat(64)}'`);
    const refused = { code: 'INTERNAL' };
    await expect(test.as('acme').getInclusionProof({ query: { receipt_id } })).rejects.toMatchObject(refused);
  });
});

describe('a log that has a head', () => {
  it('keeps its name: no start under another one, with the same key or a new one, and nothing is published', async () => {
    await seal(test);
    await test.kernel.context.checkpoints.create();
    const { logOrigin } = test.kernel.context.config;
    const sentence = `The log of this database is named ${logOrigin}, and its name stays: this kernel names it another.example/log`;
    const renamed = { ...test.env, GOV_LOG_ORIGIN: 'another.example/log' };
    for (const env of [renamed, { ...renamed, GOV_LOG_KEY: generateSigningKey().privateKeyPem }])
      await expect(startKernel(kernelConfigFrom(env))).rejects.toThrow(sentence);
    expect((await test.as('acme').listTrustKeys()).body.keys).toHaveLength(3);
  });

  it('is one whose name may still be chosen before', async () => {
    const fresh = await startTestKernel({ env: { GOV_CHECKPOINT_INTERVAL: '1h' } });
    await asAdministrator(fresh, 'DELETE FROM kernel.checkpoints');
    fresh.env['GOV_LOG_ORIGIN'] = 'another.example/log';
    await rotateKeys(fresh, ['log']);
    expect((await fresh.kernel.context.checkpoints.create()).note).toMatch(/^another\.example\/log\n/);
    await fresh.close();
  });
});

describe('a head that the public verifier does not take is none to rest on', () => {
  it('when its key had ended before', async () => {
    const sealed = await seal(test);
    await test.kernel.context.checkpoints.create();
    await endKeys(test, await rotateKeys(test, ['log']), new Date(0));
    await expectProven(sealed);
  });

  it('when it is of a log of another name', async () => {
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

  it('when its row says another tree than its note', async () => {
    const { receipt_id } = await seal(test);
    const { tree_size } = await test.kernel.context.checkpoints.create();
    await seal(test);
    await asAdministrator(test, 'UPDATE kernel.checkpoints SET tree_size = tree_size + 1');
    await seal(test);
    const { body } = await test.as('acme').getInclusionProof({ query: { receipt_id } });
    expect(body.tree_size).toBe(tree_size + 2);
  });
});
