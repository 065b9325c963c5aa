import { PasskeyAttestation } from '@countersign/contracts/governance-kernel';

type Options = Record<string, unknown>;

/** A new passkey of this person, in an authenticator of their choice, as the kernel asks for it. */
export async function createPasskey(options: Options): Promise<PasskeyAttestation> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON, // the browser reads it, and refuses what it is not
  );
  const credential = await navigator.credentials.create({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('No passkey was made', 'NotAllowedError');
  return PasskeyAttestation.parse(credential.toJSON());
}
