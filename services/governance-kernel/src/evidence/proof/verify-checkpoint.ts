import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { encodeHex } from '@countersign/crypto';
import { VerificationError, verifyConsistency } from '@countersign/verifier';
import { check, type Check } from './check.ts';
import { verifyHead, type HeadTrust } from './verify-head.ts';

type CheckpointEvidence = {
  checkpoint: Checkpoint;
  /** The root of the tree, recomputed from the ledger. `null` when leaves are missing. */
  root: Uint8Array | null;
  /** The nearest valid predecessor, with the proof between the two. `null` when there is none. */
  previous: { checkpoint: Checkpoint; path: string[] | null } | null;
};

/** Checks of one signed head of the log against its signature, the ledger and earlier heads. */
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
 * Passes when there is no predecessor, or when its tree is empty, since every log extends an empty tree. `previous` is
 * never signed by a revoked key, since a thief may have created such a head.
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
