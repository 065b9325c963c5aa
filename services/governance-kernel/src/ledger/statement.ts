import type { Digest, Instant, SessionId, TenantId } from '@countersign/contracts';
import type { ReceiptPayload, Signature, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { signatureText, type Statement } from '@countersign/receipts';

export type { Statement };

/**
 * A statement with its place in the chain, its hash and its signature. Its place in the log is known after the commit.
 */
export type SealedEntry = {
  readonly ulid: string;
  readonly payload: ReceiptPayload;
  readonly payloadText: string;
  readonly receiptHash: Digest;
  readonly signature: Signature;
  readonly recordText: string | null;
  readonly recordHash: Digest;
};

/** Returns the place of a committed entry in the log. */
export type PlaceOf = (entry: SealedEntry) => number;

export type ChainKey = { readonly tenant: TenantId; readonly session: SessionId };
export type ChainHead = {
  readonly lamport: number;
  readonly receiptHash: Digest | null;
  readonly issuedAt: Instant | null;
};

/**
 * A clock may step back, and the clocks of two kernels differ, but verifiers accept no chain that goes back in time. A
 * statement that would go back gets the time of its predecessor.
 */
export function notBefore(statement: Statement, { issuedAt }: Pick<ChainHead, 'issuedAt'>): Statement {
  const { receipt, record } = statement;
  // instants have one length, so texts compare like times
  if (issuedAt === null || receipt.issued_at >= issuedAt) return statement;
  return {
    ...statement,
    receipt: { ...receipt, issued_at: issuedAt },
    record: 'hash' in record ? record : { ...record, created_at: issuedAt },
  };
}

/**
 * The instant of the next statement of a chain, at the clock time `nowMs`. Expiry is compared with this instant. With
 * the time of a clock that is behind, a call could use an approval although its receipt is dated after the approval's
 * expiry.
 */
export function issuedMs({ issuedAt }: Pick<ChainHead, 'issuedAt'>, nowMs: number): number {
  return issuedAt === null ? nowMs : Math.max(nowMs, Date.parse(issuedAt));
}

// No identifier contains a line feed, so the name is unambiguous.
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

/**
 * The JSON of storedReceiptOf(), built from the signed bytes. Its end is open: `log_index` and the brace are missing.
 */
export function openReceiptJson(entry: SealedEntry): string {
  return `{"payload":${entry.payloadText},"signature":${signatureText(entry.signature)},"receipt_hash":"${entry.receiptHash}"`;
}
