import { createPublicKey, type KeyObject } from 'node:crypto';
import { publicKeyToJwk } from '@countersign/crypto';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';

/**
 * The accepted difference of clocks. It is larger than between two services (see clock-skew.ts), since agents run on
 * machines whose clocks we do not control.
 */
const clockSkewSeconds = 60;

/** A JOSE header is a JSON object and begins with `{"`, which no other credential of ours does. */
export function isSignedToken(bearer: string): boolean {
  return /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(bearer);
}

/** The stated `typ` of a token. Attacker-controlled, and only used to select its verifier. `null` without one. */
export function signedTokenType(text: string): string | null {
  try {
    return decodeProtectedHeader(text).typ ?? null;
  } catch {
    return null;
  }
}

/** Attacker-controlled: parse it by the schema of its kind before use. Throws for a text that is not a token. */
export function signedTokenHeader(text: string): unknown {
  return decodeProtectedHeader(text);
}

/**
 * The unproven claims of a token. Attacker-controlled, and only used to find the key that it names. Throws for a text
 * that is not a token.
 */
export function unprovenClaims(text: string): unknown {
  return decodeJwt(text);
}

/** An Ed25519 public key, in the form that tokens are verified with. */
export function importedKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: { ...publicKeyToJwk(publicKey) }, format: 'jwk' });
}

/** The unexpired claims that this key signed. Their schema checks the content. Throws for anything else. */
export async function verifySignedToken(
  text: string,
  key: KeyObject,
  { now, lifeSecondsMax }: { now: Date; lifeSecondsMax: number },
): Promise<unknown> {
  const { payload } = await jwtVerify(text, key, {
    algorithms: ['EdDSA'],
    // `maxTokenAge` also refuses tokens that were issued in the future.
    maxTokenAge: lifeSecondsMax,
    clockTolerance: clockSkewSeconds,
    currentDate: now,
  });
  return payload;
}

/**
 * Why a token was refused, for the caller who sent it. The message mentions times only if the signature is valid,
 * because the times are checked after it.
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
