import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import {
  canonicalBytes,
  decodeBase64,
  formatTlogProof,
  parseCheckpoint,
  splitNote,
  type CryptoProvider,
} from '@countersign/crypto';
import { assertIncluded } from './verify-log.ts';

/** A place in the log and its proof. `hashes` are base64, from the leaf's sibling up. */
type Inclusion = { log_index: number; tree_size: number; hashes: readonly string[]; checkpoint: string };

/**
 * The C2SP tlog-proof of a receipt. Its extra data is the receipt, because the log contains only the hash of the
 * receipt. Throws {@link VerificationError} `INCLUSION_UNPROVEN` for a proof that does not lead to the root.
 */
export function receiptTlogProof(
  { payload, signature, receipt_hash }: StoredReceipt,
  { checkpoint: note, ...proof }: Inclusion,
  provider: CryptoProvider,
): string {
  const checkpoint = parseCheckpoint(splitNote(note).text);
  assertIncluded({ receipt_hash, proof, checkpoint, provider });
  return formatTlogProof({
    ...{ index: proof.log_index, proof: proof.hashes.map(decodeBase64), checkpoint: note },
    extra: canonicalBytes({ payload, signature }),
  });
}
