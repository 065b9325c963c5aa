import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { encodeHex } from '@countersign/crypto';
import { VerificationError, verifyConsistency } from '@countersign/verifier';
import { check, type Check } from './check.ts';
import { verifyHead, type HeadTrust } from './verify-head.ts';

type CheckpointEvidence = {
  checkpoint: Checkpoint;
  /** Recomputed from the ledger; null when leaves are missing. */
  root: Uint8Array | null;
  /** The nearest predecessor that counts, with the proof between the two; null where there is none. */
  previous: { checkpoint: Checkpoint; path: string[] | null } | null;
};

/** Checks of one signed head of the log: what was signed, what the ledger holds, what was signed before. */
export function verifyLogHead(evidence: CheckpointEvidence, trust: HeadTrust): Check[] {
  const { checkpoint, root, previous } = evidence;
  return [
    check('note', () => verifyHead(checkpoint, trust)),
    check('root', () => assertRoot(checkpoint, root)),
    check('consistency', () => assertConsistent(checkpoint, previous, trust)),
  ];
}

function assertRoot({ root_hash }: Checkpoint, root: Uint8Array | null): void {
  if (root === null || `sha256:${encodeHex(root)}` !== root_hash)
    throw new VerificationError('CHECKPOINT_INVALID', 'the ledger leads to another root');
}

/**
 * An empty log begins every other one; there is nothing to prove from it. Nor is there from what a revoked key has signed: the thief may have
 * made it, so what it contradicts or agrees with says nothing of this log.
 */
function assertConsistent(
  checkpoint: Checkpoint,
  previous: CheckpointEvidence['previous'],
  { trust, provider, origin }: HeadTrust,
): void {
  if (previous === null || previous.checkpoint.tree_size === 0) return;
  if (previous.path === null) throw new VerificationError('CONSISTENCY_UNPROVEN', 'the log lacks leaves');
  const claim = { from: previous.checkpoint.note, to: checkpoint.note, hashes: previous.path };
  verifyConsistency({ ...claim, trust, provider, origin });
}
