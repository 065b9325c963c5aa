import { createPublicKey, verify } from 'node:crypto';
import type { EvidenceKey } from '@countersign/contracts/governance-kernel';
import { instantOrNull, instantOf } from '@countersign/contracts';
import type { EvidenceKeyRow } from './controls/evidence/evidence-envelopes.ts';

type Signed = { bytes: Uint8Array; signature: Uint8Array; der: boolean };

/** Whether a key made this signature. `false` for malformed input. */
export function verifyEvidenceSignature(publicKey: Uint8Array, { bytes, signature, der }: Signed): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
    const algorithm = key.asymmetricKeyType === 'ec' ? 'sha256' : null;
    return verify(algorithm, bytes, { key, dsaEncoding: der ? 'der' : 'ieee-p1363' }, signature);
  } catch {
    return false;
  }
}

/** The key as a JWK (RFC 7517), for publication. */
export function evidenceKeyView({ key_id: kid, public_key: key, ...row }: EvidenceKeyRow): EvidenceKey {
  const { x = '', y = '' } = createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' }).export({
    format: 'jwk',
  });
  const members = {
    ...{ kid, use: 'sig' as const, purpose: 'evidence' as const, log_origin: null },
    valid_from: instantOf(row.valid_from),
    valid_until: instantOrNull(row.valid_until),
    revoked_at: instantOrNull(row.revoked_at),
  };
  return row.alg === 'ES256'
    ? { kty: 'EC', crv: 'P-256', x, y, alg: 'ES256', ...members }
    : { kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', ...members };
}
