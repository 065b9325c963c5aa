import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { BoundaryRecord, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';

/** Members of a receipt that only the ledger can know: its place in the chain. */
type ChainMember = 'type' | 'lamport_clock' | 'prev_hash' | 'record_hash';

/** What is to be sealed: a receipt without its place in the chain, and the boundary record it speaks of. */
export type Statement = {
  ulid: string;
  receipt: Omit<ReceiptPayload, ChainMember>;
  /** A new record, sealed in the same row; or the hash of the record that this receipt is about. */
  record: Omit<BoundaryRecord, 'record_hash'> | { hash: Digest };
};

/** A statement after it got its place, hash and signature: one row of the ledger. */
export type SealedEntry = {
  ulid: string;
  payload: ReceiptPayload;
  payloadText: string;
  receiptHash: Digest;
  keyId: string;
  signature: string;
  logIndex: number;
  recordText: string | null;
  recordHash: Digest;
};

export type ChainKey = { tenant: TenantId; session: SessionId };
export type ChainHead = { lamport: number; receiptHash: Digest | null };

/** Who states, where and when: what receipts that are not decisions have in common. */
export type Speaker = { tenant: TenantId; principal: PrincipalId; session: SessionId; at: Instant };

export function storedReceiptOf(entry: SealedEntry): StoredReceipt {
  return {
    payload: entry.payload,
    signature: { alg: 'Ed25519', key_id: entry.keyId, value: entry.signature },
    receipt_hash: entry.receiptHash,
    log_index: entry.logIndex,
  };
}

/** The JSON of storedReceiptOf(entry), made from the bytes that were signed. */
export function storedReceiptJson(entry: SealedEntry): string {
  const signature = `{"alg":"Ed25519","key_id":"${entry.keyId}","value":"${entry.signature}"}`;
  return `{"payload":${entry.payloadText},"signature":${signature},"receipt_hash":"${entry.receiptHash}","log_index":${entry.logIndex}}`;
}
