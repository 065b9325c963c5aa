import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import { mcpServers, serverKey, type McpServerRow } from '../../registry/mcp-servers.ts';

type Revoking = { tenant: TenantId; serverId: string; by: PrincipalId; reason: string };

/**
 * Revokes a server of the tenant, or else of the installation, and seals the change, or confirms an earlier revocation. Throws
 * NOT_FOUND.
 */
export function revokeServer(deps: SettingDeps, revoking: Revoking): Promise<McpServerRow> {
  return submitRevocation(deps, revoking, ({ installed, own }) => {
    const server = own ?? installed;
    if (server === undefined) throw notFound();
    return { server, isDone: server.state === 'revoked' };
  });
}

/**
 * Revokes a server of the tenant and seals the revocation, even if the server is already revoked, so that newer
 * requests end too. Throws NOT_FOUND, and ILLEGAL_TRANSITION for a server of the installation.
 */
export function disableServer(deps: SettingDeps, revoking: Revoking): Promise<McpServerRow> {
  return submitRevocation(deps, revoking, ({ installed, own }) => {
    if (own !== undefined) return { server: own, isDone: false };
    if (installed === undefined) throw notFound();
    throw new AppError(
      'ILLEGAL_TRANSITION',
      'The installation declares this server for all workspaces. Its operator revokes it with the operator key',
    );
  });
}

type Basis = { installed: McpServerRow | undefined; own: McpServerRow | undefined };
type Chosen = { server: McpServerRow; isDone: boolean };

async function submitRevocation(
  deps: SettingDeps,
  revoking: Revoking,
  choose: (existing: Basis) => Chosen,
): Promise<McpServerRow> {
  const { tenant } = revoking;
  const nowMs = deps.clock().getTime();
  const chain = { tenant, session: ownSession('mcp-registry') };
  return await deps.ledger.submit({
    chain,
    wants: [wanted(mcpServers, tenant), wanted(mcpServers, '')],
    conclude: (batch) => {
      const { server, isDone } = choose(knownIn(batch, revoking));
      if (isDone) return () => server;
      const { serverId, by, reason } = revoking;
      const revoked = { state: 'revoked', reason, revokedBy: by, revokedAtMs: nowMs, updatedAtMs: nowMs } as const;
      const row: McpServerRow = { ...server, ...revoked };
      const setting = { server_id: serverId, state: 'revoked', reason };
      const resource = `mcp_server:${serverId}`;
      const statement = {
        ...chain,
        by,
        nowMs,
        kind: 'registry',
        action: 'mcp.server.revoke',
        resource,
        setting,
      } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(mcpServers, row)] }));
      return () => row;
    },
  });
}

function knownIn(batch: LedgerBatch, { tenant, serverId }: Revoking): Basis {
  return {
    installed: batch.rows(mcpServers, '').find(({ key }) => key === serverId),
    own: batch.rows(mcpServers, tenant).find(({ key }) => key === serverKey(tenant, serverId)),
  };
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'The tenant has no MCP server with this ID');
}
