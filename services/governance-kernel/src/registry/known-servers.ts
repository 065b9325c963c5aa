import type { TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { mcpServers, type McpServerRow } from './mcp-servers.ts';

/** The servers of the tenant or of the installation changed after the tool was resolved. */
export type ServersChanged = { kind: 'servers_changed' };

type ResolvedCall = {
  call: { caller: { tenant: TenantId } };
  intent: { tool: string | null };
  servers: string | null;
};

export function wantedServers({ call: { caller }, intent, servers }: ResolvedCall): Wanted[] {
  if (servers === null || intent.tool === null) return [];
  return [wanted(mcpServers, caller.tenant), wanted(mcpServers, '')];
}

/** Whether the tool was resolved among the servers that the batch has. A call that names no tool is of no server. */
export function knowsServers(batch: LedgerBatch, { call: { caller }, intent, servers }: ResolvedCall): boolean {
  if (servers === null || intent.tool === null) return true;
  return servers === versionOfServers([...batch.rows(mcpServers, caller.tenant), ...batch.rows(mcpServers, '')]);
}

/** Names what a tool is resolved by: the servers, their configurations, what was decided about each, under which pins and which grant. */
export function versionOfServers(rows: readonly McpServerRow[]): string {
  return rows.map(lineOf).sort().join('\n');
}

/** A row is replaced when it changes. */
const lines = new WeakMap<McpServerRow, string>();

function lineOf(row: McpServerRow): string {
  const known = lines.get(row);
  if (known !== undefined) return known;
  const line = [row.key, row.configHash, row.state, row.approvalReceiptId, row.expiresAtMs, row.updatedAtMs].join(' ');
  lines.set(row, line);
  return line;
}
