import { createRequire } from 'node:module';

/** The functions of sodium-native (libsodium) that this package uses. */
type Sodium = {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void;
  /** Memory that is not swapped, with guard pages around it. */
  sodium_malloc(size: number): Uint8Array;
};

const signatureBytes = 64;
const publicKeyBytes = 32;
const secretKeyBytes = 64;

const sodium = loadSodium();

/**
 * The library that makes signatures on this platform. Both libraries make the same bytes (RFC 8032 §5.1.6). libsodium
 * needs half the time of OpenSSL.
 */
export const signatureLibrary: 'libsodium' | 'openssl' = sodium === null ? 'openssl' : 'libsodium';

/**
 * Returns a function that signs with libsodium. `null` when the addon cannot be loaded, for example on a platform
 * without a build.
 */
export function nativeSign(seed: Uint8Array): ((message: Uint8Array) => Uint8Array) | null {
  if (sodium === null) return null;
  const secretKey = sodium.sodium_malloc(secretKeyBytes);
  sodium.crypto_sign_seed_keypair(new Uint8Array(publicKeyBytes), secretKey, seed);
  return (message) => {
    const signature = new Uint8Array(signatureBytes);
    sodium.crypto_sign_detached(signature, message, secretKey);
    return signature;
  };
}

function loadSodium(): Sodium | null {
  try {
    return createRequire(import.meta.url)('sodium-native') as Sodium; // the package has no types
  } catch {
    return null;
  }
}
