import { sha256Of, type Digest } from '@countersign/contracts';
import type { HostChain, HostReceipt, RecorderKey } from '@countersign/contracts/governance-kernel';
import {
  canonicalize,
  decodeBase64,
  decodeBase64Url,
  utf8Bytes,
  type CryptoProvider,
  type JsonValue,
} from '@countersign/crypto';

/**
 * The bytes that a recorder hashes and signs. They include the id of its chain, so a receipt belongs to one chain
 * only.
 */
export function hostReceiptBytes(chainId: string, receipt: HostReceipt): Uint8Array {
  const { receipt_hash: _hash, signature: _signature, ...signed } = receipt;
  return named('countersign.host-receipt.v1', { chain_id: chainId, receipt: signed });
}

/** The hash of the whole chain, including signatures and declared hashes. */
export function hostChainHash(provider: CryptoProvider, chain: HostChain): Digest {
  return hashOf(provider, named('countersign.host-chain.v1', chain));
}

/** The same chain with different keys is a different import, since different receipts may verify. */
export function hostImportHash(provider: CryptoProvider, chainHash: Digest, keys: readonly RecorderKey[]): Digest {
  const ordered = keys.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1));
  return hashOf(provider, named('countersign.host-import.v1', { chain_hash: chainHash, keys: ordered }));
}

export function hashOf(provider: CryptoProvider, bytes: Uint8Array): Digest {
  return sha256Of(provider, bytes);
}

function named(name: string, value: object): Uint8Array {
  return utf8Bytes(`${name}\n${canonicalize(value as JsonValue)}`); // parsed from JSON
}

/** `null` for a spelling that is not canonical. */
export function bytesIn(text: string, form: 'base64' | 'base64url'): Uint8Array | null {
  try {
    return form === 'base64' ? decodeBase64(text) : decodeBase64Url(text);
  } catch {
    return null;
  }
}
