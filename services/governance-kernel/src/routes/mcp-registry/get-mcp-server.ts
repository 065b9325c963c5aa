import { getMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { getServer } from '../../doors/server-registry/registry-desk.ts';
import { shownTo } from '../../doors/server-registry/server-view.ts';

export const getMcpServerRoute = ({ registryDesk }: Context) =>
  handleTenant(getMcpServer)(async ({ params, caller }) =>
    shownTo(caller, await getServer(registryDesk, caller.tenant, params.server_id)),
  );
