import { vouchForPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { passkeyView } from '../passkeys/passkey-view.ts';
import { endVoucher } from '../passkeys/vouch.ts';
import { passkeysAt } from '../passkeys/relying-party.ts';

export const vouchForPasskeyRoute = ({ passkeys }: Context) =>
  handleTenant(vouchForPasskey)(async ({ params: { principal, credential_id: id }, body: { assertion }, caller }) => {
    const { tenant, principal: by } = caller;
    return passkeyView(await endVoucher(passkeysAt(passkeys, caller), { tenant, by, principal, id, assertion }));
  });
