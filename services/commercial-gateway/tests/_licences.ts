import { createPrivateKey } from 'node:crypto';
import { licenceTerms, type LicenceClaims } from '@countersign/contracts/commercial-gateway';
import { generateSigningKey } from '@countersign/crypto/signing';
import { utf8Bytes } from '@countersign/crypto';
import { CompactSign, type CompactJWSHeaderParameters } from 'jose';

export const issuer = generateSigningKey();
export const stranger = generateSigningKey();
export const nowMs = Date.parse('2026-11-28T12:00:00.000Z');
export const daySeconds = 86_400;
const iat = nowMs / 1_000;

export const terms = {
  iss: licenceTerms.issuer,
  aud: 'installation-1',
  jti: 'lic_01ARZ3NDEKTSV4RRFFQ69G5FA1',
  org: 'org_01ARZ3NDEKTSV4RRFFQ69G5FA1',
  plan_id: 'enterprise',
  plan_version: 3,
  limits: { members: 50 },
  capabilities: ['sso', 'scim'],
  iat,
  exp: iat + 30 * daySeconds,
} as const satisfies Record<keyof LicenceClaims, unknown>;

type Issued = { claims?: object; header?: object; key?: typeof issuer; payload?: string };

/** Returns a valid licence with changed members. `undefined` omits a member. Only for tests. */
export function issueLicence({ claims, header, key = issuer, payload }: Issued = {}): Promise<string> {
  const text = payload ?? JSON.stringify({ ...terms, ...claims });
  const protectedHeader = JSON.parse(
    JSON.stringify({ alg: 'EdDSA', typ: licenceTerms.type, kid: issuer.keyId, ...header }),
  ) as CompactJWSHeaderParameters; // without undefined members
  return new CompactSign(utf8Bytes(text)).setProtectedHeader(protectedHeader).sign(createPrivateKey(key.privateKeyPem));
}
