import type { Digest } from '@countersign/contracts';
import type { HostChain, HostReceipt, RecorderKey } from '@countersign/contracts/governance-kernel';
import {
  canonicalize,
  decodeBase64,
  decodeBase64Url,
  digestOf,
  utf8Bytes,
  type CryptoProvider,
  type JsonValue,
} from '@countersign/crypto';

/** The bytes that a recorder hashes and signs. Its chain is in them: a receipt of one chain is none of another. */
export function hostReceiptBytes(chainId: string, receipt: HostReceipt): Uint8Array {
  const { receipt_hash: _hash, signature: _signature, ...signed } = receipt;
  return named('countersign.host-receipt.v1', { chain_id: chainId, receipt: signed });
}

/** The whole chain, signatures and declared hashes included. */
export function hostChainHash(provider: CryptoProvider, chain: HostChain): Digest {
  return hashOf(provider, named('countersign.host-chain.v1', chain));
}

/** The same chain with other keys is another import: its receipts may be verified where they were not. */
export function hostImportHash(provider: CryptoProvider, chainHash: Digest, keys: readonly RecorderKey[]): Digest {
  const ordered = keys.toSorted((one, other) => (one.key_id < other.key_id ? -1 : 1));
  return hashOf(provider, named('countersign.host-import.v1', { chain_hash: chainHash, keys: ordered }));
}

export function hashOf(provider: CryptoProvider, bytes: Uint8Array): Digest {
  return digestOf(provider, bytes) as Digest; // digestOf writes exactly this form
}

function named(name: string, value: object): Uint8Array {
  return utf8Bytes(`${name}\n${canonicalize(value as JsonValue)}`); // parsed from JSON
}

/** Null: one of the spellings that stand for no bytes. */
export function bytesIn(text: string, form: 'base64' | 'base64url'): Uint8Array | null {
  try {
    return form === 'base64' ? decodeBase64(text) : decodeBase64Url(text);
  } catch {
    return null;
  }
}
