import { putAuthProfile } from '@countersign/contracts/governance-kernel';
import { profileView } from '../auth-profiles/profile-view.ts';
import { putProfile } from '../auth-profiles/put-profile.ts';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';

/** Sets which scopes calls of MCP servers need. */
export const putAuthProfileRoute = (kernel: Context) =>
  handleSystem(putAuthProfile)(async ({ params, body: { tenant_id: tenant, ...terms }, caller }) =>
    profileView(
      kernel.provider,
      await putProfile(kernel, { tenant, id: params.profile_id, by: caller.principal, terms }),
    ),
  );
