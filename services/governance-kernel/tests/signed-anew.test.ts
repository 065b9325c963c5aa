import { expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { emptyFrontier } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { createCheckpoints } from '../src/proof/checkpoints.ts';

/** Signs a head of a log of no leaves. Its key counts while `counts` says so, and what is stored counts where `isCounted` does. */
function signing({ counts, isCounted }: { counts: boolean[]; isCounted: boolean }) {
  const recorded: Checkpoint[] = [];
  const checkpoints = createCheckpoints({
    ...{ provider: nodeProvider, signer: createSigner(generateSigningKey().privateKeyPem), origin: 'example.org/log' },
    ...{ receiptsMax: 1, intervalMs: 1, clock: () => new Date(), newUlid: () => '0'.repeat(26) },
    growTree: async () => emptyFrontier,
    findLatest: async () => null,
    record: async ({ size, root, noteAt, at }) => {
      recorded.push({ tree_size: size, root_hash: root, note: noteAt(at) } as Checkpoint); // nothing looks at the rest
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

it('a head is signed again for an answer where the stored one is not valid, and its own key is', async () => {
  const { checkpoints } = signing({ counts: [true, true], isCounted: false });
  expect((await checkpoints.create()).note).toContain('example.org/log');
  const stored = signing({ counts: [true], isCounted: true });
  expect((await stored.checkpoints.create()).note).toBe('the note of another');
});

it('no head is stored, nor given, under a key that does not count', async () => {
  const { checkpoints, recorded } = signing({ counts: [false], isCounted: true });
  await expect(checkpoints.create()).rejects.toMatchObject(refused);
  expect(recorded).toEqual([]);
});

it('no head is given under a key that was revoked while it signed', async () => {
  const { checkpoints, recorded } = signing({ counts: [true, false], isCounted: false });
  await expect(checkpoints.create()).rejects.toMatchObject(refused);
  expect(recorded).toHaveLength(1);
});
