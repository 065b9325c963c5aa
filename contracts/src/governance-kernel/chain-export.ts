import { z } from 'zod';
import { ReceiptId } from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';
import { SignedReceipt } from './receipt.ts';

/** Where one receipt stands in the log, with the path (RFC 9162 §2.1.3) from its leaf to the root of the checkpoint. */
export const ExportedProof = z.strictObject({
  receipt_id: ReceiptId,
  log_index: z.int().min(0),
  tree_size: z.int().min(1),
  /** Base64, 32 bytes each, from the leaf's sibling up. */
  hashes: z.array(z.string().regex(/^[A-Za-z0-9+/]{43}=$/)).max(63),
});
export type ExportedProof = z.infer<typeof ExportedProof>;

/** What `countersign-verify` reads: receipts in the order of their chains, and what belongs to them. */
export const ChainExport = z.strictObject({
  format: z.literal('countersign/chain-export.v1'),
  receipts: z.array(SignedReceipt),
  records: z.array(BoundaryRecord).default([]),
  /** A C2SP signed note over the tree that the proofs lead to. */
  checkpoint: z.strictObject({ note: z.string().min(1).max(65_536) }).optional(),
  proofs: z.array(ExportedProof).default([]),
});
export type ChainExport = z.infer<typeof ChainExport>;
