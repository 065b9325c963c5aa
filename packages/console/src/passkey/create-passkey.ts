import { PasskeyAttestation } from '@countersign/contracts/governance-kernel';

type Options = Record<string, unknown>;

/** Creates a passkey in an authenticator of the person's choice, with the options of the kernel. */
export async function createPasskey(options: Options): Promise<PasskeyAttestation> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON, // the browser rejects other options
  );
  const credential = await navigator.credentials.create({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('No passkey was made', 'NotAllowedError');
  return PasskeyAttestation.parse(credential.toJSON());
}
