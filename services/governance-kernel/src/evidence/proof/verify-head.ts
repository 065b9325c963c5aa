import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { encodeHex, type CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyCheckpoint, type TrustedKeys } from '@countersign/verifier';

export type HeadTrust = { trust: TrustedKeys; provider: CryptoProvider; origin: string };

/**
 * Returns only if the public verifier accepts the note, and the note has the size and root of the row. Throws like
 * `verifyCheckpoint`.
 */
export function verifyHead({ note, tree_size, root_hash }: Checkpoint, trust: HeadTrust): void {
  const { size, root } = verifyCheckpoint(note, trust);
  if (size !== tree_size || `sha256:${encodeHex(root)}` !== root_hash)
    throw new VerificationError('CHECKPOINT_INVALID', 'the note is of another tree');
}
