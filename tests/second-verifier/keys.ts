import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { Fault, need } from './fault.ts';
import { fromBase64Url, isInstant } from './forms.ts';
import type { Signature } from './statements.ts';
import { isObject, type Json, type JsonObject } from './strict-json.ts';

export type Key = {
  id: string;
  purpose: string;
  origin: string | null;
  raw: Buffer;
  publicKey: KeyObject;
  validFrom: string | null;
  validUntil: string | null;
  revokedAt: string | null;
};

/** Reads the key set that the caller trusts (8.1, 8.5). Throws `MALFORMED`. */
export function readKeys(set: Json): Key[] {
  const listed = isObject(set) ? set['keys'] : undefined;
  need(Array.isArray(listed), 'MALFORMED', '8.1');
  const keys = listed.map(readKey);
  need(new Set(keys.map(({ id }) => id)).size === keys.length, 'MALFORMED', '8.5');
  need(new Set(keys.map(({ raw }) => raw.toString('hex'))).size === keys.length, 'MALFORMED', '8.5');
  return keys;
}

function readKey(jwk: Json): Key {
  need(isObject(jwk) && jwk['kty'] === 'OKP' && jwk['crv'] === 'Ed25519', 'MALFORMED', '8.1');
  const { kid, x, purpose, log_origin: origin } = jwk;
  const raw = fromBase64Url(x);
  need(typeof kid === 'string' && typeof purpose === 'string' && raw?.length === 32, 'MALFORMED', '8.1');
  need(['EdDSA', 'Ed25519', undefined].includes(jwk['alg'] as string), 'MALFORMED', '8.5');
  need(jwk['use'] === undefined || jwk['use'] === 'sig', 'MALFORMED', '8.5');
  need(!['nbf', 'exp', 'iat'].some((name) => Object.hasOwn(jwk, name)), 'MALFORMED', '8.5');
  return {
    id: kid,
    purpose,
    origin: typeof origin === 'string' ? origin : null,
    raw,
    publicKey: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' }),
    validFrom: timeOf(jwk, 'valid_from'),
    validUntil: timeOf(jwk, 'valid_until'),
    revokedAt: timeOf(jwk, 'revoked_at'),
  };
}

function timeOf(jwk: JsonObject, name: string): string | null {
  const time = jwk[name] ?? null;
  need(time === null || isInstant(time), 'MALFORMED', '8.5');
  return time;
}

/** The key with the id of a signature, for one purpose. Throws `KEY_UNKNOWN` (8.1). */
export function keyFor(keys: Key[], { key_id }: Signature, purpose: string): Key {
  const key = keys.find(({ id, purpose: its }) => id === key_id && its === purpose);
  if (key === undefined) throw new Fault('KEY_UNKNOWN', '8.1');
  return key;
}

/** Throws the code of the limit that the time violates (8.2). */
export function assertInWindow({ validFrom, validUntil, revokedAt }: Key, time: string): void {
  need(validFrom === null || time >= validFrom, 'KEY_NOT_VALID_YET', '8.2');
  need(validUntil === null || time < validUntil, 'KEY_EXPIRED', '8.2');
  need(revokedAt === null || time < revokedAt, 'KEY_REVOKED', '8.3');
}

/** Throws `SIGNATURE_INVALID` unless the key signed the text (2.1). */
export function assertSigned(text: string, { value }: Signature, { publicKey }: Key): void {
  const signature = fromBase64Url(value);
  need(signature?.length === 64, 'SIGNATURE_INVALID', '1.4');
  need(verify(null, Buffer.from(text), publicKey, signature), 'SIGNATURE_INVALID', '2.1');
}
