import { listPasskeys } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { passkeyView } from '../passkeys/passkey-view.ts';
import * as store from '../store/passkey-store.ts';

/** A colleague sees them too, to check them before vouching. */
export const listPasskeysRoute = ({ reader }: Context) =>
  handleTenant(listPasskeys)(({ params: { principal }, query, caller: { tenant } }) =>
    store.listPasskeys(reader, { tenant, principal }, { page: query, item: passkeyView }),
  );
