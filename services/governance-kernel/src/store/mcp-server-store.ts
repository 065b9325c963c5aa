import { Digest, EffectLevel, PlainObject, type TenantId } from '@countersign/contracts';
import { HiddenTool } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { StoredServer } from '../doors/mcp/tenant-servers.ts';
import { mcpServers, type McpServerRow } from '../registry/mcp-servers.ts';
import type { DeskDeps } from '../doors/server-registry/registry-desk.ts';
import type { EndedPin } from '../doors/server-registry/seal-first-list.ts';
import type { StoredTool } from '../doors/server-registry/server-view.ts';
import type { CryptoProvider } from '@countersign/crypto';
import type { McpToolModel } from '../generated/prisma/models.ts';
import { withGrants } from '../controls/sandbox/with-grants.ts';
import { findGrants } from './sandbox-grant-store.ts';
import { findApprovalOf } from './approval-store.ts';
import { listKeysForServer } from './access-key-store.ts';
import type { Reader } from './database.ts';
import { findServerRequest, listOpenRequests } from './server-request-store.ts';
import { asStored } from './stored-row.ts';

type OpenConfig = (row: McpServerRow, sealed: string) => StoredServer['config'];

type LoaderDeps = { open: OpenConfig; provider: CryptoProvider; clock: () => Date };

/**
 * Reads the servers of a tenant and of the installation, by key, with the grant of each. `open` decrypts the
 * configuration of a tenant's server. Grants are read after the servers, since a new grant changes its server.
 */
export function serverLoader(reader: Reader, { open, ...segments }: LoaderDeps) {
  return async (tenant: TenantId): Promise<StoredServer[]> => {
    const where = { OR: [{ tenant_id: tenant }, { tenant_id: null }] };
    const found = await reader.mcpServer.findMany({ where, orderBy: { server_id: 'asc' } });
    const servers = found.map(({ sealed_config: sealed, ...model }) => {
      const row = mcpServers.rowOf(asStored(model));
      return { row, config: sealed === null ? null : open(row, sealed) };
    });
    return withGrants(segments, servers, await findGrants(reader, tenant));
  };
}

/** The reads for the operations on the registry. */
export function deskStore(
  reader: Reader,
): Pick<
  DeskDeps,
  'findTools' | 'findHidden' | 'findApprovalOf' | 'findRequest' | 'listOpenRequests' | 'listKeysForServer'
> {
  return {
    findTools: (key) => findServerTools(reader, key),
    findHidden: (key) => findHiddenTools(reader, key),
    findApprovalOf: (tenant, receipt) => findApprovalOf(reader, tenant, receipt),
    findRequest: (tenant, request) => findServerRequest(reader, tenant, request),
    listOpenRequests: (tenant, query) => listOpenRequests(reader, tenant, query),
    listKeysForServer: (tenant, query) => listKeysForServer(reader, tenant, query),
  };
}

/** All tools of one server in the registry, by name. */
async function findServerTools(reader: Reader, key: string): Promise<StoredTool[]> {
  const rows = await reader.mcpTool.findMany({ where: { server_id: key }, orderBy: { tool_name: 'asc' } });
  return rows.map((row) => ({
    name: row.tool_name,
    pinnedHash: Digest.nullable().parse(row.pinned_hash),
    observedHash: Digest.parse(row.current_hash),
    effectLevel: EffectLevel.parse(row.effect_level),
    definition: Definition.parse(row.definition),
    observed: Definition.nullable().parse(row.observed_definition),
    earlier: row.earlier_hash === null ? null : earlierPin(row),
    isGone: row.gone_at !== null,
  }));
}

function earlierPin({ earlier_hash: hash, earlier_definition: definition }: McpToolModel): StoredTool['earlier'] {
  return { hash: Digest.parse(hash), definition: Definition.parse(definition) };
}

/** The pins that a declaration ended. `null` for a server that does not await its first list. */
export async function findEndedPins(reader: Reader, key: string): Promise<EndedPin[] | null> {
  const select = { tenant_id: true, first_listed_at: true } as const;
  const server = await reader.mcpServer.findUnique({ where: { server_id: key }, select });
  if (server?.tenant_id !== null || server.first_listed_at !== null) return null;
  const where = { server_id: key, earlier_hash: { not: null } };
  const tools = await reader.mcpTool.findMany({ where, select: { tool_name: true, earlier_hash: true } });
  return tools.map(({ tool_name: name, earlier_hash: hash }) => ({ name, hash: Digest.parse(hash) }));
}

/** How many tenants have a server of their own under each of these names. Names without one are omitted. */
export async function countOwnServers(
  reader: Reader,
  names: readonly string[],
): Promise<{ name: string; tenants: number }[]> {
  const where = { name: { in: [...names] }, tenant_id: { not: null } };
  const found = await reader.mcpServer.groupBy({ by: ['name'], where, _count: true, orderBy: { name: 'asc' } });
  return found.map(({ name, _count: tenants }) => ({ name, tenants }));
}

async function findHiddenTools(reader: Reader, key: string): Promise<HiddenTool[]> {
  const row = await reader.mcpServer.findUnique({ where: { server_id: key }, select: { hidden: true } });
  return z.array(HiddenTool).parse(row?.hidden ?? []);
}

const Definition = PlainObject;
