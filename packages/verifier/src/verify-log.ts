import * as merkle from '@countersign/crypto';
import type { Checkpoint, CryptoProvider } from '@countersign/crypto';
import { receiptLeaf } from '@countersign/receipts';
import type { TrustedKeys } from './trusted-keys.ts';
import { publicKeyBytes } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { verifyReceipt } from './verify-receipt.ts';

type LogTrust = {
  trust: TrustedKeys;
  provider: CryptoProvider;
  /** Origin line of the log that the caller means; without it, any log of a trusted key counts. */
  origin?: string;
};

/** `hashes` are base64, from the leaf's sibling up. */
type InclusionEvidence = { log_index: number; tree_size: number; hashes: readonly string[] };

/**
 * Opens a checkpoint (C2SP tlog-checkpoint in a signed note). A note carries no time, so a revoked key does not count at all.
 * Throws {@link VerificationError} `CHECKPOINT_INVALID`.
 */
export function verifyCheckpoint(note: string, { trust, provider, origin }: LogTrust): Checkpoint {
  const name = note.split('\n', 1)[0] ?? '';
  const keys = trust.filter(({ revoked_at }) => revoked_at === undefined);
  const checkpoint = guarded('CHECKPOINT_INVALID', () => {
    const { text } = merkle.openNote(
      provider,
      note,
      keys.map((key) => merkle.noteKey(provider, name, publicKeyBytes(key))),
    );
    return merkle.parseCheckpoint(text);
  });
  if (origin !== undefined && checkpoint.origin !== origin) {
    throw new VerificationError('CHECKPOINT_INVALID', `the checkpoint is of the log ${checkpoint.origin}`);
  }
  return checkpoint;
}

/**
 * Returns only if the receipt verifies and is a leaf (RFC 9162 §2.1.1, entry: the 32 bytes of its hash) of the tree that the
 * checkpoint signs. Throws {@link VerificationError}: those of `verifyReceipt`, `CHECKPOINT_INVALID`, `INCLUSION_UNPROVEN`.
 */
export function verifyInclusion(
  claim: { receipt: unknown; proof: InclusionEvidence; checkpoint: string } & LogTrust,
): void {
  const { receipt, proof, checkpoint, trust, provider } = claim;
  const { receipt_hash } = verifyReceipt(receipt, trust, provider);
  assertIncluded({ receipt_hash, proof, checkpoint: verifyCheckpoint(checkpoint, claim), provider });
}

/** The same for a receipt and a checkpoint that are verified already. Throws `INCLUSION_UNPROVEN`. */
export function assertIncluded(claim: {
  receipt_hash: string;
  proof: InclusionEvidence;
  checkpoint: Checkpoint;
  provider: CryptoProvider;
}): void {
  const { receipt_hash, proof, checkpoint, provider } = claim;
  if (proof.tree_size !== checkpoint.size)
    throw new VerificationError('INCLUSION_UNPROVEN', 'proof and checkpoint are of trees of different size');
  guarded('INCLUSION_UNPROVEN', () => {
    merkle.verifyInclusion(provider, {
      index: proof.log_index,
      size: checkpoint.size,
      leafHash: receiptLeaf(provider, receipt_hash),
      proof: proof.hashes.map(merkle.decodeBase64),
      root: checkpoint.root,
    });
  });
}

/** Returns only if the log of `to` extends that of `from` (RFC 9162 §2.1.4). Throws `CHECKPOINT_INVALID`, `CONSISTENCY_UNPROVEN`. */
export function verifyConsistency(claim: { from: string; to: string; hashes: readonly string[] } & LogTrust): void {
  const from = verifyCheckpoint(claim.from, claim);
  const to = verifyCheckpoint(claim.to, claim);
  if (from.origin !== to.origin) throw new VerificationError('CONSISTENCY_UNPROVEN', 'the checkpoints are of two logs');
  guarded('CONSISTENCY_UNPROVEN', () => {
    const proof = claim.hashes.map(merkle.decodeBase64);
    merkle.verifyConsistency(claim.provider, {
      from: from.size,
      to: to.size,
      fromRoot: from.root,
      toRoot: to.root,
      proof,
    });
  });
}

function guarded<Value>(code: VerificationError['code'], verify: () => Value): Value {
  try {
    return verify();
  } catch (error) {
    throw new VerificationError(code, error instanceof Error ? error.message : 'not proven');
  }
}
