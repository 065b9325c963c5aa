import { revokeMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { revokeNamed } from '../../doors/server-registry/registry-desk.ts';

/** Revokes a server for every kernel, from the next decision on. */
export const revokeMcpServerRoute = ({ registryDesk }: Context) =>
  handleSystem(revokeMcpServer)(({ params, body: { tenant_id: tenant, reason }, caller }) =>
    revokeNamed(registryDesk, { tenant, by: caller.principal, serverId: params.server_id, reason }),
  );
