import { compareMcpServerAddress } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { compareAddress } from '../../doors/server-registry/registry-desk.ts';
import { shownTo } from '../../doors/server-registry/server-view.ts';

export const compareMcpServerAddressRoute = ({ registryDesk }: Context) =>
  handleTenant(compareMcpServerAddress)(async ({ params: { server_id: serverId }, body: { url }, caller }) =>
    shownTo(caller, await compareAddress(registryDesk, { tenant: caller.tenant, serverId, url })),
  );
