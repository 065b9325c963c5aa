import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  assertionTerms,
  commercialAssertionTerms,
  delegationTerms,
  keyAssertionTerms,
  personAssertionTerms,
  type AssertionClaims,
  type KeyClaims,
  type PersonClaims,
} from '@countersign/contracts';
import { keyIdOf, publicKeyFromJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { SignJWT } from 'jose';

/** The person or agent on whose behalf a service calls. */
export type Asserted = Pick<AssertionClaims, 'sub' | 'workspace_id' | 'role' | 'members_version' | 'sponsor'>;
/** The signed-in person, with session, sign-in time, and role in the addressed workspace. */
export type AssertedPerson = Pick<PersonClaims, 'sub' | 'sid' | 'auth_time' | 'workspace_id' | 'role'>;

/** The calling API key, in its workspace. */
export type AssertedKey = Pick<KeyClaims, 'sub' | 'sponsor' | 'workspace_id' | 'role' | 'scopes'>;

export type AssertionSigner = {
  readonly keyId: string;
  readonly publicKey: Uint8Array;
  /** Signs an assertion of a caller for the kernel. At least half of its lifetime remains. */
  sign(asserted: Asserted): Promise<string>;
  /** Signs an assertion of a signed-in person for one service. At least half of its lifetime remains. */
  signPerson(asserted: AssertedPerson, service?: PersonAudience): Promise<string>;
  /**
   * Signs a delegation, with which `service` calls the gateway as that person. The default service is the control
   * plane.
   */
  signDelegation(asserted: AssertedPerson, service?: PersonAudience): Promise<string>;
  /** Signs an assertion of an API key for one service. */
  signKey(asserted: AssertedKey, service: PersonAudience): Promise<string>;
  /** Signs a delegation, with which `service` calls the gateway as the key. */
  signKeyDelegation(asserted: AssertedKey, service: PersonAudience): Promise<string>;
};

type Signed = { text: Promise<string>; atMs: number };
/** A service that people reach through the gateway. */
export type PersonAudience = 'control-plane' | 'commercial-gateway';

const personTerms = { 'control-plane': personAssertionTerms, 'commercial-gateway': commercialAssertionTerms } as const;

type Terms = { type: string; issuer: string; audience: string; lifeSecondsMax: number };
type Claims = Record<string, string | number | readonly string[]>;

/** How long a signed assertion is reused. Less than half of its lifetime, since it may arrive late. */
const reusedMsMax = 25_000;
const signedMax = 1_000;

/** Creates a signer with a key from `readAssertionKey`. */
export function createAssertionSigner(key: KeyObject, now: () => Date): AssertionSigner {
  const publicKey = publicKeyFromJwk(createPublicKey(key).export({ format: 'jwk' }));
  const keyId = keyIdOf(nodeProvider, publicKey);
  const signed = new Map<string, Signed>();
  const signOnce = (terms: Terms, claims: Claims) => {
    const nowMs = now().getTime();
    const name = JSON.stringify([terms.type, terms.audience, ...Object.entries(claims)]);
    const earlier = signed.get(name);
    if (earlier !== undefined && isYoung(earlier, nowMs)) return earlier.text;
    if (signed.size >= signedMax) signed.clear();
    const text = signAnew(key, { kid: keyId, terms, claims, nowMs });
    signed.set(name, { text, atMs: nowMs });
    return text;
  };
  return {
    keyId,
    publicKey,
    sign: (asserted) => signOnce(assertionTerms, claimsOf(asserted)),
    signPerson: (person, service = 'control-plane') => signOnce(personTerms[service], saidOf(person)),
    signDelegation: (person, service = 'control-plane') => {
      // Gateways of the previous version treat delegations without `azp` as those of the control plane.
      const claims = saidOf(person);
      return signOnce(
        delegationTerms,
        service === 'control-plane' ? claims : { ...claims, azp: personTerms[service].audience },
      );
    },
    signKey: (apiKey, service) => signOnce(keyTermsFor(personTerms[service].audience), keySaid(apiKey)),
    signKeyDelegation: (apiKey, service) =>
      signOnce(keyTermsFor(delegationTerms.audience), { ...keySaid(apiKey), azp: personTerms[service].audience }),
  };
}

/** Members in one order, so that an equal assertion is found in the cache. */
function claimsOf({ sub, workspace_id, role, members_version, sponsor }: Asserted): Claims {
  return {
    ...{ sub, workspace_id, role },
    ...(members_version === undefined ? {} : { members_version }),
    ...(sponsor === undefined ? {} : { sponsor }),
  };
}

/** Members in one order, so that an equal assertion is found in the cache. Workspace and role are present together. */
function saidOf({ sub, sid, auth_time, workspace_id, role }: AssertedPerson): Claims {
  return { sub, sid, auth_time, ...(workspace_id === undefined || role === undefined ? {} : { workspace_id, role }) };
}

function keyTermsFor(audience: string): Terms {
  return { ...keyAssertionTerms, audience };
}

/** Members in one order, so that an equal assertion is found in the cache. */
function keySaid({ sub, sponsor, workspace_id, role, scopes }: AssertedKey): Claims {
  return { sub, sponsor, workspace_id, role, scopes: [...scopes].sort() };
}

/** An Ed25519 private key in PKCS#8 PEM. `null` for any other text. */
export function readAssertionKey(pem: string): KeyObject | null {
  const key = imported(pem);
  return key?.asymmetricKeyType === 'ed25519' ? key : null;
}

function imported(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null; // the library's own message may quote the key
  }
}

/** `false` also when the clock was set back, so that the assertion is signed again. */
function isYoung({ atMs }: Signed, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < reusedMsMax;
}

type Signing = { kid: string; terms: Terms; claims: Claims; nowMs: number };

function signAnew(key: KeyObject, { kid, terms, claims: statement, nowMs }: Signing): Promise<string> {
  const { type, issuer, audience, lifeSecondsMax } = terms;
  const iat = Math.floor(nowMs / 1_000);
  return new SignJWT({ ...statement, iss: issuer, aud: audience, iat, exp: iat + lifeSecondsMax })
    .setProtectedHeader({ alg: 'EdDSA', typ: type, kid })
    .sign(key);
}
