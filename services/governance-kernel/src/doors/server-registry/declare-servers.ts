import { canonicalize, definedMembers } from '@countersign/crypto';
import { type Digest, type PlainJson, PrincipalId, type TenantId } from '@countersign/contracts';
import { argsHash, receiptIdOf } from '@countersign/receipts';
import type { Hasher } from '../../call/normalise.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession, systemTenant } from '../../ledger/own-sessions.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import { mcpServers, type McpServerRow } from '../../registry/mcp-servers.ts';
import { describeConfig } from './describe-config.ts';

type DeclareDeps = SettingDeps & { hasher: Hasher };

/** The author of the configuration. */
export const operator = PrincipalId.parse('operator');

type Declaration = Pick<McpServerRow, 'transport' | 'config'> & { serverId: string; configHash: Digest };

/**
 * Approves the servers that the operator declares and that are unknown, and seals each declaration that is new or
 * changed. If the address or command changed, the pins end, and the first list of the server is pinned again. The state
 * of a known server never changes. Several kernels may do this at once.
 */
export async function declareServers(deps: DeclareDeps, configs: readonly McpServerConfig[]): Promise<void> {
  if (configs.length === 0) return;
  const declarations = configs.map((config) => declarationOf(deps.hasher, config));
  const chain = { tenant: systemTenant, session: ownSession('mcp-registry') };
  const beganMs = deps.clock().getTime();
  await deps.ledger.submit({
    chain,
    wants: [wanted(mcpServers, '')],
    conclude: (batch) => {
      const existing = new Map(batch.rows(mcpServers, '').map((row) => [row.key, row]));
      for (const declaration of declarations) {
        const row = existing.get(declaration.serverId) ?? null;
        if (row !== null && isDeclared(row, declaration)) continue;
        sealDeclaration(deps, { batch, chain, declaration, row, nowMs: batch.issuedMs(chain, beganMs) });
      }
      return () => undefined;
    },
  });
}

/** The hash covers the whole configuration with its secrets. The registry shows the configuration without them. */
export function declarationOf(hasher: Hasher, config: McpServerConfig): Declaration {
  const { server_id: serverId, transport } = config;
  const configHash = argsHash(hasher.provider, hasher.saltOf(systemTenant), definedMembers(config));
  return { serverId, transport, configHash, config: describeConfig(hasher, systemTenant, config) };
}

function isDeclared(row: McpServerRow, { transport, configHash, config }: Declaration): boolean {
  // The hash alone is not enough: a kernel of an earlier version changes the configuration, but not the hash.
  return row.configHash === configHash && row.transport === transport && sameJson(row.config, config);
}

/** The members of a shown configuration that identify a server. Credentials are not among them. */
const identifying = ['url', 'address_digest', 'command', 'command_digest'];

/** Whether the declaration names another server than the known one. Rows of the first versions have no hash. */
function isOther(row: McpServerRow, { transport, configHash, config }: Declaration): boolean {
  if (row.configHash === null || row.configHash === configHash) return false;
  return row.transport !== transport || identifying.some((member) => row.config[member] !== config[member]);
}

function sameJson(left: Record<string, PlainJson>, right: Record<string, PlainJson>): boolean {
  return canonicalize(left) === canonicalize(right);
}

type Declaring = {
  batch: LedgerBatch;
  chain: { tenant: TenantId; session: ReturnType<typeof ownSession> };
  declaration: Declaration;
  row: McpServerRow | null;
  nowMs: number;
};

function sealDeclaration(deps: DeclareDeps, { batch, chain, declaration, row, nowMs }: Declaring): void {
  const { serverId, transport, config, configHash } = declaration;
  const state = row?.state ?? 'approved';
  const endsPins = row !== null && isOther(row, declaration);
  const awaitsFirstList = row === null || endsPins || row.firstListedAtMs === null;
  const setting = {
    ...{ server_id: serverId, state, transport, config, config_hash: configHash },
    ...{ awaits_first_list: awaitsFirstList, ends_pins: endsPins },
  };
  const statement = settingStatement(deps, {
    ...{ ...chain, by: operator, nowMs, setting },
    ...{ kind: 'registry', action: 'mcp.server.declare', resource: `mcp_server:${serverId}` },
  });
  // An approval keeps its receipt, unless it was for another server. An approval without a receipt, from before
  // declarations were sealed, gets this receipt.
  const isApproval = state === 'approved' && (endsPins || (row?.approvalReceiptId ?? null) === null);
  const approval = { approvedBy: operator, approvedAtMs: nowMs, approvalReceiptId: receiptIdOf(statement.ulid) };
  const declared: McpServerRow = {
    ...(row ?? unknownServer(serverId, nowMs)),
    ...{ transport, config, configHash, state, registeredBy: operator, updatedAtMs: nowMs },
    ...(isApproval ? approval : {}),
    firstListedAtMs: awaitsFirstList ? null : row.firstListedAtMs,
    pinsFirstList: true,
    ...(endsPins ? { endsPins } : {}),
  };
  batch.seal(statement, () => ({ changes: [put(mcpServers, declared)] }));
}

function unknownServer(serverId: string, nowMs: number) {
  return {
    ...{ key: serverId, name: serverId, tenant: null, createdAtMs: nowMs },
    ...{ reason: null, approvedBy: null, approvedAtMs: null, approvalReceiptId: null },
    ...{ expiresAtMs: null, revokedBy: null, revokedAtMs: null, firstListedAtMs: null, replacedAtMs: null },
  };
}
