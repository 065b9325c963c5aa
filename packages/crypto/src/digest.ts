import { encodeHex } from './hex.ts';
import type { CryptoProvider } from './provider.ts';

export type Sha256Digest = `sha256:${string}`;

/** `sha256:` and 64 lower-case hex digits: the spelling of every hash on the wire. */
export function digestOf(provider: CryptoProvider, bytes: Uint8Array): Sha256Digest {
  return `sha256:${encodeHex(provider.sha256(bytes))}`;
}
