import { listPasskeys } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { passkeyView } from '../../controls/passkeys/passkey-view.ts';
import * as store from '../../store/passkey-store.ts';

/** Every caller of the tenant may list a person's passkeys, in order to check a passkey before confirming it. */
export const listPasskeysRoute = ({ reader }: Context) =>
  handleTenant(listPasskeys)(({ params: { principal }, query, caller: { tenant } }) =>
    store.listPasskeys(reader, { tenant, principal }, { page: query, item: passkeyView }),
  );
