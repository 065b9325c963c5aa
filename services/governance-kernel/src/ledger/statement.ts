import type { Digest, SessionId, TenantId } from '@countersign/contracts';
import type { ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';

export type { Statement } from '@countersign/receipts';

/** A statement after it got its place in the chain, hash and signature. Its place in the log is known when it is committed. */
export type SealedEntry = {
  readonly ulid: string;
  readonly payload: ReceiptPayload;
  readonly payloadText: string;
  readonly receiptHash: Digest;
  readonly keyId: string;
  readonly signature: string;
  readonly recordText: string | null;
  readonly recordHash: Digest;
};

/** Where a committed entry stands in the log. */
export type PlaceOf = (entry: SealedEntry) => number;

export type ChainKey = { readonly tenant: TenantId; readonly session: SessionId };
export type ChainHead = { readonly lamport: number; readonly receiptHash: Digest | null };

// No identifier holds a line feed, so the name is unambiguous.
export function chainName({ tenant, session }: { tenant: string; session: string }): string {
  return `${tenant}\n${session}`;
}

export function storedReceiptOf(entry: SealedEntry, logIndex: number): StoredReceipt {
  return {
    payload: entry.payload,
    signature: { alg: 'Ed25519', key_id: entry.keyId, value: entry.signature },
    receipt_hash: entry.receiptHash,
    log_index: logIndex,
  };
}

/** The JSON of storedReceiptOf(), made from the bytes that were signed, open at its end: `log_index` and the brace are missing. */
export function openReceiptJson(entry: SealedEntry): string {
  const signature = `{"alg":"Ed25519","key_id":"${entry.keyId}","value":"${entry.signature}"}`;
  return `{"payload":${entry.payloadText},"signature":${signature},"receipt_hash":"${entry.receiptHash}"`;
}
