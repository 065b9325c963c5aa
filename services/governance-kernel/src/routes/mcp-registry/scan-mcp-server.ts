import { scanMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { scanDocument, scanNamed } from '../../doors/server-registry/scan-servers.ts';

/** Reports possible problems of servers' tools, for the operator who approves them. */
export const scanMcpServerRoute = ({ registryDesk }: Context) =>
  handleTenant(scanMcpServer)(async ({ body, caller: { tenant } }) => {
    const { server_id: serverId, ...document } = body;
    if (serverId !== undefined && Object.keys(document).length === 0)
      return { reports: [await scanNamed(registryDesk, tenant, serverId)] };
    return { reports: await scanDocument(registryDesk, tenant, body) };
  });
