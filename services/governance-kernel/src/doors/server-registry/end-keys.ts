import type { AccessKeyId, PrincipalId, TenantId } from '@countersign/contracts';
import { canonicalize, definedMembers } from '@countersign/crypto';
import { revokeKey, type KeyDeps } from '../../controls/access-keys/change-keys.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import type { StoredServer } from '../mcp/tenant-servers.ts';
import type { McpServerRow } from '../../registry/mcp-servers.ts';
import { isSameAddress } from './describe-config.ts';

/** `until` is the latest creation of the keys. `null` for keys of any age. */
export type KeysQuery = { serverId: string; now: Date; until: Date | null };

export type EndKeysDeps = KeyDeps & {
  /** Keys that are neither revoked nor expired, and whose list of tools contains a tool of this server. */
  listKeysForServer(tenant: TenantId, query: KeysQuery): Promise<AccessKeyId[]>;
};

type NamedServer = { tenant: TenantId; by: PrincipalId; serverId: string };

/**
 * Revokes the keys for tools of a server whose name a different server gets. A key lists tools by name, and its creator
 * meant the tools of the earlier server.
 */
export async function endKeysForServer(
  deps: EndKeysDeps,
  { tenant, by, serverId, until = null }: NamedServer & { until?: Date | null },
): Promise<void> {
  const caller = { tenant, principal: by, scopes: [] };
  for (const id of await deps.listKeysForServer(tenant, { serverId, now: deps.clock(), until }))
    await revokeKey(deps, caller, id);
}

type Replaced = { by: PrincipalId; row: Pick<McpServerRow, 'tenant' | 'name' | 'replacedAtMs'> };

/**
 * Ends the keys from before another server got the name. The request that changed the server also ends them, unless its
 * kernel was killed after the change.
 */
export async function endReplacedKeys(deps: EndKeysDeps, { by, row }: Replaced): Promise<void> {
  const { tenant, name: serverId, replacedAtMs } = row;
  if (tenant === null || replacedAtMs === null) return;
  await endKeysForServer(deps, { tenant, by, serverId, until: new Date(replacedAtMs) });
}

/**
 * Whether two configurations describe the same server. At the same address, a server may get other credentials. Any
 * change to a command makes it another server, since the registry does not show its arguments. A configuration that
 * cannot be decrypted describes another server.
 */
export function isSameServer({ config: before }: Pick<StoredServer, 'config'>, after: McpServerConfig): boolean {
  if (before === null) return false;
  if (before.transport === 'http' && after.transport === 'http') return isSameAddress(before.url, after.url);
  return canonicalText(before) === canonicalText(after);
}

function canonicalText(config: McpServerConfig): string {
  return canonicalize(definedMembers(config));
}
