import { AppError, type Digest, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import { argsHash } from '@countersign/receipts';
import type { ArgsCipher } from '../approvals/args-cipher.ts';
import type { Hasher } from '../call/normalise.ts';
import { put, wanted } from '../ledger/control.ts';
import { ownSession } from '../ledger/own-sessions.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { mcpServers, serverKey, type McpServerRow } from '../registry/mcp-servers.ts';

/** An operator reads all of them on one page, and each of them may have a connection. */
const tenantServersMax = 50;

export type RegisterParts = SettingParts & { hasher: Hasher; argsCipher: ArgsCipher };

type Registered = {
  tenant: TenantId;
  by: PrincipalId;
  serverId: string;
  transport: McpServerRow['transport'];
  /** Whole, with its secrets. */
  config: Record<string, PlainJson>;
  /** The operators' view of it. */
  shown: Record<string, PlainJson>;
  /** Its tools were listed just now. */
  isListed: boolean;
};

/**
 * Adds a server to a tenant and seals that, or confirms one that is known. Another configuration ends an approval, since that was of another
 * server. A revoked server stays revoked. Throws ALREADY_EXISTS for a name of the installation, and LIMIT_REACHED.
 */
export async function registerServer(parts: RegisterParts, server: Registered): Promise<McpServerRow> {
  const { tenant, by, serverId, config } = server;
  const key = serverKey(tenant, serverId);
  const { provider, saltOf } = parts.hasher;
  const configHash = argsHash(provider, saltOf(tenant), config);
  const sealedConfig = parts.argsCipher.encrypt({ tenant, id: key, argsHash: configHash }, config);
  const nowMs = parts.clock().getTime();
  const chain = { tenant, session: ownSession('mcp-registry') };
  return await parts.ledger.submit({
    chain,
    wants: [wanted(mcpServers, tenant), wanted(mcpServers, '')],
    conclude: (batch) => {
      const own = batch.rows(mcpServers, tenant);
      const known = own.find((row) => row.key === key) ?? null;
      if (batch.rows(mcpServers, '').some((row) => row.key === serverId))
        throw new AppError('ALREADY_EXISTS', `The installation has a server named "${serverId}"`, {
          param: 'server_id',
        });
      if (known === null && own.length >= tenantServersMax)
        throw new AppError('LIMIT_REACHED', `A tenant has ${tenantServersMax} MCP servers at most`);
      const state = stateAfter(known, { configHash, isListed: server.isListed });
      if (known !== null && known.configHash === configHash && known.state === state) return () => known;
      const row = rowAfter(known, { ...server, key, configHash, state, nowMs });
      const setting = {
        server_id: serverId,
        state,
        transport: row.transport,
        config: row.config,
        config_hash: configHash,
      };
      const resource = `mcp_server:${serverId}`;
      const said = { ...chain, by, nowMs, kind: 'registry', action: 'mcp.server.register', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(mcpServers, { ...row, sealedConfig })] }));
      return () => row;
    },
  });
}

type Looked = { configHash: Digest; isListed: boolean };

function stateAfter(known: McpServerRow | null, { configHash, isListed }: Looked): McpServerRow['state'] {
  if (known?.state === 'revoked') return 'revoked';
  if (known?.state === 'approved' && known.configHash === configHash) return 'approved';
  if (known?.state === 'quarantined' && known.configHash === configHash) return 'quarantined';
  return isListed ? 'quarantined' : 'discovered';
}

type Changed = Registered & { key: string; configHash: Digest; state: McpServerRow['state']; nowMs: number };

function rowAfter(known: McpServerRow | null, changed: Changed): McpServerRow {
  const { key, serverId: name, tenant, transport, shown: config, configHash, state, by, nowMs } = changed;
  const fresh = { key, name, tenant, ...neverDecided, createdAtMs: nowMs };
  const isSame = known?.configHash === configHash;
  const decided = known === null || isSame || known.state === 'revoked' ? {} : neverDecided;
  return {
    ...(known ?? fresh),
    ...decided,
    transport,
    config,
    configHash,
    state,
    registeredBy: by,
    updatedAtMs: nowMs,
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
