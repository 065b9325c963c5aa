import type { PlainJson } from '@countersign/contracts';
import type { PasskeyAssertion } from '@countersign/contracts/governance-kernel';
import { parsePlainObject } from '@countersign/crypto';
import type { PasskeyRow } from './passkeys.ts';
import { publicKeyOf } from './webauthn.ts';

/** Everything needed to verify the assertion again without this kernel. */
export function assertionEvidence(
  passkey: PasskeyRow,
  { response }: PasskeyAssertion,
  statement: Readonly<Record<string, unknown>>,
): Record<string, PlainJson> {
  const evidence = {
    credential: 'passkey',
    credential_id: passkey.id,
    public_key: publicKeyOf(passkey.publicKey),
    statement,
    client_data_json: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
  };
  return parsePlainObject(evidence);
}
