/** The primitives that differ by platform. Everything else in this package is the same code everywhere. */
export interface CryptoProvider {
  sha256(bytes: Uint8Array): Uint8Array;
  /** Raw 32-byte key, 64-byte signature. False for anything malformed. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}
