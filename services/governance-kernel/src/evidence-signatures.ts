import { createPublicKey, verify } from 'node:crypto';
import type { EvidenceKey } from '@countersign/contracts/governance-kernel';
import type { Instant } from '@countersign/contracts';
import type { EvidenceKeyRow } from './envelopes/check-envelope.ts';

type Signed = { bytes: Uint8Array; signature: Uint8Array; der: boolean };

/** Whether a key made this signature. False for anything malformed. */
export function verifyEvidenceSignature(publicKey: Uint8Array, { bytes, signature, der }: Signed): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
    const algorithm = key.asymmetricKeyType === 'ec' ? 'sha256' : null;
    return verify(algorithm, bytes, { key, dsaEncoding: der ? 'der' : 'ieee-p1363' }, signature);
  } catch {
    return false;
  }
}

/** The key as a JWK (RFC 7517), to be published. */
export function evidenceKeyView({ key_id: kid, public_key: key, ...row }: EvidenceKeyRow): EvidenceKey {
  const { x = '', y = '' } = createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' }).export({
    format: 'jwk',
  });
  const until = row.valid_until?.toISOString() ?? null;
  const window = { valid_from: row.valid_from.toISOString() as Instant, valid_until: until as Instant | null }; // of this form
  return row.alg === 'ES256'
    ? { kty: 'EC', crv: 'P-256', x, y, kid, use: 'sig', alg: 'ES256', ...window }
    : { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA', ...window };
}
