import type { EvidenceKey } from '@countersign/contracts/governance-kernel';
import {
  concatBytes,
  decodeBase64Url,
  decodeHex,
  keyIdOf,
  publicKeyFromJwk,
  type CryptoProvider,
} from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

/** A key of a trust list that signs envelopes. Times are RFC 3339, as in {@link TrustedKey}. */
export type TrustedEvidenceKey = {
  key_id: string;
  alg: EvidenceKey['alg'];
  /** SubjectPublicKeyInfo, DER. */
  public_key: Uint8Array;
  valid_from: string;
  valid_until?: string;
  revoked_at?: string;
};

/** RFC 5480 and RFC 8410: the bytes of a SubjectPublicKeyInfo before the point of the key. */
const spkiPrefix: Readonly<Record<EvidenceKey['alg'], Uint8Array>> = {
  ES256: decodeHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004'),
  EdDSA: decodeHex('302a300506032b6570032100'),
};

/** The evidence key of an entry. Throws {@link VerificationError} `MALFORMED`, also for an id of another key. */
export function evidenceKeyOf(entry: EvidenceKey, provider: CryptoProvider): TrustedEvidenceKey {
  const public_key = concatBytes(spkiPrefix[entry.alg], pointOf(entry));
  const id = keyIdOf(provider, public_key);
  if (entry.kid !== id) throw malformed(`key ${entry.kid} must have the id ${id}`);
  const { valid_from, valid_until, revoked_at } = entry;
  return {
    ...{ key_id: id, alg: entry.alg, public_key, valid_from },
    ...(valid_until !== null && { valid_until }),
    ...(revoked_at !== null && { revoked_at }),
  };
}

function pointOf(entry: EvidenceKey): Uint8Array {
  if (entry.kty === 'OKP') return edwardsPoint(entry);
  return concatBytes(coordinate(entry.kid, entry.x), coordinate(entry.kid, entry.y));
}

function edwardsPoint(entry: Extract<EvidenceKey, { kty: 'OKP' }>): Uint8Array {
  try {
    return publicKeyFromJwk(entry);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : `key ${entry.kid} cannot be read`);
  }
}

function coordinate(kid: string, text: string): Uint8Array {
  try {
    const bytes = decodeBase64Url(text);
    if (bytes.length === 32) return bytes;
  } catch {
    // The error below also names texts that are not base64url.
  }
  throw malformed(`key ${kid}: a coordinate is not 32 bytes in base64url`);
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', `trust list: ${message}`);
}
