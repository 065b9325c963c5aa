import { expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { emptyFrontier } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { createCheckpoints } from '../src/evidence/proof/checkpoints.ts';

/**
 * Signs a checkpoint of an empty log. `counts` lists whether its key is valid at each check. `isCounted` states whether
 * the stored checkpoint is valid.
 */
function signing({ counts, isCounted }: { counts: boolean[]; isCounted: boolean }) {
  const recorded: Checkpoint[] = [];
  const checkpoints = createCheckpoints({
    ...{ provider: nodeProvider, signer: createSigner(generateSigningKey().privateKeyPem), origin: 'example.org/log' },
    ...{ receiptsMax: 1, intervalMs: 1, clock: () => new Date(), newUlid: () => '0'.repeat(26) },
    growTree: async () => emptyFrontier,
    findLatest: async () => null,
    record: async ({ size, root, noteAt, at }) => {
      recorded.push({ tree_size: size, root_hash: root, note: noteAt(at) } as Checkpoint); // the rest is not read
      return { ...recorded[0], note: 'the note of another' } as Checkpoint; // as above
    },
    isCounted: async () => isCounted,
    assertClockNear: async () => undefined,
    assertKeyCounting: async () => {
      if (counts.shift() !== true) throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The key is revoked');
    },
  });
  return { checkpoints, recorded };
}

const refused = { code: 'RECEIPT_STORE_UNAVAILABLE' };

it('a checkpoint is signed again for the response when the stored one is not valid', async () => {
  const { checkpoints } = signing({ counts: [true, true], isCounted: false });
  expect((await checkpoints.create()).note).toContain('example.org/log');
  const stored = signing({ counts: [true], isCounted: true });
  expect((await stored.checkpoints.create()).note).toBe('the note of another');
});

it('no checkpoint is stored or returned under an invalid key', async () => {
  const { checkpoints, recorded } = signing({ counts: [false], isCounted: true });
  await expect(checkpoints.create()).rejects.toMatchObject(refused);
  expect(recorded).toEqual([]);
});

it('no checkpoint is returned under a key that was revoked during signing', async () => {
  const { checkpoints, recorded } = signing({ counts: [true, false], isCounted: false });
  await expect(checkpoints.create()).rejects.toMatchObject(refused);
  expect(recorded).toHaveLength(1);
});
