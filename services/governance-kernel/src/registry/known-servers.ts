import type { TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { mcpServers, type McpServerRow } from './mcp-servers.ts';

type ResolvedCall = {
  call: { caller: { tenant: TenantId } };
  intent: { tool: string | null };
  servers: string | null;
};

export function wantedServers({ call: { caller }, intent, servers }: ResolvedCall): Wanted[] {
  if (servers === null || intent.tool === null) return [];
  return [wanted(mcpServers, caller.tenant), wanted(mcpServers, '')];
}

/**
 * Whether the servers of the batch are those under which the tool was resolved. `true` for a call without a tool, and
 * for a resolver without versions.
 */
export function knowsServers(batch: LedgerBatch, { call: { caller }, intent, servers }: ResolvedCall): boolean {
  if (servers === null || intent.tool === null) return true;
  return servers === versionOfServers([...batch.rows(mcpServers, caller.tenant), ...batch.rows(mcpServers, '')]);
}

/** Identifies the state in which a tool is resolved: the servers, their configurations, decisions, pins and grants. */
export function versionOfServers(rows: readonly McpServerRow[]): string {
  return rows.map(lineOf).sort().join('\n');
}

/** The line of each row in the version. A changed row is a new object, so a cached line is never stale. */
const lines = new WeakMap<McpServerRow, string>();

function lineOf(row: McpServerRow): string {
  const existing = lines.get(row);
  if (existing !== undefined) return existing;
  const line = [row.key, row.configHash, row.state, row.approvalReceiptId, row.expiresAtMs, row.updatedAtMs].join(' ');
  lines.set(row, line);
  return line;
}
