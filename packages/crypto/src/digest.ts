import type { CryptoProvider } from './provider.ts';

type Sha256Digest = `sha256:${string}`;

/** `sha256:` and 64 lower-case hex digits: the spelling of every hash on the wire. A text is hashed as its UTF-8 bytes. */
export function digestOf(provider: CryptoProvider, data: Uint8Array | string): Sha256Digest {
  return `sha256:${provider.sha256Hex(data)}`;
}
