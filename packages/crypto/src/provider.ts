import type { WebAuthnKey } from './webauthn-key.ts';

/** The primitives that differ by platform. Everything else in this package is the same code everywhere. */
export interface CryptoProvider {
  sha256(bytes: Uint8Array): Uint8Array;
  /** The same as 64 lower-case hex digits, of bytes or of the UTF-8 of a text: platforms do both without copies in between. */
  sha256Hex(data: Uint8Array | string): string;
  /** Raw 32-byte key, 64-byte signature. False for anything malformed. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** The signature of an authenticator: ES256, RS256 or EdDSA as the key says. False for anything malformed. */
  verifyWebAuthn(publicKey: WebAuthnKey, message: Uint8Array, signature: Uint8Array): boolean;
}
