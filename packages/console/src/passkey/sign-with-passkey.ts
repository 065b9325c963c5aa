import { PasskeyAssertion } from '@countersign/contracts/governance-kernel';

type Options = Record<string, unknown>;

/** Signs the challenge of a service with the person's passkey, once the person has confirmed. */
export async function signWithPasskey(options: Options): Promise<PasskeyAssertion> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON, // the browser rejects other options
  );
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('No passkey answered', 'NotAllowedError');
  return PasskeyAssertion.parse(credential.toJSON());
}
