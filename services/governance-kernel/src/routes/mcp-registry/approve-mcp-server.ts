import {
  approveMcpServer,
  approveNamedMcpServer,
  type McpServerDetail,
} from '@countersign/contracts/governance-kernel';
import type { PrincipalId } from '@countersign/contracts';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { approveListed } from '../../doors/server-registry/registry-desk.ts';

/** Approves the current tools of a server, with an approval of exactly these tools. */
export const approveMcpServerRoute = ({ registryDesk }: Context) =>
  handleSystem(approveMcpServer)(({ params, body, caller }) =>
    approve(registryDesk, caller.principal, { ...params, ...body }),
  );

export const approveNamedMcpServerRoute = ({ registryDesk }: Context) =>
  handleSystem(approveNamedMcpServer)(({ body, caller }) => approve(registryDesk, caller.principal, body));

type Named = z.infer<NonNullable<typeof approveNamedMcpServer.body>>;

function approve(desk: Context['registryDesk'], by: PrincipalId, named: Named): Promise<McpServerDetail> {
  const { tenant_id: tenant, server_id: serverId, approval_receipt_id: receipt } = named;
  const { definitions_hash: definitionsHash, expires_at: expiresAt } = named;
  return approveListed(desk, { tenant, by, serverId, receipt, definitionsHash, expiresAt });
}
