import { Digest, EffectLevel, PlainObject, type TenantId } from '@countersign/contracts';
import { HiddenTool } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { StoredServer } from '../mcp/tenant-servers.ts';
import { mcpServers, type McpServerRow } from '../registry/mcp-servers.ts';
import type { DeskParts } from '../server-registry/registry-desk.ts';
import type { StoredTool } from '../server-registry/server-view.ts';
import type { CryptoProvider } from '@countersign/crypto';
import { withGrants } from '../sandbox/with-grants.ts';
import { findGrants } from './sandbox-grant-store.ts';
import { findApprovalOf } from './approval-store.ts';
import type { Reader } from './database.ts';
import { findServerRequest } from './server-request-store.ts';
import { asStored } from './stored-row.ts';

type OpenConfig = (row: McpServerRow, sealed: string) => StoredServer['config'];

type LoaderParts = { open: OpenConfig; provider: CryptoProvider; clock: () => Date };

/**
 * Reads the servers of a tenant and of the installation, by key, with the grant of each. `open` reads the configuration of a tenant's server. Grants
 * are read behind the servers: a new grant changes its server.
 */
export function serverLoader(reader: Reader, { open, ...parts }: LoaderParts) {
  return async (tenant: TenantId): Promise<StoredServer[]> => {
    const where = { OR: [{ tenant_id: tenant }, { tenant_id: null }] };
    const found = await reader.mcpServer.findMany({ where, orderBy: { server_id: 'asc' } });
    const servers = found.map(({ sealed_config: sealed, ...model }) => {
      const row = mcpServers.rowOf(asStored(model));
      return { row, config: sealed === null ? null : open(row, sealed) };
    });
    return withGrants(parts, servers, await findGrants(reader, tenant));
  };
}

/** The reads of operators of the registry. */
export function deskStore(
  reader: Reader,
): Pick<DeskParts, 'findTools' | 'findHidden' | 'findApprovalOf' | 'findRequest'> {
  return {
    findTools: (key) => findServerTools(reader, key),
    findHidden: (key) => findHiddenTools(reader, key),
    findApprovalOf: (tenant, receipt) => findApprovalOf(reader, tenant, receipt),
    findRequest: (tenant, asked) => findServerRequest(reader, tenant, asked),
  };
}

/** Everything that the registry holds of one server's tools, by name. */
async function findServerTools(reader: Reader, key: string): Promise<StoredTool[]> {
  const rows = await reader.mcpTool.findMany({ where: { server_id: key }, orderBy: { tool_name: 'asc' } });
  return rows.map((row) => ({
    name: row.tool_name,
    pinnedHash: Digest.nullable().parse(row.pinned_hash),
    observedHash: Digest.parse(row.current_hash),
    effectLevel: EffectLevel.parse(row.effect_level),
    definition: Definition.parse(row.definition),
    observed: Definition.nullable().parse(row.observed_definition),
    isGone: row.gone_at !== null,
  }));
}

async function findHiddenTools(reader: Reader, key: string): Promise<HiddenTool[]> {
  const row = await reader.mcpServer.findUnique({ where: { server_id: key }, select: { hidden: true } });
  return z.array(HiddenTool).parse(row?.hidden ?? []);
}

const Definition = PlainObject;
