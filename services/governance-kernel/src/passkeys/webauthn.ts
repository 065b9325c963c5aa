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

/** ES256, EdDSA, RS256: what authenticators have, and what every verifier of ours can check. */
export const algorithms: readonly number[] = [cose.COSEALG.ES256, cose.COSEALG.EdDSA, cose.COSEALG.RS256];

type Asked = { readonly challenge: string; readonly party: RelyingParty };

/** The result of an enrolment by an authenticator. */
export type Attested = Pick<PasskeyRow, 'id' | 'publicKey' | 'counter' | 'isBackupEligible' | 'isBackedUp'>;

/** The authenticator's statement about itself when it signed. */
export type PasskeyUse = Pick<PasskeyRow, 'id' | 'publicKey' | 'counter' | 'isBackedUp'>;

/** Web Authentication §7.1. Throws PASSKEY_REFUSED; the response is attacker-controlled. */
export async function verifyAttestation(
  attestation: PasskeyAttestation,
  { challenge, party }: Asked,
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
    id: credential.id as CredentialId, // base64url of bytes, as the schema wants it
    publicKey,
    counter: credential.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  };
}

/** Only verified members: the rest repeats them, unchecked. */
function attested({ response: { clientDataJSON, attestationObject } }: PasskeyAttestation) {
  return { clientDataJSON, attestationObject };
}

/** Web Authentication §7.2, but for the counter in the database, which the commit compares. Throws PASSKEY_REFUSED. */
export async function verifyAssertion(
  assertion: PasskeyAssertion,
  { challenge, party, passkey }: Asked & { passkey: PasskeyRow },
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
 * Refuses a page within another site's page, where people do not see for whom they sign (§5.8.1, `crossOrigin`;
 * §13.4.2). The library does not look.
 */
function isOnOwnPage({ clientDataJSON }: { clientDataJSON: string }): boolean {
  const text = Buffer.from(clientDataJSON, 'base64url').toString('utf8');
  const { crossOrigin = false } = JSON.parse(text) as { crossOrigin?: unknown }; // the library has read it as JSON
  return crossOrigin === false;
}

/** ES256 of a point, EdDSA of a key pair of octets, RS256 of a modulus: verifiers take the algorithm from the kind of the key. */
const algorithmOf: Readonly<Record<PasskeyPublicKey['kty'], number>> = {
  EC: cose.COSEALG.ES256,
  OKP: cose.COSEALG.EdDSA,
  RSA: cose.COSEALG.RS256,
};

/** A key that no record could hold, or that names another algorithm than its kind has, would sign what no verifier takes. */
function assertEnrollable(coseKey: string): void {
  const { kty } = PasskeyPublicKey.parse(publicKeyOf(coseKey));
  if (coseKeyOf(coseKey).get(cose.COSEKEYS.alg) !== algorithmOf[kty])
    throw new Error('The key of the passkey names the algorithm of another kind of key');
}

/** A COSE_Key (RFC 9052 §7) as a JWK. Throws for a key of another kind, which no enrolment takes. */
export function publicKeyOf(coseKey: string): PasskeyPublicKey {
  const key = coseKeyOf(coseKey);
  if (cose.isCOSEPublicKeyEC2(key) && key.get(cose.COSEKEYS.crv) === cose.COSECRV.P256)
    return { kty: 'EC', crv: 'P-256', x: bytes(key.get(cose.COSEKEYS.x)), y: bytes(key.get(cose.COSEKEYS.y)) };
  if (cose.isCOSEPublicKeyOKP(key) && key.get(cose.COSEKEYS.crv) === cose.COSECRV.ED25519)
    return { kty: 'OKP', crv: 'Ed25519', x: bytes(key.get(cose.COSEKEYS.x)) };
  if (cose.isCOSEPublicKeyRSA(key))
    return { kty: 'RSA', n: bytes(key.get(cose.COSEKEYS.n)), e: bytes(key.get(cose.COSEKEYS.e)) };
  throw new Error('The key of the passkey is of no kind that is enrolled here');
}

function coseKeyOf(coseKey: string) {
  return decodeCredentialPublicKey(new Uint8Array(decodeBase64Url(coseKey)));
}

function bytes(value: Uint8Array | undefined): string {
  if (value === undefined) throw new Error('The key of the passkey lacks a member');
  return encodeBase64Url(value);
}

/** The library says in an Error what does not hold; in its text stands what the caller sent, so it is kept and not told. */
async function refusing<Verified>(verify: () => Promise<Verified>): Promise<Verified> {
  try {
    return await verify();
  } catch (cause) {
    throw refused(cause);
  }
}

export function refused(cause?: unknown): AppError {
  return new AppError('PASSKEY_REFUSED', 'This passkey did not sign what was asked', { cause });
}
