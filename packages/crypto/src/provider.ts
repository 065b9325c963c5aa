import type { WebAuthnKey } from './webauthn-key.ts';

/**
 * The primitives whose implementation depends on the platform. All other code of this package is the same everywhere.
 */
export interface CryptoProvider {
  sha256(bytes: Uint8Array): Uint8Array;
  /** SHA-256 as 64 lower-case hex digits, of bytes or of a text as UTF-8. Platforms can compute it without a copy. */
  sha256Hex(data: Uint8Array | string): string;
  /** Raw 32-byte key, 64-byte signature. Returns false for malformed input. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /**
   * The signature of an authenticator: ES256, RS256 or EdDSA, depending on the key. Returns false for malformed input.
   */
  verifyWebAuthn(publicKey: WebAuthnKey, message: Uint8Array, signature: Uint8Array): boolean;
}
