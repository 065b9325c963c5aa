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
  /** It has expired and still applies until then. */
  | { readonly kind: 'in_grace'; readonly claims: LicenceClaims; readonly endsAt: Date }
  | { readonly kind: 'expired'; readonly claims: LicenceClaims }
  | { readonly kind: 'invalid'; readonly reason: LicenceFault };

type Expected = {
  /** Pinned by the operator. */
  readonly keys: readonly PublicKey[];
  /** `null` when the installation has no name: no licence is for it. */
  readonly installation: string | null;
  /** `null` when the licence itself names the organisation. */
  readonly org: string | null;
  readonly now: Date;
};

/** The clock of the issuer may be ahead of ours by so much. */
const clockSkewMs = 60_000;
const dayMs = 86_400_000;

/** Whether a licence applies here and now, without network. `text` is attacker-controlled. Verdicts are data: nothing is thrown. */
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

/** Which days a licence covers. */
function inTime(claims: LicenceClaims, now: Date): LicenceVerdict {
  const nowMs = now.getTime();
  if (claims.iat * 1_000 > nowMs + clockSkewMs) return invalid('ISSUED_IN_FUTURE');
  const expMs = claims.exp * 1_000;
  if (nowMs < expMs) return { kind: 'valid', claims };
  const endsAt = licenceEndsAt(claims);
  if (now < endsAt) return { kind: 'in_grace', claims, endsAt };
  return { kind: 'expired', claims };
}

/** End of the grace: the licence does not apply from then on. */
export function licenceEndsAt({ exp }: LicenceClaims): Date {
  return new Date(exp * 1_000 + licenceTerms.graceDays * dayMs);
}

/** The signature in its one encoding: other decoders ignore its last bits, so one licence would have several texts. */
function isCompact(text: string): boolean {
  const parts = text.split('.').map(decodeBase64Url);
  return parts.length === 3;
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

/** `null` when the key did not sign it. The times of a licence have a grace that JWT does not know, so they are checked later. */
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
