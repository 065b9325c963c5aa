import { vouchForPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';
import { endVoucher } from '../../controls/passkeys/vouch.ts';
import { passkeysAt } from '../../controls/passkeys/relying-party.ts';
import { awaitMembers } from '../../store/member-store.ts';

export const vouchForPasskeyRoute = ({ passkeys, reader }: Context) =>
  handleTenant(vouchForPasskey)(async ({ params: { principal, credential_id: id }, body: { assertion }, caller }) => {
    const { tenant, principal: by, assertion: asserted = null } = caller;
    await awaitMembers(reader, caller);
    const voucher = { tenant, by, asserted, principal, id, assertion };
    return passkeyView(await endVoucher(passkeysAt(passkeys, caller), voucher));
  });
