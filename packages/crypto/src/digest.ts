import type { CryptoProvider } from './provider.ts';

type Sha256Digest = `sha256:${string}`;

/** `sha256:` and 64 lower-case hex digits, the format of all hashes in the API. Text is hashed as UTF-8. */
export function digestOf(provider: CryptoProvider, data: Uint8Array | string): Sha256Digest {
  return `sha256:${provider.sha256Hex(data)}`;
}
