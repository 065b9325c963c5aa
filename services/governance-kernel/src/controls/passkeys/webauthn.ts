import { AppError } from '@countersign/contracts';
import {
  PasskeyPublicKey,
  type CredentialId,
  type PasskeyAssertion,
  type PasskeyAttestation,
} from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, encodeBase64Url } from '@countersign/crypto';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import type { PasskeyRow } from './passkeys.ts';
import type { RelyingParty } from './relying-party.ts';

/** ES256, EdDSA and RS256 are the algorithms that authenticators have and that our verifiers support. */
export const algorithms: readonly number[] = [cose.COSEALG.ES256, cose.COSEALG.EdDSA, cose.COSEALG.RS256];

type Input = { readonly challenge: string; readonly party: RelyingParty };

/** The result of an enrolment by an authenticator. */
export type Attested = Pick<PasskeyRow, 'id' | 'publicKey' | 'counter' | 'isBackupEligible' | 'isBackedUp'>;

/** The authenticator's statement about itself when it signed. */
export type PasskeyUse = Pick<PasskeyRow, 'id' | 'publicKey' | 'counter' | 'isBackedUp'>;

/** Web Authentication §7.1. Throws PASSKEY_REFUSED; the response is attacker-controlled. */
export async function verifyAttestation(
  attestation: PasskeyAttestation,
  { challenge, party }: Input,
): Promise<Attested> {
  const { registrationInfo: found } = await refusing(() =>
    verifyRegistrationResponse({
      response: { ...attestation, response: attested(attestation) } as never, // the schema is stricter than its types
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    }),
  );
  if (found === undefined || !isOnOwnPage(attestation.response)) throw refused();
  const { credential, credentialDeviceType, credentialBackedUp } = found;
  const publicKey = encodeBase64Url(credential.publicKey);
  await refusing(() => Promise.resolve(assertEnrollable(publicKey)));
  return {
    id: credential.id as CredentialId, // base64url, as CredentialId requires
    publicKey,
    counter: credential.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  };
}

/**
 * Keeps only the members that the library verifies. The other members repeat parts of these, but nothing verifies them.
 */
function attested({ response: { clientDataJSON, attestationObject } }: PasskeyAttestation) {
  return { clientDataJSON, attestationObject };
}

/**
 * Web Authentication §7.2, except for the counter in the database, which the commit compares. Throws PASSKEY_REFUSED.
 */
export async function verifyAssertion(
  assertion: PasskeyAssertion,
  { challenge, party, passkey }: Input & { passkey: PasskeyRow },
): Promise<PasskeyUse> {
  const { id, publicKey, counter } = passkey;
  const { verified, authenticationInfo } = await refusing(() =>
    verifyAuthenticationResponse({
      response: assertion as never, // the schema is stricter than its types
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: { id, publicKey: new Uint8Array(decodeBase64Url(publicKey)), counter },
      requireUserVerification: true,
    }),
  );
  if (!verified || assertion.id !== id || !isOnOwnPage(assertion.response)) throw refused();
  return { id, publicKey, counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp };
}

/**
 * `false` for a page framed by another site, where people do not see what they sign for (§5.8.1, `crossOrigin`;
 * §13.4.2). The library does not check this.
 */
function isOnOwnPage({ clientDataJSON }: { clientDataJSON: string }): boolean {
  const text = Buffer.from(clientDataJSON, 'base64url').toString('utf8');
  const { crossOrigin = false } = JSON.parse(text) as { crossOrigin?: unknown }; // the library has read it as JSON
  return crossOrigin === false;
}

/**
 * ES256 for a point, EdDSA for an octet key pair, RS256 for a modulus. Verifiers derive the algorithm from the kind of
 * the key.
 */
const algorithmOf: Readonly<Record<PasskeyPublicKey['kty'], number>> = {
  EC: cose.COSEALG.ES256,
  OKP: cose.COSEALG.EdDSA,
  RSA: cose.COSEALG.RS256,
};

/**
 * Refuses a key that records cannot contain, or whose algorithm does not match its type. No verifier would accept its
 * signatures.
 */
function assertEnrollable(coseKey: string): void {
  const { kty } = PasskeyPublicKey.parse(publicKeyOf(coseKey));
  if (coseKeyOf(coseKey).get(cose.COSEKEYS.alg) !== algorithmOf[kty])
    throw new Error('The key of the passkey names the algorithm of another kind of key');
}

/** A COSE_Key (RFC 9052 §7) as a JWK. Throws for an unsupported kind of key, which enrolment refuses. */
export function publicKeyOf(coseKey: string): PasskeyPublicKey {
  const key = coseKeyOf(coseKey);
  if (cose.isCOSEPublicKeyEC2(key) && key.get(cose.COSEKEYS.crv) === cose.COSECRV.P256)
    return { kty: 'EC', crv: 'P-256', x: bytes(key.get(cose.COSEKEYS.x)), y: bytes(key.get(cose.COSEKEYS.y)) };
  if (cose.isCOSEPublicKeyOKP(key) && key.get(cose.COSEKEYS.crv) === cose.COSECRV.ED25519)
    return { kty: 'OKP', crv: 'Ed25519', x: bytes(key.get(cose.COSEKEYS.x)) };
  if (cose.isCOSEPublicKeyRSA(key))
    return { kty: 'RSA', n: bytes(key.get(cose.COSEKEYS.n)), e: bytes(key.get(cose.COSEKEYS.e)) };
  throw new Error('This passkey has a type of key that is not supported');
}

function coseKeyOf(coseKey: string) {
  return decodeCredentialPublicKey(new Uint8Array(decodeBase64Url(coseKey)));
}

function bytes(value: Uint8Array | undefined): string {
  if (value === undefined) throw new Error('The key of the passkey lacks a member');
  return encodeBase64Url(value);
}

/**
 * The library reports faults as errors whose text contains caller data, so the text is kept as the cause and not
 * returned.
 */
async function refusing<Verified>(verify: () => Promise<Verified>): Promise<Verified> {
  try {
    return await verify();
  } catch (cause) {
    throw refused(cause);
  }
}

export function refused(cause?: unknown): AppError {
  return new AppError('PASSKEY_REFUSED', 'The answer of the passkey could not be verified. Try again', { cause });
}
