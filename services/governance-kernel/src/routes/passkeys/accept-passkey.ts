import { acceptPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import * as change from '../../controls/passkeys/change-passkey.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';

export const acceptPasskeyRoute = ({ passkeys }: Context) =>
  handleSystem(acceptPasskey)(async ({ params: { tenant, credential_id: id }, body: { reason, accepted_by: by } }) =>
    passkeyView(await change.acceptPasskey(passkeys, { tenant, id, by, reason })),
  );
