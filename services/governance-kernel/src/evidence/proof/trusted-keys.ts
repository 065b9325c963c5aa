import { instantOrNull, instantOf } from '@countersign/contracts';
import { encodeBase64Url, formatVkey, noteKey, type CryptoProvider, type Signer } from '@countersign/crypto';
import type { TrustedKey, TrustedKeys } from '@countersign/verifier';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';

/** Every key that ever signed here, with its validity, in the verifier's form. */
export function trustedKeysOf(rows: readonly TrustKeyRow[]): TrustedKey[] {
  return rows.map((row) => ({
    key_id: row.key_id,
    public_key: Uint8Array.from(row.public_key),
    purpose: row.purpose,
    ...(row.log_origin === null ? {} : { log_origin: row.log_origin }),
    valid_from: row.valid_from.toISOString(),
    ...(row.valid_until === null ? {} : { valid_until: row.valid_until.toISOString() }),
    ...(row.revoked_at === null ? {} : { revoked_at: row.revoked_at.toISOString() }),
  }));
}

/** The keys without their revocations, for statements whose time another check proves. */
export function regardlessOfRevocation(keys: TrustedKeys): TrustedKeys {
  return keys.map(({ revoked_at: _revoked, ...key }) => key);
}

/** The keys as a JWK set (RFC 7517, RFC 8037), for publication. */
export function jwksOf(rows: readonly TrustKeyRow[]) {
  return rows.map((row) => ({
    kty: 'OKP' as const,
    crv: 'Ed25519' as const,
    x: encodeBase64Url(Uint8Array.from(row.public_key)),
    kid: row.key_id,
    use: 'sig' as const,
    alg: 'EdDSA' as const,
    purpose: row.purpose,
    log_origin: row.log_origin,
    valid_from: instantOf(row.valid_from),
    valid_until: instantOrNull(row.valid_until),
    revoked_at: instantOrNull(row.revoked_at),
  }));
}

/** The verifier key of the log's signed notes (C2SP signed-note). */
export function logVkey(provider: CryptoProvider, origin: string, { publicKey }: Pick<Signer, 'publicKey'>): string {
  return formatVkey(noteKey(provider, origin, publicKey));
}
