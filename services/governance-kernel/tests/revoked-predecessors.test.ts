import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { CheckpointId } from '@countersign/contracts';
import { formatCheckpoint, signNote } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { asAdministrator } from './_administrator.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { replaceKeys, rotateKeys } from './_revoked.ts';
import { seal } from './_seal.ts';

let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
});
afterEach(() => test.close());

/** Adds one receipt to the log, and signs a checkpoint. */
async function nextHead() {
  await seal(test);
  return await test.kernel.context.checkpoints.create();
}

async function verified(checkpoint_id: CheckpointId) {
  const { body } = await test.as('acme').verifyCheckpoint({ params: { checkpoint_id } });
  const failed = body.checks.filter(({ passed }) => !passed).map(({ check, code }) => `${check} ${code}`);
  return { failed, from: body.extends_checkpoint_id };
}

describe('the consistency of a checkpoint after checkpoints of a revoked key', () => {
  it('is checked from the nearest valid checkpoint, which the response names', async () => {
    const counted = await nextHead();
    await rotateKeys(test, ['log']);
    const [revoked, alsoRevoked] = [await nextHead(), await nextHead()];
    await replaceKeys(test, ['log']);
    const [after, next] = [await nextHead(), await nextHead()];
    expect(await verified(after.checkpoint_id)).toEqual({ failed: [], from: counted.checkpoint_id });
    expect(await verified(next.checkpoint_id)).toEqual({ failed: [], from: after.checkpoint_id });
    for (const { checkpoint_id } of [revoked, alsoRevoked])
      expect(await verified(checkpoint_id)).toEqual({
        failed: ['note KEY_REVOKED', 'consistency KEY_REVOKED'],
        from: counted.checkpoint_id,
      });
  });

  it('is never checked from a larger tree, even if a slow clock dated it earlier', async () => {
    const counted = await nextHead();
    await rotateKeys(test, ['log']);
    const { created_at } = await nextHead();
    await replaceKeys(test, ['log']);
    const [after, larger] = [await nextHead(), await nextHead()];
    const earlier = 'UPDATE kernel.checkpoints SET created_at = $2 WHERE checkpoint_id = $1';
    await asAdministrator(test, earlier, [larger.checkpoint_id, created_at]);
    expect(await verified(after.checkpoint_id)).toEqual({ failed: [], from: counted.checkpoint_id });
  });

  it('is not checked when no earlier checkpoint is valid', async () => {
    await nextHead();
    await replaceKeys(test, ['log']);
    expect(await verified((await nextHead()).checkpoint_id)).toEqual({ failed: [], from: null });
  });

  it('fails when the nearest valid checkpoint covers a different tree, whatever the revoked key signed since', async () => {
    const { checkpoint_id, tree_size: size, created_at: time, note: own, root_hash } = await nextHead();
    const { signers, config } = test.kernel.context;
    const text = formatCheckpoint({ origin: config.logOrigin, size, root: new Uint8Array(32), time });
    const note = signNote(nodeProvider, text, [{ name: config.logOrigin, signer: signers.log }]);
    await rotateKeys(test, ['log']);
    await nextHead();
    await replaceKeys(test, ['log']);
    const after = await nextHead();
    const replace = 'UPDATE kernel.checkpoints SET note = $2, root_hash = $3 WHERE checkpoint_id = $1';
    await asAdministrator(test, replace, [checkpoint_id, note, `sha256:${'0'.repeat(64)}`]);
    const failed = ['consistency CONSISTENCY_UNPROVEN'];
    expect(await verified(after.checkpoint_id)).toEqual({ failed, from: checkpoint_id });
    // The row is restored, because everything that was sealed is exported at the end.
    await asAdministrator(test, replace, [checkpoint_id, own, root_hash]);
  });
});
