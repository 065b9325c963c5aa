import { verifyPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { endEnrolment } from '../../controls/passkeys/enrol-passkey.ts';
import { requireOwner } from '../../controls/passkeys/owner.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';
import { passkeysAt } from '../../controls/passkeys/relying-party.ts';
import { awaitMembers } from '../../store/member-store.ts';

export const verifyPasskeyRoute = ({ passkeys, reader }: Context) =>
  handleTenant(verifyPasskey)(async ({ params: { principal }, body: { attestation }, caller }) => {
    await awaitMembers(reader, caller);
    requireOwner(caller, principal);
    const owner = { tenant: caller.tenant, principal };
    const asserted = caller.assertion ?? null;
    const made = { owner, by: caller.principal, asserted, attestation };
    return passkeyView(await endEnrolment(passkeysAt(passkeys, caller), made));
  });
