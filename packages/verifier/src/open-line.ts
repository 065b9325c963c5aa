import type { ExportedReceipt } from '@countersign/contracts/governance-kernel';
import { assertNotAfter, assertNotRevoked } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { assertIncluded } from './verify-log.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';
import { openReceipt } from './verify-receipt.ts';
import type { OpenedReceipt } from './verify-receipt.ts';

/** `witnessed`: the time of the checkpoint that has the receipt. */
export type OpenedLine = { opened: OpenedReceipt; witnessed: string | null };

type Parts = Pick<LogTrust, 'trust' | 'provider'> & {
  /** By the size of the tree, the one that the export has shown. */
  findCheckpoint(size: number): TimedCheckpoint | undefined;
};

/** Signature, key, and place in the log, of a line that may lack the last. Throws {@link VerificationError}. */
export function openLine({ receipt, proof }: ExportedReceipt, { trust, provider, findCheckpoint }: Parts): OpenedLine {
  const opened = openReceipt(receipt, trust, provider);
  const { payload, receipt_hash, key } = opened;
  const checkpoint = proof === undefined ? undefined : findCheckpoint(proof.tree_size);
  if (proof !== undefined) {
    if (checkpoint === undefined)
      throw new VerificationError('INCLUSION_UNPROVEN', `no checkpoint signs a tree of ${proof.tree_size}`);
    assertIncluded({ receipt_hash, proof, checkpoint, provider });
  }
  const witnessed = checkpoint?.time ?? null;
  assertNotRevoked(key, { claimed: payload.issued_at, witnessed });
  assertNotAfter(payload.issued_at, witnessed);
  return { opened, witnessed };
}
