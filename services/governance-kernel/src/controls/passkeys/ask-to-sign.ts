import { AppError, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import { decodeBase64Url, definedMembers } from '@countersign/crypto';
import { generateAuthenticationOptions } from '@simplewebauthn/server';
import { challengeMs } from './challenges.ts';
import type { PasskeyDeps } from './passkey-deps.ts';
import { stateOf } from './passkeys.ts';
import type { RelyingParty } from './relying-party.ts';

type Question = { tenant: TenantId; principal: PrincipalId; challenge: string; party: RelyingParty };

/**
 * The options that a browser needs to ask a person for a signature. Throws PASSKEY_REQUIRED for a person without an
 * active passkey.
 */
export async function askToSign(
  { listLiving }: Pick<PasskeyDeps, 'listLiving'>,
  { tenant, principal, challenge, party }: Question,
) {
  const active = (await listLiving({ tenant, principal })).filter((row) => stateOf(row) === 'active');
  if (active.length === 0)
    throw new AppError('PASSKEY_REQUIRED', 'You have no active passkey in this workspace. Register one first');
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: new Uint8Array(decodeBase64Url(challenge)),
    allowCredentials: active.map((row) => ({ id: row.id, transports: [...row.transports] })),
    timeout: challengeMs,
    userVerification: 'required',
  });
  return wireOptions(options);
}

/** Removes the library's undefined members, which JSON does not have. */
export function wireOptions(options: object): Record<string, PlainJson> {
  return definedMembers(options);
}
