import { revokeIdentity } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as change from '../../controls/identities/change-identities.ts';
import { kindIn } from '../../controls/identities/identities.ts';
import { showIdentity } from '../../store/identity-store.ts';

/** Revokes an identity. The commit precedes the answer, so after the answer, no kernel decides under the identity. */
export const revokeIdentityRoute = (kernel: Context) =>
  handleTenant(revokeIdentity)(async ({ params: { directory, principal }, caller }) => {
    const key = { tenant: caller.tenant, kind: kindIn(directory), principal };
    await change.revokeIdentity(kernel, key, caller);
    return await showIdentity(kernel.reader, key);
  });
