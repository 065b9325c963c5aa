import { verifyPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { endEnrolment } from '../passkeys/enrol-passkey.ts';
import { requireOwner } from '../passkeys/owner.ts';
import { passkeyView } from '../passkeys/passkey-view.ts';
import { passkeysAt } from '../passkeys/relying-party.ts';

export const verifyPasskeyRoute = ({ passkeys }: Context) =>
  handleTenant(verifyPasskey)(async ({ params: { principal }, body: { attestation }, caller }) => {
    requireOwner(caller, principal);
    const owner = { tenant: caller.tenant, principal };
    return passkeyView(await endEnrolment(passkeysAt(passkeys, caller), { owner, by: caller.principal, attestation }));
  });
