import { Instant } from '@countersign/contracts';
import { KeyPurpose } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, publicKeyFromJwk } from '@countersign/crypto';
import type { Ed25519Jwk } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

/** One key that the caller trusts, for what, and when. Times are RFC 3339; `valid_until` and `revoked_at` are the first instants that no longer count. */
export type TrustedKey = {
  key_id: string;
  /** 32 raw bytes, or a JWK (RFC 8037). */
  public_key: Uint8Array | Ed25519Jwk;
  /** A key counts for nothing else: who takes one must not gain another's voice. */
  purpose: KeyPurpose;
  /** Of a log key: the origin line of the one log that it signs. */
  log_origin?: string;
  valid_from: string;
  valid_until?: string;
  revoked_at?: string;
};
export type TrustedKeys = readonly TrustedKey[];

/**
 * Reads a JWK set as `/api/v1/trust/keys` serves it (`purpose`, `log_origin`, `valid_from`, `valid_until`, `revoked_at`), or with the
 * JWT names `nbf` and `exp` (seconds). Every key needs a purpose and a beginning; members of other standards are ignored. Throws
 * {@link VerificationError} `MALFORMED`, also for two keys of one id and for one key of two ids. Trust comes from where the caller got the set, not from reading it.
 */
export function parseKeySet(jwks: unknown): TrustedKey[] {
  const { keys } = members(jwks, 'key set');
  if (!Array.isArray(keys)) throw malformed('a key set has an array "keys"');
  const parsed = keys.map(parseKey);
  if (hasRepeated(parsed.map(({ key_id }) => key_id))) throw malformed('two keys have one id');
  // Whoever has such a key would speak for both purposes, and what revokes it under one id would leave it the other.
  if (hasRepeated(parsed.map((key) => encodeBase64Url(publicKeyBytes(key))))) throw malformed('one key has two ids');
  return parsed;
}

/** The key of this id, if it is trusted to sign such things. Throws `KEY_UNKNOWN`. */
export function findKey(
  trust: TrustedKeys,
  { keyId, purpose: wanted }: { keyId: string; purpose: 'receipts' | 'policies' },
): TrustedKey {
  const key = trust.find(({ key_id, purpose }) => key_id === keyId && purpose === wanted);
  if (key === undefined) throw new VerificationError('KEY_UNKNOWN', `key ${keyId} is not trusted to sign ${wanted}`);
  return key;
}

/** Throws `KEY_NOT_VALID_YET` or `KEY_EXPIRED`. The instant is the signer's own claim. */
export function assertInWindow(key: TrustedKey, instant: string): void {
  const at = Date.parse(instant);
  // Each comparison is written so that a time that is no time fails it.
  if (!(at >= Date.parse(key.valid_from)))
    throw new VerificationError('KEY_NOT_VALID_YET', `key ${key.key_id} was not valid yet at ${instant}`);
  if (key.valid_until !== undefined && !(at < Date.parse(key.valid_until))) {
    throw new VerificationError('KEY_EXPIRED', `key ${key.key_id} was valid until ${key.valid_until}`);
  }
}

/**
 * Throws `KEY_REVOKED`. A thief of a revoked key can claim any time, so the claim alone does not count: `witnessed` is an instant by
 * which somebody else, whose key is another, had seen the statement; null where nobody did.
 */
export function assertNotRevoked(
  key: TrustedKey,
  { claimed, witnessed }: { claimed: string; witnessed: string | null },
) {
  if (key.revoked_at === undefined) return;
  const revoked = Date.parse(key.revoked_at);
  if (!(Date.parse(claimed) < revoked))
    throw new VerificationError('KEY_REVOKED', `key ${key.key_id} was revoked at ${key.revoked_at}`);
  if (witnessed === null || !(Date.parse(witnessed) < revoked))
    throw new VerificationError(
      'KEY_REVOKED',
      `key ${key.key_id} was revoked at ${key.revoked_at}, and no checkpoint from before has this receipt`,
    );
}

/** Clocks of kernels that share one log differ by less. */
const clockSkewMaxMs = 60_000;

/** Whether it is later by more than the clocks differ of those who said so. A time that is no time is. */
export function isLater(instant: string, than: string): boolean {
  return !(Date.parse(instant) <= Date.parse(than) + clockSkewMaxMs);
}

/** Throws `TIME_MISMATCH`: what a checkpoint has seen cannot be later than that checkpoint. */
export function assertNotAfter(claimed: string, witnessed: string | null): void {
  if (witnessed === null || !isLater(claimed, witnessed)) return;
  throw new VerificationError('TIME_MISMATCH', `it says ${claimed}, and a checkpoint had seen it at ${witnessed}`);
}

/** The 32 bytes of the key. Throws `MALFORMED`. */
export function publicKeyBytes({ public_key: key }: TrustedKey): Uint8Array {
  return key instanceof Uint8Array ? key : bytesOfJwk(key);
}

function parseKey(value: unknown): TrustedKey {
  const jwk = members(value, 'key');
  const { kid } = jwk;
  if (typeof kid !== 'string' || kid === '') throw malformed('a key has no kid');
  const purpose = KeyPurpose.safeParse(jwk['purpose']);
  if (!purpose.success) throw malformed(`key ${kid} does not say what it signs`);
  const log_origin = jwk['log_origin'] ?? undefined;
  if (log_origin !== undefined && typeof log_origin !== 'string')
    throw malformed(`key ${kid} has an origin that is no text`);
  if ((purpose.data === 'log') !== (log_origin !== undefined))
    throw malformed(`key ${kid}: exactly the key of a log names its origin`);
  const valid_from = instantOf(jwk['valid_from'] ?? jwk['nbf']);
  const valid_until = instantOf(jwk['valid_until'] ?? jwk['exp']);
  const revoked_at = instantOf(jwk['revoked_at']);
  if (valid_from === undefined) throw malformed(`key ${kid} does not say from when it is valid`);
  return {
    key_id: kid,
    public_key: bytesOfJwk(jwk),
    purpose: purpose.data,
    valid_from,
    ...(log_origin !== undefined && { log_origin }),
    ...(valid_until && { valid_until }),
    ...(revoked_at && { revoked_at }),
  };
}

function hasRepeated(texts: readonly string[]): boolean {
  return new Set(texts).size !== texts.length;
}

function instantOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Math.abs(value) <= 8.64e12) return new Date(value * 1000).toISOString();
  const instant = Instant.safeParse(value);
  if (!instant.success) throw malformed('a key has a time that is no time');
  return instant.data;
}

function bytesOfJwk(jwk: unknown): Uint8Array {
  try {
    return publicKeyFromJwk(jwk);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : 'a key cannot be read');
  }
}

function members(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`a ${what} is an object`);
  return value as Record<string, unknown>; // an object by the check above; each member is checked where it is read
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', message);
}
