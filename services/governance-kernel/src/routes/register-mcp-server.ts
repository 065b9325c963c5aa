import { registerMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { findingsOf } from '../server-registry/scan-servers.ts';
import { addServers } from '../server-registry/registry-desk.ts';

/** Adds the servers of a document to the caller's tenant. None is trusted before it is approved. */
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
