import type { Digest } from '@countersign/contracts';
import type { BoundaryRecord, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';

/** The columns of a ledger row that make a receipt. The pool gives log_index as text, Prisma as bigint. */
export type ReceiptColumns = {
  log_index: bigint | string;
  payload: string;
  key_id: string;
  signature: string;
  receipt_hash: string;
};

export const receiptColumns = {
  log_index: true,
  payload: true,
  key_id: true,
  signature: true,
  receipt_hash: true,
} as const;

export function receiptOf(row: ReceiptColumns): StoredReceipt {
  return {
    payload: JSON.parse(row.payload) as ReceiptPayload, // sealed by this kernel
    signature: { alg: 'Ed25519', key_id: row.key_id, value: row.signature },
    receipt_hash: row.receipt_hash as Digest, // as above
    log_index: Number(row.log_index),
  };
}

export function recordOf(text: string): BoundaryRecord {
  return JSON.parse(text) as BoundaryRecord; // sealed by this kernel
}
