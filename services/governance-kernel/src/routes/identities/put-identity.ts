import { putIdentity } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { requireAgentName } from '../../controls/identities/agent-name.ts';
import * as change from '../../controls/identities/change-identities.ts';
import { kindIn } from '../../controls/identities/identities.ts';
import { showIdentity } from '../../store/identity-store.ts';

export const putIdentityRoute = (kernel: Context) =>
  handleTenant(putIdentity)(async ({ params: { directory, principal }, body, caller }) => {
    const key = { tenant: caller.tenant, kind: kindIn(directory), principal };
    if (key.kind === 'agent') requireAgentName(principal);
    await change.putIdentity(kernel, key, { by: caller, displayName: body.display_name });
    return await showIdentity(kernel.reader, key);
  });
