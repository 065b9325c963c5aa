import type { ExportedReceipt } from '@countersign/contracts/governance-kernel';
import type { InclusionPaths } from '@countersign/crypto';
import type { ExportCheckpoints } from './export-checkpoints.ts';
import { assertNotAfter, assertNotRevoked } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { assertIncluded } from './verify-log.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';
import { openParsedReceipt, textsOfReceipt } from './verify-receipt.ts';
import type { OpenedReceipt, ReceiptTexts } from './verify-receipt.ts';

/**
 * `checkpoint`: the checkpoint of the proof. `earliest`: the earliest checkpoint that contains the receipt. Both are
 * `null` when the line has no proof.
 */
export type OpenedLine = {
  opened: OpenedReceipt;
  checkpoint: TimedCheckpoint | null;
  earliest: TimedCheckpoint | null;
};

type LineDeps = Pick<LogTrust, 'trust' | 'provider'> & {
  /** The checkpoint in the export whose tree has this size. */
  findCheckpoint(size: number): TimedCheckpoint | undefined;
  /** The checkpoints of the header. Entries that the log gained after a checkpoint were sealed after it. */
  checkpoints: ExportCheckpoints;
  /** The canonical texts of the receipt, if they are known. */
  texts?: ReceiptTexts | undefined;
  /** The paths of earlier lines, if any. */
  paths?: InclusionPaths | undefined;
};

/**
 * Verifies signature, key and place in the log of a parsed line, which may lack the place. Throws {@link VerificationError}.
 */
export function openLine(
  line: ExportedReceipt,
  { trust, provider, findCheckpoint, checkpoints, texts, paths }: LineDeps,
): OpenedLine {
  const { receipt, proof } = line;
  const made = texts ?? textsOfReceipt(receipt);
  const opened = openParsedReceipt(receipt, { texts: made, claimedHash: null, trust, provider });
  const { payload, receipt_hash, key } = opened;
  const checkpoint = proof === undefined ? null : (findCheckpoint(proof.tree_size) ?? null);
  if (proof !== undefined) {
    if (checkpoint === null)
      throw new VerificationError('INCLUSION_UNPROVEN', `no checkpoint signs a tree of ${proof.tree_size}`);
    assertIncluded({ receipt_hash, proof, checkpoint, provider, paths });
  }
  assertNotRevoked(key, { claimed: payload.issued_at, seen: checkpoint });
  // The line chooses the checkpoint of its proof, so an earlier one of the header may also contain the receipt.
  const earliest = proof === undefined ? null : (checkpoints.findFirstWith(proof.log_index) ?? checkpoint);
  assertNotAfter(payload.issued_at, earliest);
  if (proof !== undefined) checkpoints.assertNotBefore(payload.issued_at, proof.log_index);
  return { opened, checkpoint, earliest };
}
