import { revokeOwnPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { revokePasskey } from '../../controls/passkeys/change-passkey.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';

export const revokeOwnPasskeyRoute = ({ passkeys }: Context) =>
  handleSystem(revokeOwnPasskey)(async ({ params: { tenant, credential_id: id }, body: { principal_id: principal } }) =>
    passkeyView(await revokePasskey(passkeys, { tenant, principal, id, by: principal })),
  );
