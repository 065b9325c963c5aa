import { registerMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { addServers } from '../server-registry/registry-desk.ts';

/** Adds the servers of a document to the caller's tenant. None is trusted before it is approved. */
export const registerMcpServerRoute = ({ registryDesk }: Context) =>
  handleTenant(registerMcpServer)(async ({ body, caller }) => {
    const { tenant, principal: by } = caller;
    const added = await addServers(registryDesk, { tenant, by, document: body });
    return { servers: added.map(({ look: _look, ...server }) => ({ ...server, findings: [] })) };
  });
