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

/** The person or agent for whom a service makes the call. */
export type Asserted = Pick<AssertionClaims, 'sub' | 'workspace_id' | 'role' | 'members_version' | 'sponsor'>;
/** Who is signed in, by which session and since when, and what they are in the workspace that they address. */
export type AssertedPerson = Pick<PersonClaims, 'sub' | 'sid' | 'auth_time' | 'workspace_id' | 'role'>;

/** Which API key calls, in its workspace. */
export type AssertedKey = Pick<KeyClaims, 'sub' | 'sponsor' | 'workspace_id' | 'role' | 'scopes'>;

export type AssertionSigner = {
  readonly keyId: string;
  readonly publicKey: Uint8Array;
  /** For whom the gateway speaks at the kernel: an assertion with more than half of its life before it. */
  sign(asserted: Asserted): Promise<string>;
  /** Who is signed in, for one service, in the same way. */
  signPerson(asserted: AssertedPerson, service?: PersonAudience): Promise<string>;
  /** The same for the way back: by it the control plane, or the service that is named, asks the gateway as that person. */
  signDelegation(asserted: AssertedPerson, service?: PersonAudience): Promise<string>;
  /** Which API key calls, for one service. */
  signKey(asserted: AssertedKey, service: PersonAudience): Promise<string>;
  /** The same for the way back: by it that service asks the gateway as the key. */
  signKeyDelegation(asserted: AssertedKey, service: PersonAudience): Promise<string>;
};

type Signed = { text: Promise<string>; atMs: number };
/** A service that people reach through the gateway. */
export type PersonAudience = 'control-plane' | 'commercial-gateway';

const personTerms = { 'control-plane': personAssertionTerms, 'commercial-gateway': commercialAssertionTerms } as const;

type Terms = { type: string; issuer: string; audience: string; lifeSecondsMax: number };
type Claims = Record<string, string | number | readonly string[]>;

/** Less than half of its life, since it may arrive late. */
const reusedMsMax = 25_000;
const signedMax = 1_000;

/** Signs with a key of readAssertionKey. */
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
    const text = signAnew(key, { kid: keyId, terms, said: claims, nowMs });
    signed.set(name, { text, atMs: nowMs });
    return text;
  };
  return {
    keyId,
    publicKey,
    sign: (asserted) => signOnce(assertionTerms, claimsOf(asserted)),
    signPerson: (person, service = 'control-plane') => signOnce(personTerms[service], saidOf(person)),
    signDelegation: (person, service = 'control-plane') => {
      // Gateways of the version before read delegations without `azp` as those of the control plane.
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

/** In one order, so that an equal assertion is found again. */
function claimsOf({ sub, workspace_id, role, members_version, sponsor }: Asserted): Claims {
  return {
    ...{ sub, workspace_id, role },
    ...(members_version === undefined ? {} : { members_version }),
    ...(sponsor === undefined ? {} : { sponsor }),
  };
}

/** In one order, so that the same is found again. A workspace and a role come together. */
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

/** An Ed25519 private key in PKCS#8 PEM; null for what is none. */
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

/** After a clock was put back it signs again. */
function isYoung({ atMs }: Signed, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < reusedMsMax;
}

type Signing = { kid: string; terms: Terms; said: Claims; nowMs: number };

function signAnew(key: KeyObject, { kid, terms, said, nowMs }: Signing): Promise<string> {
  const { type, issuer, audience, lifeSecondsMax } = terms;
  const iat = Math.floor(nowMs / 1_000);
  return new SignJWT({ ...said, iss: issuer, aud: audience, iat, exp: iat + lifeSecondsMax })
    .setProtectedHeader({ alg: 'EdDSA', typ: type, kid })
    .sign(key);
}
