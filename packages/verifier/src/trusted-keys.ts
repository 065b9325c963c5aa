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
  /** For a log key: the origin line of the one log that it signs. */
  log_origin?: string;
  valid_from: string;
  valid_until?: string;
  revoked_at?: string;
};
export type TrustedKeys = readonly TrustedKey[];

/**
 * Reads a JWK set as `/api/v1/trust/keys` serves it (`purpose`, `log_origin`, `valid_from`, `valid_until`, `revoked_at`). Every key needs a
 * purpose and a beginning. Other members are ignored, except those that would bound the use of the key in another form. Throws
 * {@link VerificationError} `MALFORMED`, also for two keys of one id and for one key of two ids. Trust comes from where the caller got the set, not from reading it.
 */
export function parseKeySet(jwks: unknown): TrustedKey[] {
  const { keys } = members(jwks, 'key set');
  if (!Array.isArray(keys)) throw malformed('a key set has an array "keys"');
  const parsed = keys.map(parseKey);
  if (hasRepeated(parsed.map(({ key_id }) => key_id))) throw malformed('two keys have one id');
  // Such a key would serve both purposes, and a revocation under one id would leave it the other.
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

/** An instant by which another key than that of a statement had signed for it, and the end of that other key. */
export type Sighting = { time: string; key?: Pick<TrustedKey, 'valid_until'> };

/**
 * Throws `KEY_REVOKED`. The thief of a revoked key can claim any time, so the claim alone does not count: another key must have signed for
 * the statement before the revocation. A key that had ended by then is no such key: the thief may have taken both, and dated the sighting back.
 */
export function assertNotRevoked(key: TrustedKey, { claimed, seen }: { claimed: string; seen: Sighting | null }): void {
  if (key.revoked_at === undefined) return;
  const revoked = Date.parse(key.revoked_at);
  const refusal = `key ${key.key_id} was revoked at ${key.revoked_at}`;
  if (!(Date.parse(claimed) < revoked)) throw new VerificationError('KEY_REVOKED', refusal);
  if (seen === null || !(Date.parse(seen.time) < revoked))
    throw new VerificationError('KEY_REVOKED', `${refusal}, and no checkpoint from before has this receipt`);
  const until = seen.key?.valid_until;
  if (until !== undefined && !(Date.parse(until) > revoked))
    throw new VerificationError('KEY_REVOKED', `${refusal}, and the key of its checkpoint had ended at ${until}`);
}

/** Clocks of kernels that share one log differ by less. */
const clockSkewMaxMs = 60_000;

/** Whether it is later by more than the clocks differ of those who said so. A time that is no time is. */
export function isLater(instant: string, than: string): boolean {
  return !(Date.parse(instant) <= Date.parse(than) + clockSkewMaxMs);
}

/** Throws `TIME_MISMATCH`: what a checkpoint has seen cannot be later than that checkpoint. */
export function assertNotAfter(claimed: string, seen: Sighting | null): void {
  if (seen === null || !isLater(claimed, seen.time)) return;
  throw new VerificationError('TIME_MISMATCH', `it says ${claimed}, and a checkpoint had seen it at ${seen.time}`);
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
  if (!purpose.success) throw malformed(`key ${kid} does not say what it signs`);
  const log_origin = jwk['log_origin'] ?? undefined;
  if (log_origin !== undefined && typeof log_origin !== 'string')
    throw malformed(`key ${kid} has an origin that is no text`);
  if ((purpose.data === 'log') !== (log_origin !== undefined))
    throw malformed(`key ${kid}: exactly the key of a log names its origin`);
  const valid_from = instantOf(jwk['valid_from']);
  const valid_until = instantOf(jwk['valid_until']);
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

/** The algorithm of an Ed25519 key by RFC 8037, and by RFC 9864. */
const algorithms: ReadonlySet<unknown> = new Set([undefined, 'EdDSA', 'Ed25519']);
/** Times of a JWT, in seconds. A reader that ignored them would trust the key for longer than its owner meant. */
const foreignTimes = ['nbf', 'exp', 'iat'];

function assertUse(kid: string, jwk: Record<string, unknown>): void {
  if (!algorithms.has(jwk['alg'])) throw malformed(`key ${kid}: "alg" is not EdDSA`);
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') throw malformed(`key ${kid}: "use" is not sig`);
  const foreign = foreignTimes.find((name) => jwk[name] !== undefined);
  if (foreign !== undefined)
    throw malformed(`key ${kid}: "${foreign}" is not read; use valid_from and valid_until, as instants`);
}

function hasRepeated(texts: readonly string[]): boolean {
  return new Set(texts).size !== texts.length;
}

function instantOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
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
