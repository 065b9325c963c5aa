import { listSandboxProfiles } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

export const listSandboxProfilesRoute = ({ upstreams: { sandboxHost } }: Context) =>
  handleTenant(listSandboxProfiles)(async () => ({ profiles: await sandboxHost.profiles() }));
