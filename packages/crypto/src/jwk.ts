import { decodeBase64Url, encodeBase64Url } from './base64.ts';
import { canonicalBytes } from './canonical-json.ts';
import { CryptoError } from './crypto-error.ts';
import { isAcceptablePublicKey } from './ed25519.ts';
import type { CryptoProvider } from './provider.ts';

/** Public Ed25519 key (RFC 8037 §2). */
export interface Ed25519Jwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
}

export function publicKeyToJwk(publicKey: Uint8Array): Ed25519Jwk {
  return { kty: 'OKP', crv: 'Ed25519', x: encodeBase64Url(publicKey) };
}

/** RFC 7638: the hash of the canonical JSON of the required members of the key. */
export function jwkThumbprint(provider: CryptoProvider, publicKey: Uint8Array): string {
  return encodeBase64Url(provider.sha256(canonicalBytes({ ...publicKeyToJwk(publicKey) })));
}

/**
 * Reads the key of an attacker-controlled JWK. The caller checks other members (kid, use, validity). Throws
 * `MALFORMED_KEY` for a value that is not an Ed25519 JWK, for a private key, and for a key that {@link
 * isAcceptablePublicKey} refuses.
 */
export function publicKeyFromJwk(jwk: unknown): Uint8Array {
  if (typeof jwk !== 'object' || jwk === null) throw malformed('not a JWK');
  const { kty, crv, x, d } = jwk as Record<string, unknown>; // each member is checked below
  // Stryker disable next-line ConditionalExpression: Other types are refused as base64url, with the same code.
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') throw malformed('not an Ed25519 JWK');
  if (d !== undefined) throw malformed('the key is private. Pass the public key');
  const publicKey = decodeX(x);
  if (!isAcceptablePublicKey(publicKey))
    throw malformed('the public key is not canonical, not on the curve, or of small order');
  return publicKey;
}

function decodeX(x: string): Uint8Array {
  try {
    return decodeBase64Url(x);
  } catch {
    throw malformed('x is not base64url');
  }
}

function malformed(message: string): CryptoError {
  return new CryptoError('MALFORMED_KEY', message);
}
