import {
  appendLeaf,
  canonicalize,
  digestOf,
  leafHash,
  type CompletedNode,
  type CryptoProvider,
  type Frontier,
  type Signer,
} from '@countersign/crypto';
import type { Digest } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { assertReadable } from './assert-readable.ts';
import type { ChainHead, SealedEntry, Statement } from './statement.ts';

export type Sealer = { provider: CryptoProvider; signer: Signer };

/** Gives a statement its place, hashes it, signs it. Pure but for the key. Throws for one that nobody could read again. */
export function sealStatement(sealer: Sealer, statement: Statement, head: ChainHead, logIndex: number): SealedEntry {
  assertReadable(statement.receipt);
  const { recordText, recordHash } = sealRecord(sealer.provider, statement.record);
  const payload: ReceiptPayload = {
    ...statement.receipt,
    type: 'countersign.receipt.v1',
    record_hash: recordHash,
    lamport_clock: head.lamport + 1,
    prev_hash: head.receiptHash,
  };
  const payloadText = canonicalize(payload);
  const bytes = Buffer.from(payloadText); // UTF-8
  return {
    ulid: statement.ulid,
    payload,
    payloadText,
    receiptHash: digestOf(sealer.provider, bytes) as Digest, // digestOf writes exactly this form
    keyId: sealer.signer.keyId,
    signature: Buffer.from(sealer.signer.sign(bytes)).toString('base64url'),
    logIndex,
    recordText,
    recordHash,
  };
}

function sealRecord(provider: CryptoProvider, record: Statement['record']) {
  if ('hash' in record) return { recordText: null, recordHash: record.hash };
  const body = canonicalize(record);
  const recordHash = digestOf(provider, body) as Digest; // digestOf writes exactly this form
  return { recordText: withRecordHash(body, recordHash), recordHash };
}

/**
 * The canonical text of a record with its hash, without serialising it again. In canonical order `record_hash` stands directly
 * before `record_id`; members of the caller's own naming stand further to the front, so the last `record_id` is the record's.
 */
function withRecordHash(body: string, recordHash: Digest): string {
  const at = body.lastIndexOf('"record_id":');
  return `${body.slice(0, at)}"record_hash":"${recordHash}",${body.slice(at)}`;
}

/** Leaf data is the 32 bytes behind receipt_hash, so that a log entry stays small whatever the receipt holds. */
export function appendToLog(
  provider: CryptoProvider,
  frontier: Frontier,
  receiptHash: Digest,
): { frontier: Frontier; completed: CompletedNode[] } {
  return appendLeaf(provider, frontier, leafHash(provider, digestBytes(receiptHash)));
}

export function digestBytes(digest: string): Uint8Array {
  return Buffer.from(digest.slice('sha256:'.length), 'hex');
}
