import type { CryptoProvider, Signer } from '@countersign/crypto';
import { payloadOf, payloadText, receiptHash, sealRecord } from '@countersign/receipts';
import type { ChainHead, SealedEntry, Statement } from './statement.ts';

export type Sealer = { provider: CryptoProvider; signer: Signer };

/** Gives a statement its place, hashes it, signs it. Pure but for the key. Throws for one that nobody could read again. */
export function sealStatement(
  { provider, signer }: Sealer,
  { ulid, receipt, record }: Statement,
  head: ChainHead,
): SealedEntry {
  const sealed = 'hash' in record ? { text: null, hash: record.hash } : sealRecord(provider, record);
  const place = { lamportClock: head.lamport + 1, prevHash: head.receiptHash };
  const payload = payloadOf(receipt, sealed.hash, place);
  const text = payloadText(payload);
  const bytes = Buffer.from(text); // UTF-8: hashed and signed as it is
  return {
    ulid,
    payload,
    payloadText: text,
    receiptHash: receiptHash(provider, bytes),
    keyId: signer.keyId,
    signature: Buffer.from(signer.sign(bytes)).toString('base64url'),
    recordText: sealed.text,
    recordHash: sealed.hash,
  };
}
