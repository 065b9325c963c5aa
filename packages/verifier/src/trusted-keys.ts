import { Instant } from '@countersign/contracts';
import { KeyPurpose } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, publicKeyFromJwk } from '@countersign/crypto';
import type { Ed25519Jwk } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

/**
 * One key that the caller trusts, with its purpose and validity. Times are RFC 3339. `valid_until` and `revoked_at`
 * are the first instants that are no longer valid.
 */
export type TrustedKey = {
  key_id: string;
  /** 32 raw bytes, or a JWK (RFC 8037). */
  public_key: Uint8Array | Ed25519Jwk;
  /** A key is valid for no other purpose, so a stolen key is useful only for this purpose. */
  purpose: KeyPurpose;
  /** For a log key: the origin line of the one log that it signs. */
  log_origin?: string;
  valid_from: string;
  valid_until?: string;
  revoked_at?: string;
};
export type TrustedKeys = readonly TrustedKey[];

/**
 * Reads a JWK set as `/api/v1/trust/keys` serves it (`purpose`, `log_origin`, `valid_from`, `valid_until`,
 * `revoked_at`). Every key needs a purpose and a start. Other members are ignored, except those that limit a key in
 * another form. Throws {@link VerificationError} `MALFORMED`, also for two keys with one id and for one key with two
 * ids. Trust depends on the source of the set, and not on parsing it.
 */
export function parseKeySet(jwks: unknown): TrustedKey[] {
  const { keys } = members(jwks, 'key set');
  if (!Array.isArray(keys)) throw malformed('a key set must have an array "keys"');
  const parsed = keys.map(parseKey);
  if (hasRepeated(parsed.map(({ key_id }) => key_id))) throw malformed('two keys have the same id');
  // A key with two ids could serve two purposes, and its revocation under one id would leave the other valid.
  if (hasRepeated(parsed.map((key) => encodeBase64Url(publicKeyBytes(key)))))
    throw malformed('the same key has two ids');
  return parsed;
}

/** The key with this id, if it is trusted for this purpose. Throws `KEY_UNKNOWN`. */
export function findKey(
  trust: TrustedKeys,
  { keyId, purpose: wanted }: { keyId: string; purpose: 'receipts' | 'policies' },
): TrustedKey {
  const key = trust.find(({ key_id, purpose }) => key_id === keyId && purpose === wanted);
  if (key === undefined) throw new VerificationError('KEY_UNKNOWN', `key ${keyId} is not trusted to sign ${wanted}`);
  return key;
}

/** Throws `KEY_NOT_VALID_YET` or `KEY_EXPIRED`. The signer itself claims the instant. */
export function assertInWindow(key: TrustedKey, instant: string): void {
  const at = Date.parse(instant);
  // Each comparison is written so that an invalid time fails it.
  if (!(at >= Date.parse(key.valid_from)))
    throw new VerificationError('KEY_NOT_VALID_YET', `key ${key.key_id} was not valid yet at ${instant}`);
  if (key.valid_until !== undefined && !(at < Date.parse(key.valid_until))) {
    throw new VerificationError('KEY_EXPIRED', `key ${key.key_id} was valid until ${key.valid_until}`);
  }
}

/** An instant before which another key signed for a statement, and the end of that other key. */
export type Sighting = { time: string; key?: Pick<TrustedKey, 'valid_until'> };

/**
 * Throws `KEY_REVOKED`. The thief of a revoked key can claim any time, so the claim alone does not count. Another key
 * must have signed for the statement before the revocation. A key that had ended by then does not count, since the
 * thief may have stolen both and dated the sighting back.
 */
export function assertNotRevoked(key: TrustedKey, { claimed, seen }: { claimed: string; seen: Sighting | null }): void {
  if (key.revoked_at === undefined) return;
  const revoked = Date.parse(key.revoked_at);
  const refusal = `key ${key.key_id} was revoked at ${key.revoked_at}`;
  if (!(Date.parse(claimed) < revoked)) throw new VerificationError('KEY_REVOKED', refusal);
  if (seen === null || !(Date.parse(seen.time) < revoked))
    throw new VerificationError('KEY_REVOKED', `${refusal}, and no earlier checkpoint contains this receipt`);
  const until = seen.key?.valid_until;
  if (until !== undefined && !(Date.parse(until) > revoked))
    throw new VerificationError('KEY_REVOKED', `${refusal}, and the key of its checkpoint had ended at ${until}`);
}

/** Clocks of kernels that share one log differ by less. */
const clockSkewMaxMs = 60_000;

/** Whether the instant is later by more than the clock difference of the signers. `true` for an invalid time. */
export function isLater(instant: string, than: string): boolean {
  return !(Date.parse(instant) <= Date.parse(than) + clockSkewMaxMs);
}

/** Throws `TIME_MISMATCH` for an entry that is more than a minute later than a checkpoint that contains it. */
export function assertNotAfter(claimed: string, seen: Sighting | null): void {
  if (seen === null || !isLater(claimed, seen.time)) return;
  throw new VerificationError(
    'TIME_MISMATCH',
    `the entry is dated ${claimed}, but a checkpoint of ${seen.time} already contains it`,
  );
}

/** The 32 bytes of the key. Throws `MALFORMED`. */
export function publicKeyBytes({ public_key: key }: TrustedKey): Uint8Array {
  return key instanceof Uint8Array ? key : bytesOfJwk(key);
}

function parseKey(value: unknown): TrustedKey {
  const jwk = members(value, 'key');
  const { kid } = jwk;
  if (typeof kid !== 'string' || kid === '') throw malformed('a key has no kid');
  assertUse(kid, jwk);
  const purpose = KeyPurpose.safeParse(jwk['purpose']);
  if (!purpose.success) throw malformed(`key ${kid} has no valid "purpose"`);
  const log_origin = jwk['log_origin'] ?? undefined;
  if (log_origin !== undefined && typeof log_origin !== 'string')
    throw malformed(`key ${kid}: "log_origin" is not a string`);
  if ((purpose.data === 'log') !== (log_origin !== undefined))
    throw malformed(`key ${kid}: "log_origin" is required for the purpose log, and not allowed otherwise`);
  const valid_from = instantOf(jwk['valid_from']);
  const valid_until = instantOf(jwk['valid_until']);
  const revoked_at = instantOf(jwk['revoked_at']);
  if (valid_from === undefined) throw malformed(`key ${kid} has no "valid_from"`);
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

/** The algorithm of an Ed25519 key by RFC 8037, and by RFC 9864. */
const algorithms: ReadonlySet<unknown> = new Set([undefined, 'EdDSA', 'Ed25519']);
/** Times of a JWT, in seconds. A reader that ignored them would trust the key for longer than its owner intended. */
const foreignTimes = ['nbf', 'exp', 'iat'];

function assertUse(kid: string, jwk: Record<string, unknown>): void {
  if (!algorithms.has(jwk['alg'])) throw malformed(`key ${kid}: "alg" is not EdDSA`);
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') throw malformed(`key ${kid}: "use" is not sig`);
  const foreign = foreignTimes.find((name) => jwk[name] !== undefined);
  if (foreign !== undefined)
    throw malformed(`key ${kid}: "${foreign}" is not supported; use valid_from and valid_until, as instants`);
}

function hasRepeated(texts: readonly string[]): boolean {
  return new Set(texts).size !== texts.length;
}

function instantOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const instant = Instant.safeParse(value);
  if (!instant.success) throw malformed('a key has an invalid time');
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
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed(`a ${what} must be an object`);
  return value as Record<string, unknown>; // an object by the check above; each member is checked where it is read
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', message);
}
