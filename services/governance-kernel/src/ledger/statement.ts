import type { Digest, Instant, SessionId, TenantId } from '@countersign/contracts';
import type { ReceiptPayload, Signature, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { signatureText, type Statement } from '@countersign/receipts';

export type { Statement };

/** A statement after it got its place in the chain, hash and signature. Its place in the log is known when it is committed. */
export type SealedEntry = {
  readonly ulid: string;
  readonly payload: ReceiptPayload;
  readonly payloadText: string;
  readonly receiptHash: Digest;
  readonly signature: Signature;
  readonly recordText: string | null;
  readonly recordHash: Digest;
};

/** Where a committed entry stands in the log. */
export type PlaceOf = (entry: SealedEntry) => number;

export type ChainKey = { readonly tenant: TenantId; readonly session: SessionId };
export type ChainHead = {
  readonly lamport: number;
  readonly receiptHash: Digest | null;
  readonly issuedAt: Instant | null;
};

/**
 * A clock may step back, and two kernels' clocks differ; a chain does not go back in time, or no verifier would take it. A statement
 * that would is dated as its predecessor.
 */
export function notBefore(statement: Statement, { issuedAt }: Pick<ChainHead, 'issuedAt'>): Statement {
  const { receipt, record } = statement;
  if (issuedAt === null || receipt.issued_at >= issuedAt) return statement; // instants have one length: texts are in their order
  return {
    ...statement,
    receipt: { ...receipt, issued_at: issuedAt },
    record: 'hash' in record ? record : { ...record, created_at: issuedAt },
  };
}

/**
 * The instant that the next statement of a chain bears, where the clock shows `nowMs`. Ends are compared with this
 * instant. With a clock behind that of the predecessor, an approval would be used after its end, as a verifier reads it.
 */
export function issuedMs({ issuedAt }: Pick<ChainHead, 'issuedAt'>, nowMs: number): number {
  return issuedAt === null ? nowMs : Math.max(nowMs, Date.parse(issuedAt));
}

// No identifier holds a line feed, so the name is unambiguous.
export function chainName({ tenant, session }: { tenant: string; session: string }): string {
  return `${tenant}\n${session}`;
}

export function storedReceiptOf(entry: SealedEntry, logIndex: number): StoredReceipt {
  return {
    payload: entry.payload,
    signature: entry.signature,
    receipt_hash: entry.receiptHash,
    log_index: logIndex,
  };
}

/** The JSON of storedReceiptOf(), made from the bytes that were signed, open at its end: `log_index` and the brace are missing. */
export function openReceiptJson(entry: SealedEntry): string {
  return `{"payload":${entry.payloadText},"signature":${signatureText(entry.signature)},"receipt_hash":"${entry.receiptHash}"`;
}
