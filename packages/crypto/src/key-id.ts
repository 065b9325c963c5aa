import { encodeHex } from './hex.ts';
import type { CryptoProvider } from './provider.ts';

/** `key_` and the first 16 hex digits of SHA-256(public key): the same key has the same id everywhere. */
export function keyIdOf(provider: CryptoProvider, publicKey: Uint8Array): string {
  return `key_${encodeHex(provider.sha256(publicKey)).slice(0, 16)}`;
}
