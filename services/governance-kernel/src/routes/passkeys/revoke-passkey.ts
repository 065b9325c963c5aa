import { revokePasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as change from '../../controls/passkeys/change-passkey.ts';
import { requireOwner } from '../../controls/passkeys/owner.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';

export const revokePasskeyRoute = ({ passkeys }: Context) =>
  handleTenant(revokePasskey)(async ({ params: { principal, credential_id: id }, caller }) => {
    requireOwner(caller, principal);
    const { tenant, principal: by } = caller;
    return passkeyView(await change.revokePasskey(passkeys, { tenant, principal, id, by }));
  });
