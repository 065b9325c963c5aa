import {
  LicenceClaims,
  LicenceHeader,
  LicenceText,
  licenceTerms,
  type LicenceFault,
} from '@countersign/contracts/commercial-gateway';
import { decodeBase64Url, parseStrictJson, utf8Text } from '@countersign/crypto';
import { importedKey, signedTokenHeader, type PublicKey } from '@countersign/service-kit';
import { compactVerify } from 'jose';

type LicenceVerdict =
  | { readonly kind: 'valid'; readonly claims: LicenceClaims }
  /** The licence has expired and applies until `endsAt`. */
  | { readonly kind: 'in_grace'; readonly claims: LicenceClaims; readonly endsAt: Date }
  | { readonly kind: 'expired'; readonly claims: LicenceClaims }
  | { readonly kind: 'invalid'; readonly reason: LicenceFault };

type Expected = {
  /** Public keys that the operator pinned. */
  readonly keys: readonly PublicKey[];
  /** `null` when the installation has no name. Then no licence is valid for it. */
  readonly installation: string | null;
  /** `null` when any organisation that the licence names is accepted. */
  readonly org: string | null;
  readonly now: Date;
};

/** The issuer's clock may be ahead of this clock by this much. */
const clockSkewMs = 60_000;
const dayMs = 86_400_000;

/**
 * Verifies offline whether a licence applies to this installation now. `text` is attacker-controlled. Returns a verdict
 * and never throws.
 */
export async function verifyLicence(text: string, { keys, installation, org, now }: Expected): Promise<LicenceVerdict> {
  const header = headerOf(text);
  if (typeof header === 'string') return invalid(header);
  const key = keys.find(({ keyId }) => keyId === header.kid);
  if (key === undefined) return invalid('UNKNOWN_KEY');
  const payload = await signedPayload(text, key);
  if (payload === null) return invalid('SIGNATURE');
  const claims = claimsOf(payload);
  if (claims === null) return invalid('CLAIMS');
  if (claims.aud !== installation) return invalid('OTHER_INSTALLATION');
  if (org !== null && claims.org !== org) return invalid('OTHER_ORGANISATION');
  return inTime(claims, now);
}

/** Compares the times of the licence with the clock. */
function inTime(claims: LicenceClaims, now: Date): LicenceVerdict {
  const nowMs = now.getTime();
  if (claims.iat * 1_000 > nowMs + clockSkewMs) return invalid('ISSUED_IN_FUTURE');
  const expMs = claims.exp * 1_000;
  if (nowMs < expMs) return { kind: 'valid', claims };
  const endsAt = licenceEndsAt(claims);
  if (now < endsAt) return { kind: 'in_grace', claims, endsAt };
  return { kind: 'expired', claims };
}

/** Returns the end of the grace period, when the licence stops applying. */
export function licenceEndsAt({ exp }: LicenceClaims): Date {
  return new Date(exp * 1_000 + licenceTerms.graceDays * dayMs);
}

/**
 * Accepts only the canonical base64url encoding. Other decoders ignore unused last bits, so one licence would have
 * several texts.
 */
function isCompact(text: string): boolean {
  const match = text.split('.').map(decodeBase64Url);
  return match.length === 3;
}

function headerOf(text: string): LicenceHeader | 'MALFORMED' | 'ALGORITHM' {
  if (!LicenceText.safeParse(text).success) return 'MALFORMED';
  try {
    if (!isCompact(text)) return 'MALFORMED';
    const header = LicenceHeader.safeParse(signedTokenHeader(text));
    if (header.success) return header.data;
    return header.error.issues.some(({ path }) => path[0] === 'alg') ? 'ALGORITHM' : 'MALFORMED';
  } catch {
    return 'MALFORMED';
  }
}

/** Returns `null` when the key did not sign the text. The caller checks the times, because JWT has no grace period. */
async function signedPayload(text: string, { publicKey }: PublicKey): Promise<Uint8Array | null> {
  try {
    const { payload } = await compactVerify(text, importedKey(publicKey), { algorithms: ['EdDSA'] });
    return payload;
  } catch {
    return null;
  }
}

function claimsOf(payload: Uint8Array): LicenceClaims | null {
  try {
    return LicenceClaims.parse(parseStrictJson(utf8Text(payload), { depthMax: 3, bytesMax: 8_192 }));
  } catch {
    return null;
  }
}

function invalid(reason: LicenceFault): LicenceVerdict {
  return { kind: 'invalid', reason };
}
