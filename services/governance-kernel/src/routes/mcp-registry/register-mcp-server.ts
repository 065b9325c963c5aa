import { registerMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { findingsOf } from '../../doors/server-registry/scan-servers.ts';
import { addServers } from '../../doors/server-registry/registry-desk.ts';

/** Adds the servers of a document to the caller's tenant. Each must be approved before it is trusted. */
export const registerMcpServerRoute = ({ registryDesk }: Context) =>
  handleTenant(registerMcpServer)(async ({ body, caller }) => {
    const { tenant, principal: by } = caller;
    const added = await addServers(registryDesk, { tenant, by, document: body });
    const servers = added.map(async ({ look, ...server }) => {
      const findings = await findingsOf(registryDesk, tenant, { config: server, look });
      return { ...server, findings };
    });
    return { servers: await Promise.all(servers) };
  });
