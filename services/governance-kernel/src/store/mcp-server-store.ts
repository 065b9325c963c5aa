import { Digest, EffectLevel, PlainObject, type TenantId } from '@countersign/contracts';
import { HiddenTool } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { McpServer as ServerModel } from '../generated/prisma/client.ts';
import type { ArgsCipher } from '../approvals/args-cipher.ts';
import { McpServerConfig } from '../mcp/server-config.ts';
import type { StoredServer } from '../mcp/tenant-servers.ts';
import { mcpServers } from '../registry/mcp-servers.ts';
import type { StoredTool } from '../registry/server-view.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

/** The servers of a tenant and of the installation, by key. */
export async function loadServers(reader: Reader, cipher: ArgsCipher, tenant: TenantId): Promise<StoredServer[]> {
  const where = { OR: [{ tenant_id: tenant }, { tenant_id: null }] };
  const found = await reader.mcpServer.findMany({ where, orderBy: { server_id: 'asc' } });
  return found.map((model) => ({ row: mcpServers.rowOf(asStored(model)), config: configOf(cipher, model) }));
}

function configOf(cipher: ArgsCipher, { sealed_config: sealed, ...model }: ServerModel): McpServerConfig | null {
  const { tenant, key, configHash } = mcpServers.rowOf(asStored(model));
  if (sealed === null || tenant === null || configHash === null) return null;
  return McpServerConfig.safeParse(cipher.decrypt({ tenant, id: key, argsHash: configHash }, sealed)).data ?? null;
}

/** Everything that the registry holds of one server's tools, by name. */
export async function findServerTools(reader: Reader, key: string): Promise<StoredTool[]> {
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

export async function findHiddenTools(reader: Reader, key: string): Promise<HiddenTool[]> {
  const row = await reader.mcpServer.findUnique({ where: { server_id: key }, select: { hidden: true } });
  return z.array(HiddenTool).parse(row?.hidden ?? []);
}

const Definition = PlainObject;
