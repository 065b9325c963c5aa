import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import { put, wanted } from '../ledger/control.ts';
import { ownSession } from '../ledger/own-sessions.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { mcpServers, serverKey, type McpServerRow } from '../registry/mcp-servers.ts';

type Revoking = { tenant: TenantId; serverId: string; by: PrincipalId; reason: string };

/** Revokes a server of the tenant or of the installation and seals that, or confirms it. Throws NOT_FOUND. */
export async function revokeServer(
  parts: SettingParts,
  { tenant, serverId, by, reason }: Revoking,
): Promise<McpServerRow> {
  const nowMs = parts.clock().getTime();
  const chain = { tenant, session: ownSession('mcp-registry') };
  return await parts.ledger.submit({
    chain,
    wants: [wanted(mcpServers, tenant), wanted(mcpServers, '')],
    conclude: (batch) => {
      const installed = batch.rows(mcpServers, '').find(({ key }) => key === serverId);
      const own = batch.rows(mcpServers, tenant).find(({ key }) => key === serverKey(tenant, serverId));
      const server = installed ?? own;
      if (server === undefined) throw new AppError('NOT_FOUND', 'There is no such MCP server');
      if (server.state === 'revoked') return () => server;
      const revoked = { state: 'revoked', reason, revokedBy: by, revokedAtMs: nowMs, updatedAtMs: nowMs } as const;
      const row: McpServerRow = { ...server, ...revoked };
      const setting = { server_id: serverId, state: 'revoked', reason };
      const resource = `mcp_server:${serverId}`;
      const said = { ...chain, by, nowMs, kind: 'registry', action: 'mcp.server.revoke', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(mcpServers, row)] }));
      return () => row;
    },
  });
}
