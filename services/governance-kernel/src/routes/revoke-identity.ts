import { revokeIdentity } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import * as change from '../identities/change-identities.ts';
import { kindIn } from '../identities/identities.ts';
import { showIdentity } from '../store/identity-store.ts';

/** Committed before it is answered: no kernel decides under the identity afterwards. */
export const revokeIdentityRoute = (kernel: Context) =>
  handleTenant(revokeIdentity)(async ({ params: { directory, principal }, caller }) => {
    const key = { tenant: caller.tenant, kind: kindIn(directory), principal };
    await change.revokeIdentity(kernel, key, caller);
    return await showIdentity(kernel.reader, key);
  });
