import type { Signature } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, Signer } from '@countersign/crypto';
import { payloadOf, payloadText, receiptHash, sealRecord } from '@countersign/receipts';
import type { ChainHead, SealedEntry, Statement } from './statement.ts';

export type Sealer = { provider: CryptoProvider; signer: Signer };

/**
 * Gives a statement its place, hashes it and signs it. Pure except for the key. Throws for a statement that cannot be
 * parsed again.
 */
export function sealStatement(
  { provider, signer }: Sealer,
  { ulid, receipt, record }: Statement,
  head: ChainHead,
): SealedEntry {
  const sealed = 'hash' in record ? { text: null, hash: record.hash } : sealRecord(provider, record);
  const place = { lamportClock: head.lamport + 1, prevHash: head.receiptHash };
  const payload = payloadOf(receipt, sealed.hash, place);
  const text = payloadText(payload);
  const value = Buffer.from(signer.sign(Buffer.from(text))).toString('base64url');
  const signature: Signature = { alg: 'Ed25519', key_id: signer.keyId, value };
  return {
    ulid,
    payload,
    payloadText: text,
    receiptHash: receiptHash(provider, { payload: text, signature }),
    signature,
    recordText: sealed.text,
    recordHash: sealed.hash,
  };
}
