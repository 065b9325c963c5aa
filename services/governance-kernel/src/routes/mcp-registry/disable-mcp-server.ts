import { disableMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { disableOwn } from '../../doors/server-registry/registry-desk.ts';

/** Revokes a server of the caller's tenant for every kernel, from the next decision on. */
export const disableMcpServerRoute = ({ registryDesk }: Context) =>
  handleTenant(disableMcpServer)(({ params, body: { reason }, caller }) =>
    disableOwn(registryDesk, { tenant: caller.tenant, by: caller.principal, serverId: params.server_id, reason }),
  );
