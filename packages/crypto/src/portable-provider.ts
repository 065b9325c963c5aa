import { p256 } from '@noble/curves/nist.js';
import nacl from 'tweetnacl';
import { utf8Bytes } from './bytes.ts';
import { isAcceptableEncoding } from './ed25519.ts';
import { encodeHex } from './hex.ts';
import type { CryptoProvider } from './provider.ts';
import { verifyRs256 } from './rs256.ts';
import { sha256Portable } from './sha256.ts';
import { parseWebAuthnKey } from './webauthn-key.ts';

/**
 * Plain JavaScript for any platform: a few hundred verifications per second. It gives the same answers as all other
 * providers.
 */
export const portableProvider: CryptoProvider = {
  sha256: sha256Portable,
  sha256Hex: (data) => encodeHex(sha256Portable(typeof data === 'string' ? utf8Bytes(data) : data)),
  verifyEd25519,
  verifyWebAuthn: (publicKey, message, signature) => {
    const key = parseWebAuthnKey(publicKey);
    if (key === null) return false;
    switch (key.kty) {
      case 'EC':
        return verifyEs256(key, sha256Portable(message), signature);
      case 'OKP':
        return verifyEd25519(key.publicKey, message, signature);
      case 'RSA':
        return verifyRs256({ ...key, digest: sha256Portable(message), signature });
      default:
        return key satisfies never;
    }
  },
};

function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return isAcceptableEncoding(publicKey, signature) && nacl.sign.detached.verify(message, signature, publicKey);
}

function verifyEs256(point: { x: bigint; y: bigint }, digest: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = p256.Point.fromAffine({ x: point.x, y: point.y });
    key.assertValidity();
    // Authenticators sign in DER, and S can be high or low (Web Authentication §6.5.5). OpenSSL accepts both too.
    return p256.verify(signature, digest, key.toBytes(false), { prehash: false, lowS: false, format: 'der' });
  } catch {
    return false; // not a point of the curve, or not DER
  }
}
