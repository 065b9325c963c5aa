/** One signing key in use. The private key cannot be read from it. */
export interface Signer {
  /** `key_` and the first 16 hex digits of SHA-256(public key). */
  readonly keyId: string;
  readonly publicKey: Uint8Array;
  /** Ed25519 (RFC 8032, no pre-hash) over exactly these bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}
