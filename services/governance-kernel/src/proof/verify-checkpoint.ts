import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { encodeHex, type CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyCheckpoint, verifyConsistency, type TrustedKeys } from '@countersign/verifier';
import { check, type Check } from './check.ts';

type CheckpointEvidence = {
  checkpoint: Checkpoint;
  /** Recomputed from the ledger; null when leaves are missing. */
  root: Uint8Array | null;
  /** The predecessor with the proof between the two; null for the first checkpoint. */
  previous: { checkpoint: Checkpoint; path: string[] | null } | null;
};

type LogTrust = { trust: TrustedKeys; provider: CryptoProvider; origin: string };

/** Checks of one signed head of the log: what was signed, what the ledger holds, what was signed before. */
export function verifyLogHead(evidence: CheckpointEvidence, trust: LogTrust): Check[] {
  const { checkpoint, root, previous } = evidence;
  return [
    check('note', () => assertNote(checkpoint, trust)),
    check('root', () => assertRoot(checkpoint, root)),
    check('consistency', () => assertConsistent(checkpoint, previous, trust)),
  ];
}

function assertNote({ note, tree_size, root_hash }: Checkpoint, trust: LogTrust): void {
  const { size, root } = verifyCheckpoint(note, trust);
  if (size !== tree_size || `sha256:${encodeHex(root)}` !== root_hash)
    throw new VerificationError('CHECKPOINT_INVALID', 'the note is of another tree');
}

function assertRoot({ root_hash }: Checkpoint, root: Uint8Array | null): void {
  if (root === null || `sha256:${encodeHex(root)}` !== root_hash)
    throw new VerificationError('CHECKPOINT_INVALID', 'the ledger leads to another root');
}

/** An empty log begins every other one; there is nothing to prove from it. */
function assertConsistent(
  checkpoint: Checkpoint,
  previous: CheckpointEvidence['previous'],
  { trust, provider, origin }: LogTrust,
): void {
  if (previous === null || previous.checkpoint.tree_size === 0) return;
  if (previous.path === null) throw new VerificationError('CONSISTENCY_UNPROVEN', 'the log lacks leaves');
  const claim = { from: previous.checkpoint.note, to: checkpoint.note, hashes: previous.path };
  verifyConsistency({ ...claim, trust, provider, origin });
}
