import { listAuthProfiles } from '@countersign/contracts/governance-kernel';
import { profileView } from '../../controls/auth-profiles/profile-view.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { listProfiles } from '../../store/auth-profile-store.ts';

export const listAuthProfilesRoute = ({ reader, provider }: Context) =>
  handleSystem(listAuthProfiles)(
    async ({ query: { tenant_id: tenant, ...page } }) =>
      await listProfiles(reader, tenant, { page, item: (row) => profileView(provider, row) }),
  );
