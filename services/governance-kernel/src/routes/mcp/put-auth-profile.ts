import { putAuthProfile } from '@countersign/contracts/governance-kernel';
import { profileView } from '../../controls/auth-profiles/profile-view.ts';
import { putProfile } from '../../controls/auth-profiles/put-profile.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';

/** Sets the scopes that calls of MCP servers require. */
export const putAuthProfileRoute = (kernel: Context) =>
  handleSystem(putAuthProfile)(async ({ params, body: { tenant_id: tenant, ...terms }, caller }) =>
    profileView(
      kernel.provider,
      await putProfile(kernel, { tenant, id: params.profile_id, by: caller.principal, terms }),
    ),
  );
