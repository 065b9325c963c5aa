import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import { ownSession } from '../ledger/own-sessions.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { mcpServers, serverKey, type McpServerRow } from '../registry/mcp-servers.ts';

type Revoking = { tenant: TenantId; serverId: string; by: PrincipalId; reason: string };

/** Revokes a server of the tenant or of the installation and seals that, or confirms it. Throws NOT_FOUND. */
export function revokeServer(parts: SettingParts, revoking: Revoking): Promise<McpServerRow> {
  return submitRevocation(parts, revoking, ({ installed, own }) => {
    const server = installed ?? own;
    if (server === undefined) throw notFound();
    return { server, isDone: server.state === 'revoked' };
  });
}

/**
 * Revokes a server of the tenant and seals that, also where it is revoked: a request for its approval that was made
 * since then ends too. Throws NOT_FOUND, and ILLEGAL_TRANSITION for a server of the installation.
 */
export function disableServer(parts: SettingParts, revoking: Revoking): Promise<McpServerRow> {
  return submitRevocation(parts, revoking, ({ installed, own }) => {
    if (installed !== undefined)
      throw new AppError(
        'ILLEGAL_TRANSITION',
        'The installation declares this server for all workspaces. Its operator revokes it with the operator key',
      );
    if (own === undefined) throw notFound();
    return { server: own, isDone: false };
  });
}

type Known = { installed: McpServerRow | undefined; own: McpServerRow | undefined };
type Chosen = { server: McpServerRow; isDone: boolean };

async function submitRevocation(
  parts: SettingParts,
  revoking: Revoking,
  choose: (known: Known) => Chosen,
): Promise<McpServerRow> {
  const { tenant } = revoking;
  const nowMs = parts.clock().getTime();
  const chain = { tenant, session: ownSession('mcp-registry') };
  return await parts.ledger.submit({
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
      const said = { ...chain, by, nowMs, kind: 'registry', action: 'mcp.server.revoke', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(mcpServers, row)] }));
      return () => row;
    },
  });
}

function knownIn(batch: LedgerBatch, { tenant, serverId }: Revoking): Known {
  return {
    installed: batch.rows(mcpServers, '').find(({ key }) => key === serverId),
    own: batch.rows(mcpServers, tenant).find(({ key }) => key === serverKey(tenant, serverId)),
  };
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such MCP server');
}
