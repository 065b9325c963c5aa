import { Digest, EffectLevel, Instant, TenantId } from '@countersign/contracts';
import {
  driftsPerServerMax,
  RegisteredTool,
  toldDefinitionBytesMax,
  type DriftedTool,
} from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { holdsOneOf } from '../controls/policy/block-tools.ts';
import { toolBlocks, type ToolBlocksRow } from '../controls/policy/tool-blocks.ts';
import type { Pinned } from '../registry/declared-effect.ts';
import { toolAddress, type ToolAddress } from '../registry/tool-definition.ts';
import type { Reader } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** Four bytes per character of the longest tool name in a call. Tools with longer names cannot be called. */
const nameBytesMax = 1_024;

/** Returns the effect level under which calls of the tool are decided. */
type EffectOf = (address: ToolAddress, pinned: Pinned) => EffectLevel;

/**
 * Tools of the servers of installation and tenant with their pins, by server key and name. A tenant's server hides the
 * server of the installation with the same name.
 */
export async function listRegisteredTools(
  reader: Reader,
  tenant: TenantId,
  { page, now, effectOf }: { page: PageRequest; now: Date; effectOf: EffectOf },
): Promise<Page<RegisteredTool>> {
  const { server, tool } = startOf(page);
  const [blocks, found] = await Promise.all([
    reader.toolBlocks.findUnique({ where: { tenant_id: tenant } }),
    reader.$queryRaw`
      SELECT t.server_id AS key, substr(t.server_id, strpos(t.server_id, '/') + 1) AS server_id, t.tool_name, t.effect_level, t.pinned_hash, t.current_hash,
             CASE WHEN s.state = 'approved' AND s.expires_at <= ${now} THEN 'expired' ELSE s.state END AS state,
             coalesce(t.definition #> '{annotations,destructiveHint}' = 'true', false) AS is_destructive,
             CASE WHEN octet_length(t.definition::text) <= ${toldDefinitionBytesMax} THEN t.definition END AS definition,
             CASE WHEN octet_length(t.observed_definition::text) <= ${toldDefinitionBytesMax}
                  THEN t.observed_definition END AS observed_definition
        FROM mcp_tools t JOIN mcp_servers s USING (server_id)
       WHERE (t.server_id, t.tool_name) > (${server}, ${tool}) AND octet_length(t.tool_name) <= ${nameBytesMax}
         AND (s.tenant_id = ${tenant}
              OR s.tenant_id IS NULL AND NOT EXISTS (SELECT FROM mcp_servers o WHERE o.server_id = ${`${tenant}/`} || s.name))
       ORDER BY t.server_id, t.tool_name LIMIT ${page.limit + 1}`,
  ]);
  const blocked = blocks === null ? null : toolBlocks.rowOf(asStored(blocks));
  return pageOf(Rows.parse(found), page.limit, { item: (row: Row) => toolView(row, blocked, effectOf), key: placeOf });
}

/**
 * Tools of approved servers whose definitions differ from the pinned ones, by server key and name. Lists at most
 * `driftsPerServerMax` tools for a server of a tenant.
 */
export async function listDriftedTools(reader: Reader, page: PageRequest, now: Date): Promise<Page<DriftedTool>> {
  const { server, tool } = startOf(page);
  const found = await reader.$queryRaw`
    SELECT key, substr(key, strpos(key, '/') + 1) AS server_id, tenant_id, tool_name, pinned_hash, current_hash, drifted_at
      FROM (SELECT t.server_id AS key, s.tenant_id, t.tool_name, t.pinned_hash, t.current_hash, t.drifted_at,
                   row_number() OVER (PARTITION BY t.server_id ORDER BY t.tool_name) AS nth
              FROM mcp_tools t JOIN mcp_servers s USING (server_id)
             WHERE t.drifted_at IS NOT NULL AND s.state = 'approved' AND (s.expires_at IS NULL OR s.expires_at > ${now})
               AND octet_length(t.tool_name) <= ${nameBytesMax}) AS drifted
     WHERE (key, tool_name) > (${server}, ${tool}) AND (tenant_id IS NULL OR nth <= ${driftsPerServerMax})
     ORDER BY key, tool_name LIMIT ${page.limit + 1}`;
  return pageOf(DriftedRows.parse(found), page.limit, { item: driftView, key: placeOf });
}

function startOf(page: PageRequest): { server: string; tool: string } {
  const start = pageStart(page, /^(?:[A-Za-z0-9._:-]+\/)?[a-z0-9_-]+\.[^\0]+$/) ?? '';
  // The tenant before the slash may contain dots. The first dot after it ends the key of the server.
  const [, server = '', tool = ''] = /^((?:[A-Za-z0-9._:-]+\/)?[a-z0-9_-]*)\.?([^]*)$/.exec(start) ?? [];
  return { server, tool };
}

const Definition = RegisteredTool.shape.definition;
const Row = z.object({
  key: z.string(),
  server_id: z.string(),
  tool_name: z.string(),
  state: RegisteredTool.shape.server_state,
  effect_level: EffectLevel,
  is_destructive: z.boolean(),
  pinned_hash: Digest.nullable(),
  current_hash: Digest,
  definition: Definition,
  observed_definition: Definition,
});
type Row = z.infer<typeof Row>;
const Rows = z.array(Row);

const DriftedRow = Row.pick({ key: true, server_id: true, tool_name: true, current_hash: true }).extend({
  tenant_id: TenantId.nullable(),
  pinned_hash: Digest,
  drifted_at: z.date(),
});
const DriftedRows = z.array(DriftedRow);

type Named = { server_id: string; tool_name: string };
const addressOf = ({ server_id: serverId, tool_name: toolName }: Named): ToolAddress => ({ serverId, toolName });
const nameOf = (named: Named) => toolAddress(addressOf(named));

const placeOf = ({ key, tool_name: tool }: Pick<Row, 'key' | 'tool_name'>) => `${key}.${tool}`;

function driftView(row: z.infer<typeof DriftedRow>): DriftedTool {
  const { server_id, tenant_id, pinned_hash, current_hash, drifted_at } = row;
  return {
    ...{ tool: nameOf(row), server_id, tenant_id, pinned_hash },
    observed_hash: current_hash,
    drifted_at: Instant.parse(drifted_at.toISOString()),
  };
}

function toolView(row: Row, blocked: ToolBlocksRow | null, effectOf: EffectOf): RegisteredTool {
  const { server_id, state, effect_level, pinned_hash, current_hash, definition, observed_definition } = row;
  const pin = pinOf(row);
  const tool = nameOf(row);
  return {
    ...{ tool, server_id, server_state: state, pin },
    annotated_effect: effect_level,
    effect_level: effectOf(addressOf(row), pinnedOf(row)),
    ...{ pinned_hash, observed_hash: current_hash, definition },
    observed_definition: pin === 'drifted' ? observed_definition : null,
    blocked: blocked !== null && holdsOneOf(blocked, [tool]),
  };
}

function pinnedOf({
  pinned_hash: pinnedHash,
  effect_level: effectLevel,
  is_destructive: destructiveHint,
}: Row): Pinned {
  return { pinnedHash, effectLevel, definition: { annotations: { destructiveHint } } };
}

function pinOf({ pinned_hash: pinned, current_hash: current }: Row): RegisteredTool['pin'] {
  if (pinned === null) return 'unpinned';
  return pinned === current ? 'in_sync' : 'drifted';
}
