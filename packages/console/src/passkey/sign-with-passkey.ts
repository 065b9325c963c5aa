import { PasskeyAssertion } from '@countersign/contracts/governance-kernel';

type Options = Record<string, unknown>;

/** The answer of this person's passkey to a service's challenge, once they have confirmed it. */
export async function signWithPasskey(options: Options): Promise<PasskeyAssertion> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON, // the browser reads it, and refuses what it is not
  );
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('No passkey answered', 'NotAllowedError');
  return PasskeyAssertion.parse(credential.toJSON());
}
