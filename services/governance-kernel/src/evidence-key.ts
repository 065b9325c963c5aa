import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign, type KeyObject } from 'node:crypto';
import { ConfigError } from '@countersign/service-kit';
import type { EvidenceSigner, EvidenceSigning } from './evidence-signer.ts';

/** RFC 8410 §7: everything of an Ed25519 PKCS#8 document that precedes the seed. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const derivation = 'countersign evidence key, EdDSA';

/**
 * The keys of a secret: the ECDSA P-256 key itself, and an Ed25519 key derived from it (RFC 5869) for JWS with EdDSA.
 * Throws ConfigError for any other text, and never puts key material into the message.
 */
export function createEvidenceSigner(pem: string): EvidenceSigner {
  const key = importP256(pem);
  const { d = '' } = key.export({ format: 'jwk' });
  const seed = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', derivation, 32));
  const derived = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  return {
    ES256: signingOf(key, (bytes) => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' })),
    EdDSA: signingOf(derived, (bytes) => sign(null, bytes, derived)),
  };
}

function importP256(pem: string): KeyObject {
  const key = readKey(pem);
  if (key?.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new ConfigError(['the evidence key must be an ECDSA P-256 private key, as PKCS#8 PEM']);
  return key;
}

function readKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return null;
  }
}

function signingOf(key: KeyObject, signBytes: EvidenceSigning['sign']): EvidenceSigning {
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const keyId = `key_${createHash('sha256').update(publicKey).digest('hex').slice(0, 16)}`;
  return { keyId, publicKey, sign: signBytes };
}
