import { createPublicKey, type KeyObject } from 'node:crypto';
import { publicKeyToJwk } from '@countersign/crypto';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';

/** More than two services may differ by (see clock-skew.ts), and agents run on machines whose clocks we do not keep. */
const clockSkewSeconds = 60;

/** A JOSE header is a JSON object, and so begins with `{"`; no other credential of ours does. */
export function isSignedToken(bearer: string): boolean {
  return /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(bearer);
}

/** The `typ` that a token gives itself: attacker-controlled, and good for finding who verifies it. Null for what gives none. */
export function signedTokenType(text: string): string | null {
  try {
    return decodeProtectedHeader(text).typ ?? null;
  } catch {
    return null;
  }
}

/** Attacker-controlled: to be parsed by the schema of its kind before anything in it is used. Throws for what is none. */
export function signedTokenHeader(text: string): unknown {
  return decodeProtectedHeader(text);
}

/**
 * The unproven claims of a token: attacker-controlled, and good for finding the key that it names. Throws for a text
 * that is no token. Throws for what is none.
 */
export function unprovenClaims(text: string): unknown {
  return decodeJwt(text);
}

/** An Ed25519 public key, in the form that tokens are verified with. */
export function importedKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: { ...publicKeyToJwk(publicKey) }, format: 'jwk' });
}

/**
 * The claims that this key has signed, with a time to live that is running. Their content is checked by their schema.
 * Throws for anything else.
 */
export async function verifySignedToken(
  text: string,
  key: KeyObject,
  { now, lifeSecondsMax }: { now: Date; lifeSecondsMax: number },
): Promise<unknown> {
  const { payload } = await jwtVerify(text, key, {
    algorithms: ['EdDSA'],
    // With it, what begins later is refused as well.
    maxTokenAge: lifeSecondsMax,
    clockTolerance: clockSkewSeconds,
    currentDate: now,
  });
  return payload;
}

/**
 * Why a token was refused, for the caller who sent it. Says more only of a token whose signature holds: its times are checked after it.
 * @param kind what the token is, such as `agent token`
 * @param cause what {@link verifySignedToken} or the schema of the kind threw
 */
export function signedTokenFault(kind: string, cause: unknown, now: Date): string {
  const here = `The time here is ${now.toISOString()}`;
  if (cause instanceof errors.JWTExpired) return `The ${kind} has expired. ${here}`;
  if (cause instanceof errors.JWTClaimValidationFailed && cause.claim === 'iat' && cause.reason === 'check_failed')
    return `The ${kind} begins in the future. ${here}`;
  if (cause instanceof errors.JWSSignatureVerificationFailed)
    return `The ${kind} is not signed by the key that it names`;
  return `The ${kind} is not valid`;
}
