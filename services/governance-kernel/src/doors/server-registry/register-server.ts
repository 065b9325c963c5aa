import { AppError, type Digest, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import { argsHash } from '@countersign/receipts';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import type { Hasher } from '../../call/normalise.ts';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import { mcpServers, serverKey, type McpServerRow } from '../../registry/mcp-servers.ts';

/** The limit of servers per tenant. All of them are on one page, and each may have a connection. */
const tenantServersMax = 50;

export type RegisterDeps = SettingDeps & { hasher: Hasher; argsCipher: ArgsCipher };

type Registered = {
  tenant: TenantId;
  by: PrincipalId;
  serverId: string;
  transport: McpServerRow['transport'];
  /** The whole configuration, including secrets. */
  config: Record<string, PlainJson>;
  /** The part that operators see. */
  shown: Record<string, PlainJson>;
  /** Whether the tools of the server were just listed. */
  isListed: boolean;
  /** Whether another server gets a known name. */
  isOther: boolean;
};

/**
 * Adds a server to a tenant and seals the change, or confirms a known server. A changed configuration ends the
 * approval, which was for the earlier configuration. A revoked server stays revoked. Throws LIMIT_REACHED, and
 * ALREADY_EXISTS for a new server with the name of a server of the installation.
 */
export async function registerServer(deps: RegisterDeps, server: Registered): Promise<McpServerRow> {
  const { tenant, by, serverId, config } = server;
  const key = serverKey(tenant, serverId);
  const { provider, saltOf } = deps.hasher;
  const configHash = argsHash(provider, saltOf(tenant), config);
  const sealedConfig = deps.argsCipher.encrypt({ tenant, id: key, argsHash: configHash }, config);
  const nowMs = deps.clock().getTime();
  const chain = { tenant, session: ownSession('mcp-registry') };
  return await deps.ledger.submit({
    chain,
    wants: [wanted(mcpServers, tenant), wanted(mcpServers, '')],
    conclude: (batch) => {
      const own = batch.rows(mcpServers, tenant);
      const existing = own.find((row) => row.key === key) ?? null;
      // A server of the tenant keeps its name if the operator declares another server under it later.
      if (existing === null && batch.rows(mcpServers, '').some((row) => row.key === serverId))
        throw new AppError('ALREADY_EXISTS', `The installation has a server named "${serverId}"`, {
          param: 'server_id',
        });
      if (existing === null && own.length >= tenantServersMax)
        throw new AppError('LIMIT_REACHED', `A tenant has ${tenantServersMax} MCP servers at most`);
      const state = stateAfter(existing, { configHash, isListed: server.isListed });
      if (existing !== null && existing.configHash === configHash && existing.state === state) return () => existing;
      const row = rowAfter(existing, { ...server, key, configHash, state, nowMs });
      const setting = {
        server_id: serverId,
        state,
        transport: row.transport,
        config: row.config,
        config_hash: configHash,
      };
      const resource = `mcp_server:${serverId}`;
      const statement = {
        ...chain,
        by,
        nowMs,
        kind: 'registry',
        action: 'mcp.server.register',
        resource,
        setting,
      } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(mcpServers, { ...row, sealedConfig })] }));
      return () => row;
    },
  });
}

type Looked = { configHash: Digest; isListed: boolean };

function stateAfter(mcpServer: McpServerRow | null, { configHash, isListed }: Looked): McpServerRow['state'] {
  if (mcpServer?.state === 'revoked') return 'revoked';
  if (mcpServer?.state === 'approved' && mcpServer.configHash === configHash) return 'approved';
  if (mcpServer?.state === 'quarantined' && mcpServer.configHash === configHash) return 'quarantined';
  return isListed ? 'quarantined' : 'discovered';
}

type Changed = Registered & { key: string; configHash: Digest; state: McpServerRow['state']; nowMs: number };

function rowAfter(mcpServer: McpServerRow | null, changed: Changed): McpServerRow {
  const { key, serverId: name, tenant, transport, shown: config, configHash, state, by, nowMs } = changed;
  const fresh = { key, name, tenant, ...neverDecided, createdAtMs: nowMs, firstListedAtMs: nowMs, replacedAtMs: null };
  const isSame = mcpServer?.configHash === configHash;
  const decided = mcpServer === null || isSame || mcpServer.state === 'revoked' ? {} : neverDecided;
  return {
    ...(mcpServer ?? fresh),
    ...decided,
    transport,
    config,
    configHash,
    state,
    registeredBy: by,
    updatedAtMs: nowMs,
    ...(changed.isOther ? { replacedAtMs: nowMs } : {}),
  };
}

const neverDecided = {
  reason: null,
  approvedBy: null,
  approvedAtMs: null,
  approvalReceiptId: null,
  expiresAtMs: null,
  revokedBy: null,
  revokedAtMs: null,
} as const;
