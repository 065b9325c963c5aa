import { generateKeyPairSync } from 'node:crypto';

/** A new ECDSA P-256 key as PKCS#8 PEM. */
export function newEvidenceKey(): string {
  return String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }));
}
